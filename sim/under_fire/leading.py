"""One real writer: a thread that leads a client through its jobs and notes what it was told.

It begins its jobs when the simulated ones began, on a clock that runs `speed` times as fast as the
real one. What a try is to a client, and how long it waits between snapshot and commit, the client
knows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from time import monotonic, sleep
from typing import Protocol

from msgspec import Struct, field

from whitecap.engine.recorded import Interruption, RecordedOutcome
from whitecap.sim.oracles.history import HistoryTransaction
from whitecap.sim.under_fire.misfortunes import JobRun
from whitecap.sim.under_fire.order import WorkOrder
from whitecap.sim.writers.rerun import JobTries

KILLED = Interruption.WRITER_CRASH.value
"""How a try is noted whose client was killed."""

LOOKS_EVERY_S = 0.05
"""How often one that waits looks whether the clock stands, or all is over. Ours."""


class Stopped(Exception):
    """The run is ended before its time."""


class FastClock(Struct):
    """Simulated milliseconds since it started, `speed` of them in one of real time."""

    speed: float
    _state: tuple[float, float | None] = field(default_factory=lambda: (monotonic(), None))
    _is_stopped: bool = False

    def starts(self) -> None:
        """Start it now."""
        self._state = monotonic(), None

    @contextmanager
    def standing(self) -> Iterator[None]:
        """The clock stands still for the length of a block."""
        began_s, since_s = self._state[0], monotonic()
        self._state = began_s, since_s
        try:
            yield
        finally:
            self._state = began_s + monotonic() - since_s, None

    def now_ms(self) -> float:
        began_s, since_s = self._state
        return ((monotonic() if since_s is None else since_s) - began_s) * 1000 * self.speed

    def real_s(self, simulated_ms: float) -> float:
        """How many real seconds a simulated time takes."""
        return simulated_ms / 1000 / self.speed

    def wait_until(self, instant_ms: float) -> None:
        """Raises `Stopped`."""
        while not self._is_stopped:
            left_s = self.real_s(instant_ms - self.now_ms())
            if left_s <= 0:
                return
            sleep(min(left_s, LOOKS_EVERY_S))
        raise Stopped

    def stop(self) -> None:
        """End all waits."""
        self._is_stopped = True


class TryEnd(Struct, frozen=True):
    """How a try ended: the versions of its snapshot and after it, and its conflict or error.

    The last is `None` if there was none.
    """

    outcome: RecordedOutcome
    read_version: int | None
    version: int | None = None
    said: str = ""


class Tried(Struct, frozen=True):
    """What a writer was told of one try: the version that its client showed, or an error."""

    sender: JobRun
    transaction: HistoryTransaction
    version: int | None
    said: str


class WriterClient(Protocol):
    """Runs the statements of one writer."""

    def run(self, job: WorkOrder, sender: JobRun) -> TryEnd:
        """Try a job once, in the name of a sender."""

    def close(self) -> None:
        """Release it: there are no more jobs."""


class LeadWriter(Struct):
    """One real writer: its jobs, its client, and what it was told."""

    name: str
    jobs: Sequence[WorkOrder]
    tries_of: Callable[[int], JobTries]
    clock: FastClock
    client: WriterClient
    tried: list[Tried] = field(default_factory=list)

    def work(self) -> None:
        """Try all jobs, one after the other."""
        try:
            for number, job in enumerate(self.jobs):
                self.clock.wait_until(job.begins_ms)
                self._do(job, number)
        except Stopped:
            return
        finally:
            self.client.close()

    def _do(self, job: WorkOrder, number: int) -> None:
        tries = self.tries_of(number)
        while True:
            tried = self._try(job, JobRun(self.name, number, tries.count))
            self.tried.append(tried)
            if tried.transaction.outcome is RecordedOutcome.COMMITTED:
                return
            is_unknown = tried.transaction.outcome is RecordedOutcome.UNKNOWN
            following = tries.next_run(is_unknown)
            if following is None:
                return
            self.clock.wait_until(self.clock.now_ms() + following.wait_ms)

    def _try(self, job: WorkOrder, sender: JobRun) -> Tried:
        began = self.clock.now_ms()
        answer = self.client.run(job, sender)
        is_over = answer.said != KILLED
        transaction = HistoryTransaction(
            name=f"{self.name} #{sender.job}.{sender.rerun}", writer=self.name,
            outcome=answer.outcome, statement=job.statement, began=began,
            ended=self.clock.now_ms() if is_over else None, read_version=answer.read_version,
            job=f"{self.name} #{sender.job}",
        )  # fmt: skip
        return Tried(sender, transaction, answer.version, answer.said)
