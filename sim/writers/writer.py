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

from whitecap.engine.errors import DeltaError, InvalidInput, Problem
from whitecap.engine.log.table_log import TableLog
from whitecap.engine.outcomes import Outcome
from whitecap.engine.recorded import Arrivals, Interruption, RecordedOutcome
from whitecap.engine.storage.requests import Steps
from whitecap.sim.recording.recorder import Recorder, TransactionRecord, WriterRecord
from whitecap.sim.scenario.writers import Closed, Open, Schedule, WriterGroup
from whitecap.sim.store.client import Client
from whitecap.sim.store.cluster import Cluster, WriterCrashed
from whitecap.sim.store.exchange import StoreRefused
from whitecap.sim.store.log_view import LogView
from whitecap.sim.store.tape import Tapes
from whitecap.sim.time.identifiers import Ids
from whitecap.sim.time.kernel import Clock, Waiting, drive
from whitecap.sim.time.random_streams import Source
from whitecap.sim.writers.rerun import JobReruns, policy_of


class Job(Protocol):
    """What a writer has to do: makes transactions until one of them succeeds."""

    def describe(self, record: TransactionRecord, now_ms: float) -> None:
        """Note in the record what its transaction is about to do."""

    def transaction(self, table_log: TableLog) -> Steps[Outcome]:
        """One transaction."""

    def is_committed(self) -> None:
        """The last transaction succeeded."""


@dataclass(frozen=True, slots=True)
class Submitted:
    """A job of a writer, its number among them, and the record of its first transaction."""

    number: int
    job: Job
    record: TransactionRecord


@dataclass(frozen=True, slots=True)
class WriterDraws:
    """What one writer draws, by the number of its job: think time or gap, and waits for reruns."""

    pause_ms: Callable[[int], float]
    rerun: Callable[[int, int], float]
    ids: Source
    tapes: Tapes


@dataclass(slots=True)
class Writer:
    """One instance of a writer group, the `number`-th of the run."""

    name: str
    number: int
    group_name: str
    group: WriterGroup
    command: str
    cluster: Cluster
    table_log: TableLog
    new_job: Callable[[int, float], Job]
    draws: WriterDraws
    _submitted: int = 0
    _running: int = 0
    _waiting: deque[Submitted] = field(default_factory=deque)

    @property
    def recorder(self) -> Recorder:
        return self.cluster.recorder

    def process(self) -> Waiting[None]:
        """Everything that this writer does in the run."""
        clock = Clock(self.cluster.kernel, self.number)
        if self.group.starts:
            yield clock.until(self.group.starts)
        match self.group.arrival.chosen:
            case Closed():
                yield from self._closed_loop(clock)
            case Open() as options:
                yield from self._open_loop(clock, options)
            case Schedule() as options:
                yield from self._scheduled(clock, options)

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
        until_ms = min(self.cluster.kernel.now_ms, self._stops_ms)
        instants = _instants(options, self.group.starts, self._submitted)
        return takewhile(lambda due_ms: due_ms < until_ms, instants)

    @property
    def _stops_ms(self) -> float:
        return math.inf if self.group.stops is None else self.group.stops

    def _closed_loop(self, clock: Clock) -> Waiting[None]:
        while True:
            clock.serves(self.number, self._submitted)
            yield clock.after(self.draws.pause_ms(self._submitted))
            if clock.now_ms >= self._stops_ms:
                return
            yield from self._run_job(clock, self._submit(clock.now_ms, clock.now_ms))

    def _open_loop(self, clock: Clock, options: Open) -> Waiting[None]:
        while True:
            clock.serves(self.number, self._submitted)
            yield clock.after(self.draws.pause_ms(self._submitted))
            if clock.now_ms >= self._stops_ms:
                return
            self._waiting.append(self._submit(clock.now_ms, clock.now_ms))
            if options.concurrency is None or self._running < options.concurrency:
                self.cluster.kernel.start(self._work_off(Clock(self.cluster.kernel, self.number)))

    def _work_off(self, clock: Clock) -> Waiting[None]:
        """Run waiting jobs until there are none."""
        self._running += 1
        while self._waiting:
            yield from self._run_job(clock, self._waiting.popleft())
        self._running -= 1

    def _scheduled(self, clock: Clock, options: Schedule) -> Waiting[None]:
        for due_ms in _instants(options, self.group.starts):
            if due_ms >= self._stops_ms:
                return
            clock.serves(self.number, self._submitted)
            if due_ms > clock.now_ms:
                yield clock.until(due_ms)
            yield from self._run_job(clock, self._submit(due_ms, clock.now_ms))

    def _submit(self, submitted_ms: float, now_ms: float) -> Submitted:
        """A new job and the record of its first transaction."""
        number = self._submitted
        self._submitted += 1
        job = self.new_job(number, now_ms)
        record = self._record(None, 0, submitted_ms)
        job.describe(record, now_ms)
        return Submitted(number, job, record)

    def _record(self, job_id: int | None, rerun: int, submitted_ms: float) -> TransactionRecord:
        return self.recorder.begin(
            job_id, rerun, self.name, self.group_name, self.command, submitted_ms
        )

    def _run_job(self, clock: Clock, submitted: Submitted) -> Waiting[None]:
        clock.serves(self.number, submitted.number)
        job, record = submitted.job, submitted.record
        uniform = partial(self.draws.rerun, submitted.number)
        reruns = JobReruns(policy_of(self.group.rerun), uniform)
        while True:
            yield from self._run_transaction(clock, submitted.number, job, record)
            if record.outcome == RecordedOutcome.COMMITTED:
                job.is_committed()
                return
            wait_ms = reruns.next_wait_ms() if _may_rerun(record, reruns) else None
            if wait_ms is None:
                record.given_up = True
                return
            yield clock.after(wait_ms)
            record = self._record(record.job_id, reruns.count, clock.now_ms)

    def _run_transaction(
        self, clock: Clock, number: int, job: Job, record: TransactionRecord
    ) -> Waiting[None]:
        yield from self.cluster.is_up(clock)
        job.describe(record, clock.now_ms)
        steps = job.transaction(LogView(self.table_log, record, self.cluster.kernel))
        try:
            outcome = yield from drive(steps, self._client(clock, number, record))
        except WriterCrashed:
            text = "the writer's driver died"
            record.ends_badly("writer_crash", clock.now_ms, Interruption.WRITER_CRASH, None, text)
        except StoreRefused as refused:
            record.ends_badly(
                "store_refused", clock.now_ms, Interruption.STORE_REFUSED, None, str(refused)
            )
        except InvalidInput as error:
            refusal = error.as_refusal()
            if refusal is not None:  # the table has become another one since the check
                _is_refused(record, refusal, clock.now_ms)
                return
            raise InvalidInput(
                [
                    Problem(f"writer {self.name}: {p.place}", p.text, p.nearest)
                    for p in error.problems
                ]
            ) from error
        except DeltaError as error:
            _is_refused(record, error, clock.now_ms)
        else:
            record.ends_with(outcome, clock.now_ms)

    def _client(self, clock: Clock, number: int, record: TransactionRecord) -> Client:
        tape = self.draws.tapes.of(number, record.rerun_number)
        return Client(self.cluster, record, clock, tape, Ids(self.draws.ids, tape.row))


def _is_refused(record: TransactionRecord, error: DeltaError, now_ms: float) -> None:
    record.ends_badly("delta_error", now_ms, error.exception, error.error_class, error.message)


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
