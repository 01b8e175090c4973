"""A driver that answers from the store at once: no time passes, and nothing befalls a request."""

from __future__ import annotations

from collections.abc import Iterator

from whitecap.engine.storage.memory import counting_clock
from whitecap.engine.storage.requests import (
    Compute,
    Delete,
    Get,
    ListFrom,
    ListTree,
    NewId,
    Put,
    PutIfAbsent,
    ReadClock,
    ReadRows,
    Request,
    Response,
    WriteRows,
    Written,
)
from whitecap.sim.quantities.start import DEFAULT_START_MS
from whitecap.sim.store.contents.objects import FakeStore


class AtOnce:
    """Answers a statement's requests from a fake store without any time passing."""

    def __init__(self, store: FakeStore, ids: Iterator[str]) -> None:
        self.store = store
        self._clock = counting_clock(DEFAULT_START_MS)
        self._ids = ids

    def answer(self, request: Request) -> Response:
        """What is asked for, now. Requests for another driver are a bug of ours."""
        match request:
            case ReadClock():
                return self._clock()
            case NewId():
                return next(self._ids)
            case Compute():
                return None
            case ReadRows():
                return self.store.read_rows(request)
            case ListTree(below):
                return self.store.list_tree(below)
            case Delete(keys):
                self.store.delete(keys)
                return None
            case WriteRows():
                return Written(self.store.write_rows(request))
            case Get() | ListFrom() | Put() | PutIfAbsent():
                return self.store.answer(request)
        raise AssertionError(f"{request} is for another driver")
