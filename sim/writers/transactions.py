"""Runs one transaction of a job, in its cluster and with its draws, to whatever end it comes."""

from __future__ import annotations

import math

from msgspec import Struct

from whitecap.engine.errors import DeltaError, InvalidInput
from whitecap.engine.outcomes import Outcome
from whitecap.engine.recorded import Interruption
from whitecap.sim.recording.recorder import Recorder
from whitecap.sim.recording.records import TransactionRecord
from whitecap.sim.spark.sharing import Slots
from whitecap.sim.spark.spark_jobs import SparkJobs
from whitecap.sim.store.client import Client
from whitecap.sim.store.cluster import Cluster, Life, WriterCrashed
from whitecap.sim.store.connection import Connection
from whitecap.sim.store.coordinator import LogRequests
from whitecap.sim.store.exchange import Sender, StoreRefused
from whitecap.sim.store.listing import LogListing
from whitecap.sim.store.log_access import LogAccess
from whitecap.sim.store.log_view import LogView
from whitecap.sim.store.protocols.choice import COORDINATORS
from whitecap.sim.store.requests.faults import WriterFaults
from whitecap.sim.store.requests.limits import DataRequests, Throttle
from whitecap.sim.store.requests.tape import Tapes
from whitecap.sim.time.identifiers import IdsOfJobs
from whitecap.sim.time.kernel import Clock, Kernel, Waiting, drive
from whitecap.sim.writers.appends import append
from whitecap.sim.writers.jobs import InsertJob, Job


class Transactions(Struct):
    """Runs the transactions of one writer. `queueing`: how many jobs wait for their first slot."""

    cluster: Cluster
    throttle: Throttle
    requests: LogRequests
    faults: WriterFaults
    tapes: Tapes
    ids: IdsOfJobs
    spark_jobs: SparkJobs
    data_requests: DataRequests | None
    queueing: int = 0

    @property
    def kernel(self) -> Kernel:
        """The world's clock."""
        return self.cluster.kernel

    @property
    def recorder(self) -> Recorder:
        """Where the run is written down."""
        return self.cluster.recorder

    def starts_anew(self) -> None:
        """The writer's application is started again."""
        self.cluster.starts_anew()

    def run(
        self,
        clock: Clock,
        number: int,
        job: Job,
        record: TransactionRecord,
        deadline_ms: float = math.inf,
    ) -> Waiting[None]:
        """One run of a writer's `number`-th job; how it ended is in its record."""
        slots = self.cluster.slots
        if slots is None:
            return self._run(clock, number, job, record, deadline_ms)
        return self._run_in(slots, clock, number, job, record, deadline_ms)

    def _run_in(
        self,
        slots: Slots,
        clock: Clock,
        number: int,
        job: Job,
        record: TransactionRecord,
        deadline_ms: float,
    ) -> Waiting[None]:
        """`run` where jobs wait for a slot of their cluster."""
        is_first = record.rerun_number == 0 and record.statement_number == 1
        self.queueing += is_first
        has_slot = yield from slots.acquire(clock, deadline_ms)
        self.queueing -= is_first
        if not has_slot:
            _is_cancelled(record, clock)
            return
        yield from self._run(clock, number, job, record, deadline_ms)
        yield from slots.release(clock)

    def _run(
        self, clock: Clock, number: int, job: Job, record: TransactionRecord, deadline_ms: float
    ) -> Waiting[None]:
        yield from self.cluster.is_up(clock, deadline_ms)
        if clock.now_ms >= deadline_ms:
            _is_cancelled(record, clock)
            return
        job.describe(record, clock.now_ms)
        life = Life(self.cluster, clock, deadline_ms)
        client = self._client(life, number, record)
        try:
            outcome = yield from self._steps(job, client)
        except WriterCrashed:
            yield from life.ends()
            (_is_cancelled if life.is_cancelled else _is_crashed)(record, clock)
        except (StoreRefused, DeltaError, InvalidInput) as error:
            _is_refused(record, clock, error)
        else:
            record.ends_with(outcome, clock.now_ms)
        if client.holds:
            yield from client.finish()

    def _steps(self, job: Job, client: Client) -> Waiting[Outcome]:
        """The job from its snapshot to its outcome; what only appends may go the short way."""
        passing = client.connection.passing
        if passing is not None and isinstance(job, InsertJob):
            return append(job, client, passing)
        return drive(job.transaction(LogView(self.cluster)), client)

    def _client(self, life: Life, number: int, record: TransactionRecord) -> Client:
        cluster, tape = self.cluster, self.tapes.of(number, record.rerun_number)
        sender = Sender(
            kernel=cluster.kernel,
            throttle=self.throttle,
            options=cluster.profile.client,
            recorder=cluster.recorder,
            record=record,
            faults=self.faults,
            tape=tape,
            life=life,
        )
        connection = Connection(sender)
        new_coordinator = COORDINATORS[cluster.profile.log_store.protocol]
        coordinator = new_coordinator(cluster, connection, record, self.requests)
        directory = cluster.store.log
        listing = LogListing(connection, self.requests, coordinator, directory)
        log = LogAccess(
            cluster, connection, record, self.requests, coordinator, listing,
            cluster.delta_log, directory, life.clock,
        )  # fmt: skip
        new_id = self.ids.of(number, record.rerun_number)
        own_ms = self.spark_jobs.own_ms(number, tape.compute_ms)
        return Client(
            cluster, connection, log, record, self.spark_jobs, own_ms, self.data_requests, new_id
        )


def _is_crashed(record: TransactionRecord, clock: Clock) -> None:
    """Record that the writer's driver died."""
    record.is_cut_off(Interruption.WRITER_CRASH, clock.now_ms, "the writer's driver died")


def _is_refused(
    record: TransactionRecord, clock: Clock, error: StoreRefused | DeltaError | InvalidInput
) -> None:
    """Record that the store or Delta refused. Raises `error`: it is neither's."""
    match error:
        case StoreRefused():
            record.is_cut_off(Interruption.STORE_REFUSED, clock.now_ms, str(error))
        case DeltaError():
            record.ends_refused(clock.now_ms, error)
        case InvalidInput():
            refusal = error.as_refusal()
            if refusal is None:
                raise error
            record.ends_refused(clock.now_ms, refusal)  # the table is another one since the check


def _is_cancelled(record: TransactionRecord, clock: Clock) -> None:
    """Record that the job's deadline passed before it ended."""
    record.is_cut_off(Interruption.DEADLINE_PASSED, clock.now_ms, "the job's deadline passed")
