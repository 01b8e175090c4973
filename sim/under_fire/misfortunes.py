"""What befalls real requests: the plans of a scenario's faults, at the same kind of addresses.

A request is known by who sends it (writer, job, the how manieth run of it), its kind and its number
among those of its kind. In what order a real client sends its requests follows from its code and
from real time, so that the same seed hits nearly the same requests and not exactly them.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import NamedTuple, Self

from msgspec import Struct, field

from whitecap.sim.scenario.arrivals import ZERO
from whitecap.sim.scenario.model import Scenario
from whitecap.sim.store.requests.faults import (
    UNHARMED,
    Crashes,
    Sending,
    Struck,
    WriterFaults,
    crashes_of,
    faults_of,
    missed_by,
)
from whitecap.sim.store.requests.kinds import RequestKind
from whitecap.sim.store.requests.latency import NO_LATENCY
from whitecap.sim.store.requests.tape import Tape, Tapes
from whitecap.sim.time.random_streams import RandomStreams


class JobRun(NamedTuple):
    """The sender of a request: a writer, its job from 0 on, and which run of that job."""

    writer: str
    job: int
    rerun: int

    @property
    def access_key(self) -> str:
        """The access key by which the store knows it."""
        return f"{self.writer}.{self.job}.{self.rerun}"

    @classmethod
    def of(cls, access_key: str) -> Self:
        """The sender with an access key. Raises `ValueError`."""
        writer, job, rerun = access_key.rsplit(".", 2)
        return cls(writer, int(job), int(rerun))


class Misfortunes(Struct):
    """All faults of a scenario, on the clock of `now_ms` (simulated time).

    Asked from any thread.
    """

    scenario: Scenario
    streams: RandomStreams
    now_ms: Callable[[], float]
    _faults: dict[str, WriterFaults] = field(default_factory=dict)
    _crashes: dict[str, list[Crashes]] = field(default_factory=dict)
    _tapes_of: dict[str, Tapes] = field(default_factory=dict)
    _tapes: dict[JobRun, Tape] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        faults, streams = self.scenario.faults, self.streams
        for group_name, group in self.scenario.writers.items():
            for name in group.members(group_name):
                self._faults[name] = faults_of(faults, group_name, name, streams)
                self._crashes[name] = crashes_of(faults, {group_name, name}, name, streams)
                source = streams.source("under fire", name)
                self._tapes_of[name] = Tapes(source, [NO_LATENCY] * len(RequestKind), ZERO)

    def crashes(self, writer: str) -> list[Crashes]:
        """When a writer's process dies, whatever it does."""
        return self._crashes[writer]

    def befall(self, sender: JobRun, kind: RequestKind, key: str) -> tuple[Struck, int]:
        """What befalls a request, and how many of the newest versions a listing misses."""
        now_ms = self.now_ms()
        if sender.writer not in self._faults:
            return UNHARMED, 0
        with self._lock:
            faults, tape = self._faults[sender.writer], self._tape(sender)
            decides = kind is RequestKind.PUT_IF_ABSENT
            number = tape.next_number(kind)
            sending = Sending(tape, kind, number, 0, now_ms, decides, key)
            misses = missed_by(faults.listings, sending) if kind is RequestKind.LIST else 0
            return faults.befall(sending), misses

    def _tape(self, sender: JobRun) -> Tape:
        if sender not in self._tapes:
            self._tapes[sender] = self._tapes_of[sender.writer].of(sender.job, sender.rerun)
        return self._tapes[sender]
