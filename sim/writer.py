"""One writer: when it starts jobs, and how a job goes from its first transaction to its last.

A job is a chain of transactions: the first one, and reruns of it after aborts. Each transaction
takes a new snapshot; the statement with its values stays the same throughout the job.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import count, takewhile
from typing import Protocol

from whitecap.engine.errors import DeltaError, InvalidInput, Problem
from whitecap.engine.log.table_log import TableLog
from whitecap.engine.outcomes import Outcome
from whitecap.engine.recorded import Arrivals, Interruption, RecordedOutcome
from whitecap.engine.storage.requests import Steps
from whitecap.sim.client import Client
from whitecap.sim.cluster import Cluster, WriterCrashed
from whitecap.sim.kernel import Kernel, Waiting, drive
from whitecap.sim.log_view import LogView
from whitecap.sim.random_streams import NextDraw
from whitecap.sim.recorder import Recorder, TransactionRecord, WriterRecord
from whitecap.sim.rerun import JobReruns, policy_of
from whitecap.sim.scenario.writers import Closed, Open, Schedule, WriterGroup
from whitecap.sim.sending import StoreRefused


class Job(Protocol):
    """What a writer has to do: makes transactions until one of them succeeds."""

    def describe(self, record: TransactionRecord, now_ms: float) -> None:
        """Note in the record what its transaction is about to do."""

    def transaction(self, table_log: TableLog) -> Steps[Outcome]:
        """One transaction."""

    def is_committed(self) -> None:
        """The last transaction succeeded."""


@dataclass(slots=True)
class Writer:
    """One instance of a writer group."""

    name: str
    group_name: str
    group: WriterGroup
    command: str
    cluster: Cluster
    table_log: TableLog
    new_job: Callable[[float], Job]
    think: NextDraw
    rerun_uniform: Callable[[], float]
    arrival_gap: NextDraw
    _running: int = 0
    _submitted: int = 0
    _waiting: deque[tuple[Job, TransactionRecord]] = field(default_factory=deque)

    @property
    def kernel(self) -> Kernel:
        return self.cluster.kernel

    @property
    def recorder(self) -> Recorder:
        return self.cluster.recorder

    def process(self) -> Waiting[None]:
        """Everything that this writer does in the run."""
        if self.group.starts:
            yield self.kernel.wait(self.group.starts)
        match self.group.arrival.chosen:
            case Closed():
                yield from self._closed_loop()
            case Open() as options:
                yield from self._open_loop(options)
            case Schedule() as options:
                yield from self._scheduled(options)

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
        until_ms = min(self.kernel.now_ms, self._stops_ms)
        instants = _instants(options, self.group.starts, self._submitted)
        return takewhile(lambda due_ms: due_ms < until_ms, instants)

    @property
    def _stops_ms(self) -> float:
        return math.inf if self.group.stops is None else self.group.stops

    def _closed_loop(self) -> Waiting[None]:
        while True:
            yield self.kernel.wait(self.think())
            now_ms = self.kernel.now_ms
            if now_ms >= self._stops_ms:
                return
            yield from self._run_job(*self._submit(now_ms))

    def _open_loop(self, options: Open) -> Waiting[None]:
        while True:
            yield self.kernel.wait(self.arrival_gap())
            now_ms = self.kernel.now_ms
            if now_ms >= self._stops_ms:
                return
            self._waiting.append(self._submit(now_ms))
            if options.concurrency is None or self._running < options.concurrency:
                self.kernel.start(self._work_off())

    def _work_off(self) -> Waiting[None]:
        """Run waiting jobs until there are none."""
        self._running += 1
        while self._waiting:
            yield from self._run_job(*self._waiting.popleft())
        self._running -= 1

    def _scheduled(self, options: Schedule) -> Waiting[None]:
        for due_ms in _instants(options, self.group.starts):
            if due_ms >= self._stops_ms:
                return
            if due_ms > self.kernel.now_ms:
                yield self.kernel.wait(due_ms - self.kernel.now_ms)
            yield from self._run_job(*self._submit(due_ms))

    def _submit(self, submitted_ms: float) -> tuple[Job, TransactionRecord]:
        """A new job and the record of its first transaction."""
        self._submitted += 1
        job = self.new_job(self.kernel.now_ms)
        record = self._record(None, 0, submitted_ms)
        job.describe(record, self.kernel.now_ms)
        return job, record

    def _record(self, job_id: int | None, rerun: int, submitted_ms: float) -> TransactionRecord:
        return self.recorder.begin(
            job_id, rerun, self.name, self.group_name, self.command, submitted_ms
        )

    def _run_job(self, job: Job, record: TransactionRecord) -> Waiting[None]:
        reruns = JobReruns(policy_of(self.group.rerun), self.rerun_uniform)
        while True:
            yield from self._run_transaction(job, record)
            if record.outcome == RecordedOutcome.COMMITTED:
                job.is_committed()
                return
            wait_ms = reruns.next_wait_ms() if _may_rerun(record, reruns) else None
            if wait_ms is None:
                record.given_up = True
                return
            yield self.kernel.wait(wait_ms)
            record = self._record(record.job_id, reruns.count, self.kernel.now_ms)

    def _run_transaction(self, job: Job, record: TransactionRecord) -> Waiting[None]:
        kernel, cluster = self.kernel, self.cluster
        if cluster.faults.crashes:
            yield from cluster.is_up()
        job.describe(record, kernel.now_ms)
        steps = job.transaction(LogView(self.table_log, record, kernel))
        try:
            outcome = yield from drive(steps, Client(cluster, record))
        except WriterCrashed:
            text = "the writer's driver died"
            record.ends_badly("writer_crash", kernel.now_ms, Interruption.WRITER_CRASH, None, text)
            cluster.crashed()
        except StoreRefused as refused:
            record.ends_badly(
                "store_refused", kernel.now_ms, Interruption.STORE_REFUSED, None, str(refused)
            )
        except InvalidInput as error:
            refusal = error.as_refusal()
            if refusal is not None:  # the table has become another one since the check
                self._is_refused(record, refusal)
                return
            raise InvalidInput(
                [
                    Problem(f"writer {self.name}: {p.place}", p.text, p.nearest)
                    for p in error.problems
                ]
            ) from error
        except DeltaError as error:
            self._is_refused(record, error)
        else:
            record.ends_with(outcome, kernel.now_ms)

    def _is_refused(self, record: TransactionRecord, error: DeltaError) -> None:
        now_ms = self.kernel.now_ms
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
