"""One writer: when it starts jobs, and how a job goes from its first transaction to its last.

A job is a chain of transactions: the first one, and reruns of it after aborts. Each transaction
takes a new snapshot; the statement with its values stays the same throughout the job.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import count, takewhile
from typing import Protocol

import msgspec

from whitecap.engine.errors import InvalidInput, Problem
from whitecap.engine.recorded import Arrivals, RecordedOutcome
from whitecap.sim.recording.recorder import Recorder, TransactionRecord, WriterRecord
from whitecap.sim.scenario.writers import Closed, Open, Schedule, WriterGroup
from whitecap.sim.time.kernel import Clock, Kernel, Waiting
from whitecap.sim.writers.jobs import Job
from whitecap.sim.writers.rerun import JobReruns, policy_of


class Executor(Protocol):
    """Runs the transactions of one writer."""

    @property
    def kernel(self) -> Kernel:
        """The world's clock."""

    @property
    def recorder(self) -> Recorder:
        """Where the run is written down."""

    def run(self, clock: Clock, number: int, job: Job, record: TransactionRecord) -> Waiting[None]:
        """One run of a writer's `number`-th job; how it ended is in its record."""


class Submitted(msgspec.Struct, frozen=True):
    """A job of a writer, its number among them, and the record of its first transaction."""

    number: int
    job: Job
    record: TransactionRecord


@dataclass(slots=True)
class Writer:
    """One instance of a writer group, the `number`-th of the run.

    By the number of a job, `pause_ms` is the time before it (or the gap since the arrival of the
    one before), and `rerun` the uniform number for one of its waits.
    """

    name: str
    number: int
    group_name: str
    group: WriterGroup
    command: str
    new_job: Callable[[int, float], Job]
    transactions: Executor
    pause_ms: Callable[[int], float]
    rerun: Callable[[int, int], float]
    _submitted: int = 0
    _running: int = 0
    _waiting: deque[Submitted] = field(default_factory=deque)

    def process(self) -> Waiting[None]:
        """Everything that this writer does in the run."""
        clock = self._clock()
        clock.now_ms = self.group.starts
        try:
            match self.group.arrival.chosen:
                case Closed():
                    yield from self._closed_loop(clock)
                case Open() as options:
                    yield from self._open_loop(clock, options)
                case Schedule() as options:
                    yield from self._scheduled(clock, options)
        except InvalidInput as error:
            raise self._naming_the_writer(error) from error

    def _clock(self) -> Clock:
        return Clock(self.transactions.kernel, self.number)

    def recorded(self) -> WriterRecord:
        """What fell to this writer until now, and what of it has not begun."""
        late = sum(1 for _ in self._overdue())
        return WriterRecord(
            writer=self.name,
            writer_group=self.group_name,
            command=self.command,
            arrival=Arrivals(*self.group.arrival.chosen_names()),
            jobs_due=self._submitted + late,
            jobs_not_begun=len(self._waiting) + late,
        )

    def _overdue(self) -> Iterator[float]:
        """The instants of jobs that wait, unseen by anybody, behind an earlier one of a schedule.

        Jobs of an open loop that wait were submitted when they arrived.
        """
        options = self.group.arrival.schedule
        if options is None:
            return iter(())
        until_ms = min(self.transactions.kernel.now_ms, self._stops_ms)
        instants = _instants(options, self.group.starts, self._submitted)
        return takewhile(lambda due_ms: due_ms < until_ms, instants)

    @property
    def _stops_ms(self) -> float:
        return math.inf if self.group.stops is None else self.group.stops

    def _closed_loop(self, clock: Clock) -> Waiting[None]:
        while True:
            clock.now_ms += self.pause_ms(self._submitted)
            if clock.now_ms >= self._stops_ms:
                return
            submitted = yield from self._submit(clock, clock.now_ms)
            yield from self._run_job(clock, submitted)

    def _open_loop(self, clock: Clock, options: Open) -> Waiting[None]:
        while True:
            clock.now_ms += self.pause_ms(self._submitted)
            if clock.now_ms >= self._stops_ms:
                return
            self._waiting.append((yield from self._submit(clock, clock.now_ms)))
            if options.concurrency is None or self._running < options.concurrency:
                clock.kernel.start(self._work_off(options))

    def _work_off(self, options: Open) -> Waiting[None]:
        """Run waiting jobs until there are none."""
        clock = self._clock()
        self._running += 1
        while self._waiting:
            yield from self._run_job(clock, self._waiting.popleft())
            if options.concurrency is not None:
                yield clock.arrive()
        self._running -= 1

    def _scheduled(self, clock: Clock, options: Schedule) -> Waiting[None]:
        for due_ms in _instants(options, self.group.starts):
            if due_ms >= self._stops_ms:
                return
            clock.now_ms = max(clock.now_ms, due_ms)
            submitted = yield from self._submit(clock, due_ms)
            yield from self._run_job(clock, submitted)

    def _submit(self, clock: Clock, submitted_ms: float) -> Waiting[Submitted]:
        """A new job, at the clock's instant, and the record of its first transaction."""
        number = self._submitted
        clock.serves(self.number, number)
        yield clock.arrive()
        self._submitted += 1
        job = self.new_job(number, clock.now_ms)
        record = self._record(None, 0, submitted_ms)
        job.describe(record, clock.now_ms)
        return Submitted(number, job, record)

    def _record(self, job_id: int | None, rerun: int, submitted_ms: float) -> TransactionRecord:
        return self.transactions.recorder.begin(
            job_id, rerun, self.name, self.group_name, self.command, submitted_ms
        )

    def _run_job(self, clock: Clock, submitted: Submitted) -> Waiting[None]:
        clock.serves(self.number, submitted.number)
        job, record = submitted.job, submitted.record
        uniform = partial(self.rerun, submitted.number)
        reruns = JobReruns(policy_of(self.group.rerun), uniform)
        while True:
            yield from self.transactions.run(clock, submitted.number, job, record)
            if record.outcome == RecordedOutcome.COMMITTED:
                if job.is_seen_by_others:
                    yield clock.arrive()
                job.is_committed()
                return
            wait_ms = reruns.next_wait_ms() if _may_rerun(record, reruns) else None
            if wait_ms is None:
                record.given_up = True
                return
            clock.now_ms += wait_ms
            yield clock.arrive()
            record = self._record(record.job_id, reruns.count, clock.now_ms)

    def _naming_the_writer(self, error: InvalidInput) -> InvalidInput:
        place = f"writer {self.name}"
        return InvalidInput(
            [Problem(f"{place}: {p.place}", p.text, p.nearest) for p in error.problems]
        )


def _may_rerun(record: TransactionRecord, reruns: JobReruns) -> bool:
    if record.outcome == RecordedOutcome.UNKNOWN:
        return reruns.after_unknown
    return record.outcome == RecordedOutcome.ABORTED


def _instants(options: Schedule, starts_ms: float, first: int = 0) -> Iterator[float]:
    """When jobs are due, from the one of number `first` on."""
    if options.at is not None:
        yield from sorted(options.at)[first:]
        return
    assert options.every is not None
    for number in count(first):
        yield starts_ms + options.offset + number * options.every
