"""Log lines and the structs they become."""

import msgspec

from whitecap.engine.log.actions import AddFile


def test_an_added_file_keeps_deltas_field_names() -> None:
    line = (
        b'{"path":"a","partitionValues":{"x":"1"},"size":1,"modificationTime":2,"dataChange":true}'
    )
    assert msgspec.json.encode(msgspec.json.decode(line, type=AddFile)) == line
