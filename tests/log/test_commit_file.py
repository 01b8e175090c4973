"""Commit files: what is written is read back, and what cannot be read is placed."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whitecap.engine.errors import InvalidLog
from whitecap.engine.log.actions import (
    AddFile,
    AnyAction,
    CommitInfo,
    DeletionVector,
    DomainMetadata,
    Protocol,
    RemoveFile,
    SetTransaction,
)
from whitecap.engine.log.commit_file import decode_commit, encode_commit, log_key, version_of_key

ADD = AddFile(
    path="a.parquet",
    partition_values={"x": "1"},
    size=1,
    modification_time=2,
    data_change=True,
    deletion_vector=DeletionVector(
        storage_type="u", path_or_inline_dv="ab", offset=1, size_in_bytes=0, cardinality=0
    ),
)


def test_a_commit_is_read_back_as_it_was_written() -> None:
    actions = (CommitInfo(timestamp=5, operation="WRITE"), ADD, RemoveFile("b", True))
    assert decode_commit(encode_commit(actions), 3).actions == actions


def test_each_action_is_one_line_named_as_in_the_protocol() -> None:
    body = encode_commit([Protocol(1, 2)])
    assert body == b'{"protocol":{"minReaderVersion":1,"minWriterVersion":2}}\n'


def test_required_fields_are_written_even_when_zero() -> None:
    assert b'"sizeInBytes":0,"cardinality":0' in encode_commit([ADD])


def test_equal_actions_are_equal_bytes_whatever_the_order_of_their_dictionaries() -> None:
    first = AddFile(
        path="a", partition_values={"x": "1", "y": "2"}, size=1, modification_time=1,
        data_change=True,
    )  # fmt: skip
    second = AddFile(
        path="a", partition_values={"y": "2", "x": "1"}, size=1, modification_time=1,
        data_change=True,
    )  # fmt: skip
    assert encode_commit([first]) == encode_commit([second])


def test_unknown_actions_and_fields_are_ignored() -> None:
    body = b'{"checkpointMetadata":{"version":1}}\n{"txn":{"appId":"a","version":1,"new":[1]}}\n'
    commit = decode_commit(body, 0)
    assert [type(action).__name__ for action in commit.actions] == ["SetTransaction"]


def test_every_unreadable_line_is_reported_with_its_file_and_number() -> None:
    body = b'{"txn":{"appId":"a"}}\n{"add":\n{"txn":{"appId":"a","version":1}}\n'
    with pytest.raises(InvalidLog) as caught:
        decode_commit(body, 7)
    places = [problem.place for problem in caught.value.problems]
    assert places == [f"{log_key(7)}:1", f"{log_key(7)}:2"]


@pytest.mark.parametrize("text", ['"true"', "1", "null"])
def test_a_field_of_the_wrong_type_is_refused(text: str) -> None:
    with pytest.raises(InvalidLog):
        decode_commit(b'{"remove":{"path":"a","dataChange":%s}}' % text.encode(), 0)


def test_a_commit_info_of_another_writer_keeps_the_fields_that_fit() -> None:
    body = b'{"commitInfo":{"timestamp":"now","operation":"WRITE","operationMetrics":{"n":1}}}'
    info = decode_commit(body, 0).commit_info
    assert info == CommitInfo(operation="WRITE", operation_metrics={"n": 1})


def test_partition_values_may_be_null_or_absent() -> None:
    fields = b'"path":"a","size":1,"modificationTime":1,"dataChange":true'
    body = b'{"add":{"partitionValues":null,' + fields + b"}}"
    without = body.replace(b'"partitionValues":null,', b"")
    assert decode_commit(body, 0).adds == decode_commit(without, 0).adds
    assert decode_commit(body, 0).adds[0].partition_values is None


def test_only_twenty_digit_json_files_are_commits() -> None:
    assert version_of_key(log_key(12)) == 12
    assert version_of_key("_delta_log/1.json") is None
    assert version_of_key("_delta_log/00000000000000000010.checkpoint.parquet") is None


LONGS = st.integers(-(2**63), 2**63 - 1)
STRINGS = st.dictionaries(st.text(), st.none() | st.text(), max_size=3)
VECTORS = st.builds(DeletionVector, st.text(), st.text(), st.none() | LONGS, LONGS, LONGS)
ACTIONS = st.one_of(
    st.builds(
        AddFile,
        path=st.text(),
        partition_values=STRINGS,
        size=LONGS,
        modification_time=LONGS,
        data_change=st.booleans(),
        stats=st.none() | st.text(),
        tags=st.none() | STRINGS,
        deletion_vector=st.none() | VECTORS,
        base_row_id=st.none() | LONGS,
    ),
    st.builds(RemoveFile, st.text(), st.booleans(), st.none() | LONGS, st.none() | st.booleans()),
    st.builds(SetTransaction, st.text(), LONGS, st.none() | LONGS),
    st.builds(DomainMetadata, st.text(), st.text(), st.booleans()),
    st.builds(CommitInfo, operation=st.none() | st.text(), operation_parameters=STRINGS),
)


@given(st.lists(ACTIONS, max_size=5))
def test_any_actions_survive_the_file(actions: list[AnyAction]) -> None:
    body = encode_commit(actions)
    assert decode_commit(body, 0).actions == tuple(actions)
    assert encode_commit(decode_commit(body, 0).actions) == body


@given(st.binary() | st.lists(ACTIONS, min_size=1).map(encode_commit), st.data())
def test_any_bytes_are_a_commit_or_an_invalid_log(body: bytes, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(body)))
    damaged = body[:at] + data.draw(st.binary(max_size=3)) + body[at + 1 :]
    with suppress(InvalidLog):
        decode_commit(damaged, 0)
