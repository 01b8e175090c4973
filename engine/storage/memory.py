"""A store in memory, and the loop that drives a transaction against any store that answers at once.

Deterministic: the clock and the ids are given, not taken from the machine.
"""

from __future__ import annotations

import uuid
from bisect import bisect_left, insort
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import count
from typing import Any, Protocol, TypeVar

from msgspec import Struct

from whitecap.engine.storage.columns import in_columns
from whitecap.engine.storage.paths import directory_of
from whitecap.engine.storage.requests import (
    Body,
    Compute,
    Delete,
    Entry,
    Get,
    Gone,
    ListFrom,
    Listing,
    ListTree,
    Missing,
    NewId,
    Put,
    PutIfAbsent,
    PutResult,
    ReadClock,
    ReadRows,
    Request,
    Response,
    Row,
    RowsOf,
    Steps,
    WriteRows,
    Written,
)

T = TypeVar("T")

FIRST_INSTANT_MS = 1_700_000_000_000
"""Where the clock of a fresh memory store stands: some instant of 2023, the same in every run."""

_FILE_OVERHEAD_BYTES = 500
"""What a small Parquet file of few columns has besides the text of its values, roughly: a footer.

A data file in memory has no bytes, and only the order of magnitude of its size matters. What runs
are told of the sizes of files is the simulated store's own estimate.
"""


class Store(Protocol):
    """What answers requests at once."""

    def answer(self, request: Request) -> Response:
        """Perform one request."""
        ...


def run(steps: Steps[T], store: Store) -> T:
    """Drive `steps` to their end, answering each request from `store`."""
    answer = store.answer
    try:
        request = next(steps)
        while True:
            request = steps.send(answer(request))
    except StopIteration as end:
        result: T = end.value
        return result


def counting_clock(first_ms: int = FIRST_INSTANT_MS) -> Callable[[], int]:
    """A clock that moves by a millisecond each time it is read."""
    return partial(next, count(first_ms))


def counting_ids(first: int = 0) -> Iterator[str]:
    """Ids that look like UUIDs and count upwards."""
    return (str(uuid.UUID(int=number)) for number in count(first))


class _DataFile(Struct, frozen=True):
    """A data file's rows with their columns, and what a listing says of it."""

    columns: tuple[str, ...]
    rows: Sequence[Row]
    entry: Entry

    def under(self, wanted: tuple[str, ...]) -> Sequence[Row]:
        return in_columns(self.rows, self.columns, wanted) if self.columns else self.rows


class MemoryStore:
    """Objects and data files in dictionaries; `clock` and `ids` answer `ReadClock` and `NewId`."""

    def __init__(
        self, clock: Callable[[], int] | None = None, ids: Iterator[str] | None = None
    ) -> None:
        self._clock = clock or counting_clock()
        self._ids = ids or counting_ids()
        self._objects: dict[str, tuple[bytes, int]] = {}
        self._directories: dict[str, list[str]] = {}
        self._rows: dict[str, _DataFile] = {}

    def copy(self, clock: Callable[[], int], ids: Iterator[str] | None = None) -> MemoryStore:
        """The same objects and data files, for a history of its own; ids begin anew by default."""
        other = MemoryStore(clock, ids)
        other._objects, other._rows = dict(self._objects), dict(self._rows)
        other._directories = {name: list(keys) for name, keys in self._directories.items()}
        return other

    def answer(self, request: Request) -> Response:
        """Perform one request."""
        return _ANSWERS[type(request)](self, request)

    def _get(self, request: Get) -> Body | Missing:
        stored = self._objects.get(request.key)
        return Missing() if stored is None else Body(stored[0])

    def _put(self, request: Put) -> PutResult:
        self.put(request.key, request.body)
        return PutResult.CREATED

    def _write(self, request: WriteRows) -> Written:
        return Written(self.put_rows(request.key, request.rows, request.columns))

    def _delete(self, request: Delete) -> None:
        for key in request.keys:
            self._forget(key)

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys of all objects, ordered; data files are not objects here."""
        return tuple(sorted(self._objects))

    def body(self, key: str) -> bytes:
        """An object's content. Raises `KeyError`."""
        return self._objects[key][0]

    def put(self, key: str, body: bytes) -> None:
        """Write an object, as of the clock's next instant."""
        if key not in self._objects:
            insort(self._directories.setdefault(directory_of(key), []), key)
        self._objects[key] = (body, self._clock())

    def delete(self, key: str) -> None:
        """Remove an object. Raises `KeyError`."""
        del self._objects[key]
        self._directories[directory_of(key)].remove(key)

    def put_rows(self, key: str, rows: Sequence[Row], columns: tuple[str, ...]) -> int:
        """Write a data file; returns its size in bytes."""
        size = _FILE_OVERHEAD_BYTES + sum(_text_size(value) for row in rows for value in row)
        self._rows[key] = _DataFile(columns, rows, Entry(key, size, self._clock()))
        return size

    def _read(self, request: ReadRows) -> RowsOf | Gone:
        missing = next((key for key in request.keys if key not in self._rows), None)
        if missing is not None:
            return Gone(missing)
        return RowsOf(tuple(self._rows[key].under(request.columns) for key in request.keys))

    def _tree(self, request: ListTree) -> Listing:
        objects = (self._entry(key) for key in self._objects)
        entries = [*objects, *(file.entry for file in self._rows.values())]
        in_tree = (entry for entry in entries if entry.key.startswith(request.below))
        return Listing(tuple(sorted(in_tree, key=lambda entry: entry.key)))

    def _forget(self, key: str) -> None:
        self._rows.pop(key, None)
        if key in self._objects:
            self.delete(key)

    def list_from(self, start: str) -> Listing:
        """The objects of `start`'s directory from `start` on."""
        keys = self._directories.get(directory_of(start), [])
        listed = keys[bisect_left(keys, start) :]
        return Listing(tuple(self._entry(key) for key in listed))

    def _entry(self, key: str) -> Entry:
        body, modified_at_ms = self._objects[key]
        return Entry(key, len(body), modified_at_ms)

    def _put_if_absent(self, request: PutIfAbsent) -> PutResult:
        if request.key in self._objects:
            return PutResult.ALREADY_EXISTS
        self.put(request.key, request.body)
        return PutResult.CREATED

    def _read_clock(self, _request: ReadClock) -> int:
        return self._clock()

    def _new_id(self, _request: NewId) -> str:
        return next(self._ids)

    def _compute(self, _request: Compute) -> None:
        """Computing takes no time here."""

    def _list(self, request: ListFrom) -> Listing:
        return self.list_from(request.start)


# Looked up rather than matched: every step of every transaction comes through here.
_ANSWERS: dict[type[Any], Callable[[MemoryStore, Any], Response]] = {
    ListFrom: MemoryStore._list,
    ListTree: MemoryStore._tree,
    Delete: MemoryStore._delete,
    Get: MemoryStore._get,
    PutIfAbsent: MemoryStore._put_if_absent,
    Put: MemoryStore._put,
    ReadRows: MemoryStore._read,
    WriteRows: MemoryStore._write,
    ReadClock: MemoryStore._read_clock,
    NewId: MemoryStore._new_id,
    Compute: MemoryStore._compute,
}


def _text_size(value: Any) -> int:
    return len(str(value))
