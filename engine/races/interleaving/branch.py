"""A store that writes on top of another one and leaves that as it is.

A branch costs nothing to make, so that every schedule of a race starts from the very same table,
whether that is in memory or in a directory on disk. Its clock moves with each commit and at no
other time: what someone stages in the meantime is no concern of others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from whitecap.engine.errors import InvariantViolated
from whitecap.engine.storage.memory import FIRST_INSTANT_MS, MemoryStore, Store
from whitecap.engine.storage.requests import (
    Body,
    Delete,
    Get,
    Gone,
    ListFrom,
    Listing,
    ListTree,
    Missing,
    Put,
    PutIfAbsent,
    PutResult,
    ReadRows,
    Request,
    Response,
    Row,
    RowsOf,
    WriteRows,
)


class _Clock(Struct):
    """What the objects of a branch are dated by; the branch moves it on."""

    now_ms: int

    def __call__(self) -> int:
        return self.now_ms


class Branch:
    """What was written since, over an unchanged `base`; clock and ids are the branch's own.

    The clock goes on where that of a branch below stands, and begins at `begins_ms` over any other
    store.
    """

    def __init__(self, base: Store, begins_ms: int = FIRST_INSTANT_MS) -> None:
        self._base = base
        below_ms: int = base._clock.now_ms if isinstance(base, Branch) else begins_ms
        self._clock: _Clock = _Clock(below_ms)
        self._own = MemoryStore(self._clock)
        self._written: set[str] = set()
        self._deleted: set[str] = set()

    def copy(self) -> Branch:
        """The same objects, for a history of its own."""
        other = Branch(self._base)
        other._clock.now_ms = self._clock.now_ms
        other._own = self._own.copy(other._clock)
        other._written, other._deleted = set(self._written), set(self._deleted)
        return other

    def answer(self, request: Request) -> Response:
        """Perform one request; only reads reach the base."""
        own = _ANSWERS.get(type(request))
        return self._own.answer(request) if own is None else own(self, request)

    def _delete(self, request: Delete) -> None:
        self._deleted.update(request.keys)
        self._own.answer(request)

    def _read(self, request: ReadRows) -> Response:
        gone = next((key for key in request.keys if key in self._deleted), None)
        if gone is not None:
            return Gone(gone)
        rows: list[Sequence[Row]] = []
        for at in range(len(request.keys)):
            answer = self._read_file(request, at)
            if isinstance(answer, Gone):
                return answer
            rows += answer.rows
        return RowsOf(tuple(rows))

    def _write(self, request: WriteRows | Put) -> Response:
        self._written.add(request.key)
        self._deleted.discard(request.key)
        return self._own.answer(request)

    def holds(self, key: str) -> bool:
        """Whether there is an object at this key."""
        return isinstance(self._get(Get(key)), Body)

    def _put_if_absent(self, request: PutIfAbsent) -> PutResult:
        if self.holds(request.key):
            return PutResult.ALREADY_EXISTS
        self._clock.now_ms += 1
        self._deleted.discard(request.key)
        self._own.put(request.key, request.body)
        return PutResult.CREATED

    def _list(self, request: ListFrom | ListTree) -> Listing:
        below, above = self._base.answer(request), self._own.answer(request)
        if not isinstance(below, Listing) or not isinstance(above, Listing):
            raise InvariantViolated(f"{below} is no answer to {request}")
        entries = {entry.key: entry for entry in (*below.entries, *above.entries)}
        left = (key for key in sorted(entries) if key not in self._deleted)
        return Listing(tuple(entries[key] for key in left))

    def _get(self, request: Get) -> Response:
        if request.key in self._deleted:
            return Missing()
        own = self._own.answer(request)
        return own if isinstance(own, Body) else self._base.answer(request)

    def _read_file(self, request: ReadRows, at: int) -> RowsOf | Gone:
        file_request = replace(
            request,
            keys=request.keys[at : at + 1],
            partition_values=request.partition_values[at : at + 1],
        )
        store: Store = self._own if file_request.keys[0] in self._written else self._base
        answer = store.answer(file_request)
        if not isinstance(answer, RowsOf | Gone):
            raise InvariantViolated(f"{answer} is no answer to {file_request}")
        return answer


_ANSWERS: dict[type[Any], Callable[[Branch, Any], Response]] = {
    ListFrom: Branch._list,
    ListTree: Branch._list,
    Delete: Branch._delete,
    Get: Branch._get,
    PutIfAbsent: Branch._put_if_absent,
    ReadRows: Branch._read,
    WriteRows: Branch._write,
    Put: Branch._write,
}
