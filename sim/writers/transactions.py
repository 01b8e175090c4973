"""Running one transaction of a job: in its cluster, with its draws, to whatever end it comes."""

from __future__ import annotations

from dataclasses import dataclass

from whitecap.engine.errors import DeltaError, InvalidInput
from whitecap.engine.recorded import Interruption
from whitecap.sim.recording.recorder import Recorder, TransactionRecord
from whitecap.sim.scenario.writers import Compute
from whitecap.sim.store.client import Client
from whitecap.sim.store.cluster import Cluster, Life, WriterCrashed
from whitecap.sim.store.connection import Connection
from whitecap.sim.store.coordinator import LogRequests
from whitecap.sim.store.exchange import Sender, StoreRefused
from whitecap.sim.store.faults import WriterFaults
from whitecap.sim.store.limits import DataRequests, Throttle
from whitecap.sim.store.log_access import LogAccess
from whitecap.sim.store.log_view import LogView
from whitecap.sim.store.protocols.choice import COORDINATORS
from whitecap.sim.store.tape import Tapes
from whitecap.sim.time.identifiers import Ids
from whitecap.sim.time.kernel import Clock, Kernel, Waiting, drive
from whitecap.sim.time.random_streams import Source
from whitecap.sim.writers.jobs import Job


@dataclass(frozen=True, slots=True)
class Transactions:
    """Runs the transactions of one writer."""

    cluster: Cluster
    throttle: Throttle
    requests: LogRequests
    faults: WriterFaults
    tapes: Tapes
    ids: Source
    compute: Compute
    data_requests: DataRequests | None

    @property
    def kernel(self) -> Kernel:
        """The world's clock."""
        return self.cluster.kernel

    @property
    def recorder(self) -> Recorder:
        """Where the run is written down."""
        return self.cluster.recorder

    def run(self, clock: Clock, number: int, job: Job, record: TransactionRecord) -> Waiting[None]:
        """One run of a writer's `number`-th job; how it ended is in its record."""
        yield from self.cluster.is_up(clock)
        job.describe(record, clock.now_ms)
        life = Life(self.cluster, clock)
        client = self._client(life, number, record)
        try:
            outcome = yield from drive(job.transaction(LogView(self.cluster)), client)
        except WriterCrashed:
            yield from life.ends()
            text = "the writer's driver died"
            record.ends_badly("writer_crash", clock.now_ms, Interruption.WRITER_CRASH, None, text)
        except StoreRefused as refused:
            record.ends_badly(
                "store_refused", clock.now_ms, Interruption.STORE_REFUSED, None, str(refused)
            )
        except InvalidInput as error:
            refusal = error.as_refusal()
            if refusal is None:
                raise
            record.ends_refused(clock.now_ms, refusal)  # the table is another one since the check
        except DeltaError as error:
            record.ends_refused(clock.now_ms, error)
        else:
            record.ends_with(outcome, clock.now_ms)
        yield from client.finish()

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
        coordinator = COORDINATORS[cluster.profile.log_store.protocol]
        log = LogAccess(cluster, connection, record, self.requests, coordinator)
        new_id = Ids(self.ids, tape.row)
        return Client(cluster, connection, log, record, self.compute, self.data_requests, new_id)
