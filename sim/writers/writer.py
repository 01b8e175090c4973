"""One writer: when it starts jobs, and how a job goes from its first transaction to its last.

A job is a chain of transactions: the first one, and reruns of it after aborts. Each transaction
takes a new snapshot; the statement with its values stays the same throughout the job.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import takewhile
from typing import Protocol

from msgspec import Struct, field

from whitecap.engine.errors import InvalidInput, Problem
from whitecap.engine.recorded import Arrivals, RecordedOutcome
from whitecap.sim.recording.recorder import Recorder
from whitecap.sim.recording.records import TransactionRecord
from whitecap.sim.recording.writer_record import WriterRecord
from whitecap.sim.scenario.arrivals import Closed, Open, Schedule, Trace
from whitecap.sim.scenario.writers import WriterGroup
from whitecap.sim.time.kernel import Clock, Kernel, Waiting
from whitecap.sim.writers.instants import Instants
from whitecap.sim.writers.jobs import Job
from whitecap.sim.writers.rerun import JobTries


class Executor(Protocol):
    """Runs the transactions of one writer."""

    @property
    def kernel(self) -> Kernel:
        """The world's clock."""

    @property
    def recorder(self) -> Recorder:
        """Where the run is written down."""

    @property
    def queueing(self) -> int:
        """How many jobs have not begun because the cluster has no slot for them."""

    def starts_anew(self) -> None:
        """The writer's application is started again."""

    def run(
        self, clock: Clock, number: int, job: Job, record: TransactionRecord, deadline_ms: float
    ) -> Waiting[None]:
        """One run of a writer's `number`-th job; how it ended is in its record."""


class WriterPart(Struct, frozen=True):
    """One of the statements that each job of a writer runs, or its query's batch.

    `new_job` takes the number of the writer's job, and the instant.
    """

    command: str
    new_job: Callable[[int, float], Job]
    table_name: str
    transactions: Executor


class Submitted(Struct, frozen=True):
    """A job of a writer, its number among them, and the record of its first transaction.

    `job` is its first statement.
    """

    number: int
    job: Job
    record: TransactionRecord


class _BegunJob(Struct):
    """A job under way: what each of its parts does, as far as it came, and how often each was run.

    `tries` are its reruns, once it needed any.
    """

    number: int
    deadline_ms: float
    jobs: list[Job]
    runs: list[int]
    tries: JobTries | None = None


