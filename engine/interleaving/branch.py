"""A store that writes on top of another one and leaves that as it is.

A branch costs nothing to make, so that every schedule of a race starts from the very same table,
whether that is in memory or in a directory on disk.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from engine.errors import InvariantViolated
from engine.storage.memory import MemoryStore, Store
from engine.storage.requests import (
    Body,
    Get,
    ListFrom,
    Listing,
    PutIfAbsent,
    PutResult,
    ReadRows,
    Request,
    Response,
    Row,
    RowsOf,
    WriteRows,
)


class Branch:
    """What was written since, over an unchanged `base`; clock and ids are the branch's own."""

    def __init__(self, base: Store) -> None:
        self._base = base
        self._own = MemoryStore()
        self._written: set[str] = set()

    def answer(self, request: Request) -> Response:
        """Perform one request; only reads reach the base."""
        match request:
            case ListFrom():
                return self._list(request)
            case Get(key):
                return self._get(key)
            case PutIfAbsent(key):
                exists = isinstance(self._get(key), Body)
                return PutResult.ALREADY_EXISTS if exists else self._own.answer(request)
            case ReadRows(keys):
                return RowsOf(tuple(self._rows(request, at) for at in range(len(keys))))
            case WriteRows(key):
                self._written.add(key)
        return self._own.answer(request)

    def _list(self, request: ListFrom) -> Listing:
        below = self._base.answer(request)
        above = self._own.list_from(request.start)
        if not isinstance(below, Listing):
            raise InvariantViolated(f"{below} is no answer to {request}")
        entries = {entry.key: entry for entry in (*below.entries, *above.entries)}
        return Listing(tuple(entries[key] for key in sorted(entries)))

    def _get(self, key: str) -> Response:
        own = self._own.answer(Get(key))
        return own if isinstance(own, Body) else self._base.answer(Get(key))

    def _rows(self, request: ReadRows, at: int) -> Sequence[Row]:
        one = dataclasses.replace(
            request,
            keys=request.keys[at : at + 1],
            partition_values=request.partition_values[at : at + 1],
        )
        store: Store = self._own if one.keys[0] in self._written else self._base
        answer = store.answer(one)
        if not isinstance(answer, RowsOf):
            raise InvariantViolated(f"{answer} is no answer to {one}")
        return answer.rows[0]
