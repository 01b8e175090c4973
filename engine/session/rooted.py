"""Steps on one table in a store of several: their storage keys are put below the table's root."""

from __future__ import annotations

from typing import Any, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from whitecap.engine.storage.paths import is_absolute
from whitecap.engine.storage.requests import (
    Delete,
    Entry,
    Get,
    ListFrom,
    Listing,
    ListTree,
    Put,
    PutIfAbsent,
    ReadRows,
    Request,
    Steps,
    WriteRows,
)

T = TypeVar("T")


def rooted(steps: Steps[T], root: str, location: str) -> Steps[T]:
    """Steps whose storage keys are put below `root`; listings are shown without it.

    Absolute keys are those of the store at `location`.
    """
    place = _Place(root, location + "/")
    try:
        request = next(steps)
        while True:
            answer = yield place.below(request)
            request = steps.send(place.above(answer))
    except StopIteration as end:
        result: T = end.value
        return result


class _Place(Struct, frozen=True):
    """Where a table is in its store."""

    root: str
    location: str

    def below(self, request: Request) -> Request:
        match request:
            case ListFrom(start):
                return ListFrom(self.root + start)
            case ListTree(below):
                return ListTree(self.root + below)
            case Delete(keys):
                return Delete(tuple(self._key(key) for key in keys))
            case ReadRows(keys):
                return replace(request, keys=tuple(self._key(key) for key in keys))
            case Get() | Put() | PutIfAbsent() | WriteRows():
                return replace(request, key=self._key(request.key))
        return request

    def _key(self, key: str) -> str:
        if is_absolute(key):
            return key.removeprefix(self.location)
        return self.root + key

    def above(self, answer: Any) -> Any:
        if not isinstance(answer, Listing):
            return answer
        return Listing(
            tuple(
                Entry(entry.key.removeprefix(self.root), entry.size_bytes, entry.modified_at_ms)
                for entry in answer.entries
            )
        )
