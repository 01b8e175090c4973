"""Asks a store until it has answered often enough, or the time is up; leaves nothing behind.

Three parts: every kind of request by one client alone, objects of several sizes, and clients that
create the next key of one log, each going on behind the newest.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial

from msgspec import Struct, field

from whitecap.engine.errors import InvalidInput, Problem
from whitecap.sim.calibration.samples import (
    ALREADY_EXISTS,
    CREATED,
    DONE,
    REFUSED,
    Sample,
    StoreOperation,
)
from whitecap.sim.calibration.target import CalibrationTarget, Refused

_Progress = Callable[[int, int, str], None]
"""Is told how many samples there are, of how many, and what is measured."""

SMALL_BYTES = 4096
"""A commit file is a few KiB, and up to 16 KiB latencies do not depend on size."""

SHARES = {"requests": 0.4, "sizes": 0.6, "clients": 1.0}
"""By which share of the time each part of the measurement has to be done."""


TELLS_EVERY_S = 0.2
"""How often progress is reported while requests are under way."""


class MeasuringPlan(Struct, frozen=True):
    """How much is measured: `count` requests of each kind and number of `clients`, `sizes` in
    bytes, at most for so many `seconds`."""

    count: int = 200
    sizes: tuple[int, ...] = (1 << 16, 1 << 20, 1 << 22)
    clients: tuple[int, ...] = (1, 2, 4)
    seconds: float = 120.0

    @property
    def per_size(self) -> int:
        """Large objects take longer, and a line needs few points."""
        return max(5, self.count // 10)


def measure(target: CalibrationTarget, plan: MeasuringPlan, progress: _Progress) -> list[Sample]:
    """Samples of a store; whatever was written is removed, also when somebody interrupts.

    Raises `InvalidInput` when the store fails otherwise than by refusing.
    """
    run = _Measuring(target, plan, progress)
    try:
        run.requests()
        run.sizes()
        run.contention()
    except (KeyboardInterrupt, InvalidInput):
        raise
    except Exception as error:
        said = f"stopped answering: {error or type(error).__name__}"
        raise InvalidInput([Problem(target.place, said)]) from error
    finally:
        _clear(target, run.folder)
    return run.samples


def _clear(target: CalibrationTarget, folder: str) -> None:
    try:
        target.clear(folder)
    except Exception as error:
        said = f"{folder} was written there and could not be removed: {error}"
        raise InvalidInput([Problem(target.place, said)]) from error


class _Contest(Struct):
    """Clients that create the next key of one log, until there are so many or the time is up."""

    log: str
    clients: int
    body: bytes
    until_s: float
    most: int
    created: list[int] = field(default_factory=lambda: [-1])
    failed: list[Exception] = field(default_factory=list)
    ended: threading.Event = field(default_factory=threading.Event)

    @property
    def goes_on(self) -> bool:
        """Whether anybody should go on."""
        in_time = time.monotonic() < self.until_s
        return in_time and len(self.created) <= self.most and not self.ended.is_set()


class _Measuring(Struct):
    target: CalibrationTarget
    plan: MeasuringPlan
    progress: _Progress
    samples: list[Sample] = field(default_factory=list)
    folder: str = field(default_factory=lambda: f"whitecap-calibrate-{os.urandom(6).hex()}")
    began_s: float = field(default_factory=time.monotonic)

    def requests(self) -> None:
        """Every kind of request by turns, so that a slow minute does not hit one kind alone."""
        body, at = os.urandom(SMALL_BYTES), f"{self.folder}/one"
        self._warms_up(self.target, at)
        for n in self._turns("requests", self.plan.count):
            self._asks_all(f"{at}/{n:06d}", body)

    def _asks_all(self, key: str, body: bytes) -> None:
        store, kinds, size = self.target, self.target.kinds, len(body)
        self._creates(store, f"{key}.json", body)
        self._creates(store, f"{key}.json", body)
        self._times(StoreOperation.PUT, size, lambda: store.put(f"{key}.put", body))
        self._times(StoreOperation.HEAD, 0, lambda: store.head(f"{key}.put"))
        self._times(StoreOperation.GET, size, lambda: store.get(f"{key}.put"))
        if StoreOperation.COPY in kinds:
            self._times(StoreOperation.COPY, size, lambda: store.copy(f"{key}.put", f"{key}.copy"))
        if StoreOperation.RENAME in kinds:
            self._times(
                StoreOperation.RENAME, size, lambda: store.rename(f"{key}.put", f"{key}.copy")
            )
        self._lists(key.rpartition("/")[0])
        self._times(StoreOperation.DELETE, 0, lambda: store.delete(f"{key}.copy"))

    def sizes(self) -> None:
        """Larger objects, of which latencies grow by the MiB."""
        store, key = self.target, f"{self.folder}/size"
        bodies = [os.urandom(size) for size in self.plan.sizes]
        for n in self._turns("sizes", self.plan.per_size):
            for body in bodies:
                self._times(StoreOperation.PUT, len(body), partial(store.put, f"{key}/{n}", body))
                self._times(StoreOperation.GET, len(body), partial(store.get, f"{key}/{n}"))

    def contention(self) -> None:
        """Let several clients compete at a time, each in a thread with a connection of its own."""
        body, began_s = os.urandom(SMALL_BYTES), time.monotonic()
        left_s = max(1.0, self.plan.seconds - (began_s - self.began_s))
        for position, clients in enumerate(self.plan.clients, start=1):
            until_s = began_s + left_s * position / len(self.plan.clients)
            self._competing(clients, until_s, body)

    def _competing(self, clients: int, until_s: float, body: bytes) -> None:
        contest = _Contest(f"{self.folder}/log-{clients}", clients, body, until_s, self.plan.count)
        what = f"{clients} clients" if clients > 1 else "1 client"
        stores = [self.target.another() for _ in range(clients)]
        for store in stores:
            self._warms_up(store, contest.log)
        threads = [
            threading.Thread(target=self._commits, args=(store, contest), daemon=True)
            for store in stores
        ]
        for thread in threads:
            thread.start()
        try:
            self._tells(what)
            while busy := [thread for thread in threads if thread.is_alive()]:
                busy[0].join(TELLS_EVERY_S)
                self._tells(what)
        finally:
            contest.ended.set()
            for thread in threads:
                thread.join()
        if contest.failed:
            raise contest.failed[0]

    def _commits(self, store: CalibrationTarget, contest: _Contest) -> None:
        """Create the key behind the newest that anybody knows of.

        Clients tell each other at once what they created, so that puts alone take time.
        """
        newest = -1
        try:
            while contest.goes_on:
                newest = max(newest, contest.created[-1])
                key = f"{contest.log}/{newest + 1:020d}.json"
                outcome = self._creates(store, key, contest.body, contest.clients)
                if outcome == CREATED:
                    contest.created.append(newest + 1)
                newest += outcome != REFUSED
        except Exception as error:
            contest.failed.append(error)
            contest.ended.set()

    def _turns(self, part: str, count: int) -> Iterator[int]:
        until_s = self.began_s + SHARES[part] * self.plan.seconds
        for n in range(count):
            if time.monotonic() > until_s:
                return
            yield n
            self._tells(part)

    def _tells(self, what: str) -> None:
        alone = self.plan.count * (len(self.target.kinds) + 1)
        sized = self.plan.per_size * len(self.plan.sizes) * 2
        total = alone + sized + self.plan.count * sum(self.plan.clients)
        self.progress(min(len(self.samples), total), total, what)

    def _warms_up(self, store: CalibrationTarget, folder: str) -> None:
        """The first request makes the connection, which is no part of later ones."""
        with suppress(Refused):
            store.put(f"{folder}/warm-up", b"")
            store.delete(f"{folder}/warm-up")

    def _creates(self, store: CalibrationTarget, key: str, body: bytes, clients: int = 1) -> str:
        began_s = time.perf_counter()
        try:
            outcome = CREATED if store.put_if_absent(key, body) else ALREADY_EXISTS
        except Refused:
            outcome = REFUSED
        self._notes(StoreOperation.PUT_IF_ABSENT, len(body), began_s, outcome, clients)
        return outcome

    def _times(self, operation: StoreOperation, size: int, request: Callable[[], object]) -> None:
        began_s = time.perf_counter()
        try:
            request()
        except Refused:
            self._notes(operation, size, began_s, REFUSED)
        else:
            self._notes(operation, size, began_s, DONE)

    def _lists(self, folder: str) -> None:
        began_s = time.perf_counter()
        try:
            keys = len(self.target.list(folder))
        except Refused:
            self._notes(StoreOperation.LIST, 0, began_s, REFUSED)
        else:
            self._notes(StoreOperation.LIST, keys, began_s, DONE)

    def _notes(
        self, operation: StoreOperation, size: int, began_s: float, outcome: str, clients: int = 1
    ) -> None:
        took_ms = (time.perf_counter() - began_s) * 1000
        self.samples.append(Sample(operation, size, took_ms, clients, outcome))
