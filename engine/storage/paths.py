"""Paths of data files: as the log writes them, as the store names them, and where new ones go.

A path in the log is a URI reference, so it is percent-encoded; a storage key is plain text.
Source: PROTOCOL.md "Add File and Remove File"; Spark's ExternalCatalogUtils `escapePathName`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from urllib.parse import quote, unquote

NULL_PARTITION = "__HIVE_DEFAULT_PARTITION__"
"""What stands for a null in a directory name; such a text is NULL.

Source: Hive's DEFAULTPARTITIONNAME; ExternalCatalogUtils.scala.
"""

# Characters that Hive escapes in a directory name. Source: ExternalCatalogUtils.charToEscape.
_HIVE_ESCAPED = frozenset("\"#%'*/:=?\\\x7f{[]^") | {chr(code) for code in range(1, 0x20)}
# ASCII characters that may stand in the path of a URI unescaped. Source: RFC 3986 section 3.3.
_URI_SAFE = "/!$&'()*+,;=:@-._~"
_PLAIN_KEY = re.compile(r"[A-Za-z0-9/=._-]*")
"""Keys in which nothing is escaped: nearly all."""


def data_key(path: str) -> str:
    """The storage key of a path in the log."""
    return unquote(path)


def log_path(key: str) -> str:
    """The path in the log of a storage key; as in java.net.URI, other letters stay themselves."""
    if _PLAIN_KEY.fullmatch(key):
        return key
    if key.isascii():
        path = quote(key, safe=_URI_SAFE)
        return key if path == key else path  # one text for both takes half the memory
    return "".join(c if _is_plain(c) else quote(c, safe=_URI_SAFE) for c in key)


def directory_of(key: str) -> str:
    """The directory of a storage key, empty at the top."""
    return key.rpartition("/")[0]


def is_absolute(path: str) -> bool:
    """Whether a path names a file by itself, not below the table's directory: `/x` or `s3://x`."""
    return path.startswith("/") or ":/" in path


def _is_plain(character: str) -> bool:
    return not character.isascii() and character.isprintable()


def partition_directory(values: Mapping[str, str | None]) -> str:
    """The storage directory of a partition, `x=1/y=a/`; empty for an unpartitioned table."""
    return _directory(tuple(values.items()))


@lru_cache(maxsize=1024)
def _directory(values: tuple[tuple[str, str | None], ...]) -> str:
    return "".join(f"{_escaped(name)}={_value(text)}/" for name, text in values)


def _value(text: str | None) -> str:
    return _escaped(text) if text else NULL_PARTITION


def _escaped(text: str) -> str:
    if _HIVE_ESCAPED.isdisjoint(text):
        return text
    return "".join(f"%{ord(c):02X}" if c in _HIVE_ESCAPED else c for c in text)