class Writer(Struct):
    """One instance of a writer group, the `number`-th writer of the run.

    Its jobs do their `parts` one after the other; what one part has committed stays, whatever
    becomes of the next.

    These take the number of a job: `think_ms` gives the time before it in a closed loop, `instants`
    the instants at which it and later jobs fall due otherwise, `rerun` and `restart` uniform
    numbers for its waits.
    """

    name: str
    number: int
    group_name: str
    group: WriterGroup
    parts: Sequence[WriterPart]
    think_ms: Callable[[int], float]
    instants: Instants
    rerun: Callable[[int, int], float]
    restart: Callable[[int, int], float]
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
                case Open(concurrency=concurrency) | Trace(concurrency=concurrency):
                    yield from self._open_loop(clock, concurrency)
                case Schedule() if self.group.skips_what_it_missed:
                    yield from self._triggered(clock)
                case Schedule():
                    yield from self._scheduled(clock)
        except InvalidInput as error:
            raise self._naming_the_writer(error) from error

    def _clock(self) -> Clock:
        return Clock(self.kernel, self.number)

    @property
    def kernel(self) -> Kernel:
        """The world's clock."""
        return self.parts[0].transactions.kernel

    def recorded(self) -> Iterator[WriterRecord]:
        """How many jobs of this writer fell due until now, and how many have not begun.

        There is a record for each of its parts; the last one counts the jobs.
        """
        late = sum(1 for _ in self._overdue())
        queueing = self.parts[0].transactions.queueing
        counts = self._submitted + late, len(self._waiting) + queueing + late
        for position, part in enumerate(self.parts):
            ends_job = position + 1 == len(self.parts)
            due, not_begun = counts if ends_job else (0, 0)
            yield WriterRecord(
                writer=self.name,
                writer_group=self.group_name,
                command=part.command,
                arrival=Arrivals(*self.group.arrival.chosen_names()),
                jobs_due=due,
                jobs_not_begun=not_begun,
                table_name=part.table_name,
                statement_number=position + 1,
                ends_job=ends_job,
            )

    def _overdue(self) -> Iterator[float]:
        """When jobs fell due that still wait behind an earlier job of a schedule.

        They are not submitted before they begin; jobs of an open loop are, as they arrive.
        Triggers of a query that have passed are nobody's.
        """
        if self.group.arrival.schedule is None or self.group.skips_what_it_missed:
            return iter(())
        until_ms = min(self.kernel.now_ms, self._stops_ms)
        return takewhile(lambda due_ms: due_ms < until_ms, self.instants(self._submitted))

    @property
    def _stops_ms(self) -> float:
        return math.inf if self.group.stops is None else self.group.stops

    def _closed_loop(self, clock: Clock) -> Waiting[None]:
        stops_ms = self._stops_ms
        while True:
            clock.now_ms += self.think_ms(self._submitted)
            if clock.now_ms >= stops_ms:
                return
            submitted = yield from self._submit(clock, clock.now_ms)
            yield from self._run_job(clock, submitted)

    def _open_loop(self, clock: Clock, concurrency: int | None) -> Waiting[None]:
        for due_ms in self._due():
            clock.now_ms = due_ms
            self._waiting.append((yield from self._submit(clock, clock.now_ms)))
            if concurrency is None or self._running < concurrency:
                clock.kernel.start(self._work_off(concurrency))

    def _work_off(self, concurrency: int | None) -> Waiting[None]:
        """Run waiting jobs until there are none."""
        clock = self._clock()
        self._running += 1
        while self._waiting:
            yield from self._run_job(clock, self._waiting.popleft())
            if concurrency is not None:
                yield clock.arrive()
        self._running -= 1

    def _due(self) -> Iterator[float]:
        """The instants of its jobs, where these do not depend on each other."""
        return takewhile(lambda due_ms: due_ms < self._stops_ms, self.instants(0))

    def _scheduled(self, clock: Clock) -> Waiting[None]:
        for due_ms in self._due():
            clock.now_ms = max(clock.now_ms, due_ms)
            yield from self._run_job(clock, (yield from self._submit(clock, due_ms)))

    def _triggered(self, clock: Clock) -> Waiting[None]:
        """The batches of a query: after each it waits for the first trigger since that one began.

        Where that has passed, the next batch begins at once; triggers between are skipped. Source:
        Spark, TriggerExecutor.scala (ProcessingTimeExecutor.execute); SPARK-20209.
        """
        began_ms = -math.inf
        for due_ms in self._due():
            if due_ms <= began_ms:
                continue
            began_ms = clock.now_ms = max(clock.now_ms, due_ms)
            if began_ms >= self._stops_ms:
                return
            yield from self._run_job(clock, (yield from self._submit(clock, began_ms)))

    def _submit(self, clock: Clock, submitted_ms: float) -> Waiting[Submitted]:
        """Begin a job at the clock's instant, with the record of its first transaction."""
        number = self._submitted
        clock.serves(self.number, number)
        yield clock.arrive()
        self._submitted += 1
        job = self.parts[0].new_job(number, clock.now_ms)
        return Submitted(number, job, self._record(clock, 0, job, None, 0, submitted_ms))

    def _record(
        self,
        clock: Clock,
        position: int,
        job: Job,
        job_id: int | None,
        rerun: int,
        submitted_ms: float,
    ) -> TransactionRecord:
        """Begin the record of a transaction, which may have to wait, with what it is about to do.

        `position` is that of its part among the parts of the job.
        """
        part = self.parts[position]
        record = part.transactions.recorder.begin(
            job_id, rerun, self.name, self.group_name, part.command, submitted_ms
        )
        record.table_name, record.statement_number = part.table_name, position + 1
        record.ends_job = position + 1 == len(self.parts)
        job.describe(record, clock.now_ms)
        return record

    def _run_job(self, clock: Clock, submitted: Submitted) -> Waiting[None]:
        """Run the parts of a job in turn, with all reruns; a restart begins at the first part."""
        clock.serves(self.number, submitted.number)
        record = submitted.record
        deadline_ms = record.submitted_at_ms + (self.group.deadline or math.inf)
        begun = _BegunJob(submitted.number, deadline_ms, [submitted.job], [0] * len(self.parts))
        position: int | None = 0
        while position is not None:
            job, transactions = begun.jobs[position], self.parts[position].transactions
            yield from transactions.run(clock, begun.number, job, record, deadline_ms)
            begun.runs[position] += 1
            if record.outcome == RecordedOutcome.COMMITTED:
                position = yield from self._next_part(clock, begun, record)
            else:
                position = yield from self._wait(clock, begun, record)
            if position is not None:
                record = self._record(
                    clock, position, begun.jobs[position], record.job_id,
                    begun.runs[position], clock.now_ms,
                )  # fmt: skip

    def _next_part(
        self, clock: Clock, begun: _BegunJob, record: TransactionRecord
    ) -> Waiting[int | None]:
        """Begin the part after the one that `record` saw commit. Returns which; `None` at the end.

        After a restart its job is there already, with the values that it had.
        """
        job = begun.jobs[record.statement_number - 1]
        if job.is_seen_by_others:
            yield clock.arrive()
        job.is_committed()
        if record.ends_job:
            return None
        if begun.tries is not None:
            begun.tries.of_next_part()
        yield clock.arrive()
        position = record.statement_number
        if position == len(begun.jobs):
            begun.jobs.append(self.parts[position].new_job(begun.number, clock.now_ms))
        return position

    def _wait(
        self, clock: Clock, begun: _BegunJob, record: TransactionRecord
    ) -> Waiting[int | None]:
        """Wait until the job is run again. Returns with which part; `None` if it is given up.

        `record` is that of the transaction that did not commit. A job whose application is started
        anew begins with its first part.
        """
        tries = begun.tries = begun.tries or self._tries(begun.number)
        following = tries.next_run(record.outcome == RecordedOutcome.UNKNOWN)
        if following is None or clock.now_ms + following.wait_ms >= begun.deadline_ms:
            record.given_up = True
            return None
        clock.now_ms += following.wait_ms
        yield clock.arrive()
        position = record.statement_number - 1
        if not following.starts_anew:
            return position
        self.parts[position].transactions.starts_anew()
        return 0

    def _tries(self, number: int) -> JobTries:
        """The reruns of the job of this number."""
        reruns = partial(self.rerun, number)
        return JobTries(self.group.rerun, self.group.restart, reruns, partial(self.restart, number))

    def _naming_the_writer(self, error: InvalidInput) -> InvalidInput:
        place = f"writer {self.name}"
        return InvalidInput(
            [Problem(f"{place}: {p.place}", p.text, p.nearest) for p in error.problems]
        )
