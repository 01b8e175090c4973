"""A directory as the bucket of an object store: whole objects, and one winner for each key.

What lies in it is a table like any other, which oracles and readers open where it is. An object
appears at once and whole, by a link or a rename of a file that was written elsewhere.
"""

from __future__ import annotations

import os
import threading
from collections import defaultdict
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

from msgspec import Struct, field

ARRIVING = ".arriving"
"""Below it lie objects that are not whole yet; no key is there."""


class Object(Struct, frozen=True):
    """What a listing says of an object; `modified_s` are seconds of the epoch."""

    key: str
    size: int
    modified_s: float


class Bucket(Struct):
    """Objects by key. With `is_exclusive`, a put-if-absent has effect only where nothing is."""

    root: Path
    is_exclusive: bool = True
    _locks: dict[str, Any] = field(default_factory=lambda: defaultdict(threading.Lock))
    _numbers: Iterator[int] = field(default_factory=count)

    def put(self, key: str, body: bytes, *, if_absent: bool = False) -> bool:
        """Put an object; `if_absent`: only if there is none. Returns whether that had effect."""
        whole = self.root / ARRIVING / str(next(self._numbers))
        whole.parent.mkdir(parents=True, exist_ok=True)
        whole.write_bytes(body)
        place = self.root / key
        place.parent.mkdir(parents=True, exist_ok=True)
        with self._locks[key]:
            if if_absent and self.is_exclusive and place.exists():
                whole.unlink()
                return False
            os.replace(whole, place)
        return True

    def get(self, key: str) -> bytes | None:
        """The whole object, `None` if there is none."""
        try:
            return (self.root / key).read_bytes()
        except (FileNotFoundError, IsADirectoryError):
            return None

    def delete(self, key: str) -> None:
        """Remove an object, if it is there."""
        (self.root / key).unlink(missing_ok=True)

    def objects(self, prefix: str) -> list[Object]:
        """All objects whose keys begin with a prefix, sorted by the bytes of their keys."""
        folder = self.root / prefix.rpartition("/")[0]
        paths = [path for path in folder.rglob("*") if path.is_file()]
        keyed = {path.relative_to(self.root).as_posix(): path for path in paths}
        return [
            Object(key, path.stat().st_size, path.stat().st_mtime)
            for key, path in sorted(keyed.items(), key=lambda item: item[0].encode())
            if key.startswith(prefix) and not key.startswith(ARRIVING)
        ]
