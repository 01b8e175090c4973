"""A transaction's way to the world: requests in, answers out, each in its time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from whitecap.engine.commands.maintenance.auto_compaction import AUTO_COMPACTION
from whitecap.engine.log.commit_file import version_of_key
from whitecap.engine.storage.requests import (
    Body,
    Compute,
    Delete,
    Get,
    Gone,
    Listing,
    ListTree,
    Missing,
    NewId,
    Put,
    PutIfAbsent,
    PutResult,
    ReadClock,
    ReadRows,
    Response,
    RowsOf,
    WriteRows,
    Written,
)
from whitecap.sim.recording.records import TransactionRecord
from whitecap.sim.spark.spark_jobs import SparkJobs
from whitecap.sim.store.after_commit import AfterCommit
from whitecap.sim.store.cluster import Cluster, WriterCrashed
from whitecap.sim.store.connection import Connection
from whitecap.sim.store.contents.log_directory import Moment, Segment
from whitecap.sim.store.exchange import Reply, StoreRefused
from whitecap.sim.store.log_access import LogAccess
from whitecap.sim.store.log_view import (
    FollowCommit,
    ListWinners,
    ReadCommit,
    ReadHistory,
    ReadState,
    TakeSnapshot,
)
from whitecap.sim.store.requests.kinds import RequestKind
from whitecap.sim.store.requests.limits import DataRequests, Pulse
from whitecap.sim.time.kernel import Waiting


class Client:
    """Answers the requests of one transaction. Raises `StoreRefused`, `WriterCrashed`."""

    __slots__ = (
        "_data_requests",
        "_own_ms",
        "_spark_jobs",
        "_written",
        "cluster",
        "connection",
        "log",
        "new_id",
        "record",
    )

    def __init__(
        self,
        cluster: Cluster,
        connection: Connection,
        log: LogAccess,
        record: TransactionRecord,
        spark_jobs: SparkJobs,
        own_ms: float,
        data_requests: DataRequests | None,
        new_id: Callable[[], str],
    ) -> None:
        self.cluster = cluster
        self.connection = connection
        self.log = log
        self.record = record
        self._spark_jobs = spark_jobs
        self._own_ms = own_ms
        self._data_requests = data_requests
        self._written: list[str] = []
        self.new_id = new_id

    @property
    def holds(self) -> bool:
        """Whether it holds a lock of its JVM."""
        return self.log.coordinator.kept is not None or self.log.holds

    def finish(self) -> Waiting[None]:
        """The transaction has ended: release what it holds."""
        yield from self.log.coordinator.let_go()
        yield from self.log.let_go()

    # Requests that take no time: data files are part of the job's compute time ------------------

    def wall_ms(self) -> int:
        """What the driver's clock shows, epoch milliseconds."""
        return self.cluster.wall_ms(self.connection.clock.now_ms)

    def _clock(self, _: ReadClock) -> int:
        return self.wall_ms()

    def _id(self, _: NewId) -> str:
        return self.new_id()

    def _read_rows(self, request: ReadRows) -> RowsOf | Gone:
        return self.cluster.store.read_rows(request)

    def _list_tree(self, request: ListTree) -> Listing:
        return self.cluster.store.list_tree(request.below)

    def _delete(self, request: Delete) -> None:
        self.cluster.store.delete(request.keys)

    def write_file(self, request: WriteRows) -> int:
        """Write a data file. Returns its size in bytes."""
        now_ms = self.connection.clock.now_ms
        size_bytes = self.cluster.store.write_rows(request, now_ms)
        self.record.wrote(size_bytes, now_ms)
        if self._data_requests is not None:
            self._written.append(request.key)
        return size_bytes

    def _write_rows(self, request: WriteRows) -> Written:
        return Written(self.write_file(request))

    # Requests that take time --------------------------------------------------------------------

    def compute(self, request: Compute) -> Waiting[Response]:
        """The transaction's own time once, and time in proportion to what each job reads."""
        clock = self.connection.clock
        began_ms, own_ms = clock.now_ms, self._own_ms
        self._own_ms = 0.0
        spent_ms = self._spark_jobs.time_ms(request, own_ms, began_ms)
        if request.job == AUTO_COMPACTION and not spent_ms:
            self.cluster.recorder.compacted_in_no_time(self.record.writer_group)
        try:
            spent_ms += yield from self._works(request, spent_ms)
        except (WriterCrashed, StoreRefused):
            self.record.computed(clock.now_ms - began_ms, clock.now_ms)
            raise
        self.record.computed(spent_ms, clock.now_ms)
        return None

    def _works(self, request: Compute, work_ms: float) -> Waiting[float]:
        """Let the time of a job pass. Returns by how many ms refused requests prolonged it.

        Raises `StoreRefused`, `LimitsBite`, `WriterCrashed`.
        """
        written, self._written = self._written, []
        if self.connection.clock.kernel.patient or self.cluster.processor is not None:
            return self._works_in_time(self._pulses(request, written, work_ms), work_ms)
        return self._works_ahead(request, written, work_ms)

    def _works_ahead(
        self, request: Compute, written: Sequence[str], work_ms: float
    ) -> Waiting[float]:
        """`_works` where requests for data files are only counted, on a processor of its own."""
        began_ms = self.connection.clock.now_ms
        if self._data_requests is not None:
            self._data_requests.pass_ahead(request.paths_read, written, began_ms, work_ms)
        yield from self.connection.sender.life.reach(began_ms + work_ms)
        return 0.0

    def _works_in_time(self, pulses: Sequence[Pulse], work_ms: float) -> Waiting[float]:
        """`_works` where requests for data files come one by one, or the processor is shared.

        Requests come at their shares of the work. A shared processor may take longer for the work.
        """
        life, clock = self.connection.sender.life, self.connection.clock
        is_shared, is_patient = self.cluster.processor is not None, clock.kernel.patient
        began_ms, done_ms, refused_ms = clock.now_ms, 0.0, 0.0
        for number, pulse in enumerate(pulses):
            instant_ms = began_ms + refused_ms + pulse.after_ms
            if is_shared:
                yield from self.cluster.computes(life, pulse.after_ms - done_ms)
                done_ms, instant_ms = pulse.after_ms, clock.now_ms
            else:
                yield from life.reach(max(clock.now_ms, instant_ms))
            if is_patient:
                refused_ms += yield from self._passes(number, pulse)
            else:
                pulse.bucket.refuses(pulse.requests, instant_ms)
        if is_shared:
            yield from self.cluster.computes(life, work_ms - done_ms)
        else:
            yield from life.reach(max(clock.now_ms, began_ms + refused_ms + work_ms))
        return refused_ms

    def _pulses(self, request: Compute, written: Sequence[str], work_ms: float) -> list[Pulse]:
        if self._data_requests is None:
            return []
        return self._data_requests.pulses(request.paths_read, written, work_ms)

    def _passes(self, number: int, pulse: Pulse) -> Waiting[float]:
        """Send requests for data files until all were served. Returns how long that took."""
        sender, clock = self.connection.sender, self.connection.clock
        began_ms = clock.now_ms
        left, refused = pulse.bucket.refuses(pulse.requests, clock.now_ms), 0
        while left:
            share = sender.tape.data_backoff(number, refused)
            wait_ms = share * sender.longest_wait_ms(refused, "a data file's request")
            yield from sender.life.reach(clock.now_ms + wait_ms)
            left, refused = pulse.bucket.refuses(left, clock.now_ms), refused + 1
        return clock.now_ms - began_ms

    def _take_snapshot(self, request: TakeSnapshot) -> Waiting[int]:
        return self.log.take_snapshot(request.starts)

    def _list_winners(self, _: ListWinners) -> Waiting[int]:
        return self.log.list_winners()

    def _read_commit(self, request: ReadCommit) -> Waiting[None]:
        return self.log.read_commit(request.version)

    def after_commit(self, version: int, always_checkpoints: bool = False) -> Waiting[None]:
        """What follows a commit in its writer's thread."""
        return AfterCommit(self.log, version, always_checkpoints).happens()

    def _follow_commit(self, request: FollowCommit) -> Waiting[None]:
        return self.after_commit(request.version, request.always_checkpoints)

    def _read_history(self, _: ReadHistory) -> Waiting[int]:
        return self.log.read_history()

    def _read_state(self, request: ReadState) -> Waiting[None]:
        """Read the state of the snapshot that was taken, or of an earlier version."""
        log, version = self.log, request.version
        segment = log.read
        if version != segment.version:
            yield log.clock.arrive()
            moment = (log.clock.now_ms, log.clock.order)
            segment = Segment(version, log.directory.checkpoint_before(version, moment))
        yield from log.read_state(segment)

    def _get(self, request: Get) -> Waiting[Response]:
        """An object that is no part of the log, such as a deletion vector."""
        key = request.key
        stored = self.cluster.store.objects.get(key)
        body = None if stored is None else stored.body

        def look(_: Moment) -> Reply:
            if body is None:
                return Reply(Missing(), "missing")
            return Reply(Body(body), "found", len(body))

        answer = yield from self.connection.ask(RequestKind.GET, key, look, shared=False)
        response: Response = answer.value
        return response

    def _put(self, request: Put | PutIfAbsent) -> Waiting[PutResult]:
        version = version_of_key(request.key)
        if version is not None and isinstance(request, PutIfAbsent):
            return self.log.attempt(request, version)
        return self._put_object(request)

    def _put_object(self, request: Put | PutIfAbsent) -> Waiting[PutResult]:
        store, kind = self.cluster.store, RequestKind.PUT
        if isinstance(request, PutIfAbsent):
            kind = RequestKind.PUT_IF_ABSENT

        def put(moment: Moment) -> Reply:
            result = store.put_object(request, moment[0])
            return Reply(result, result.value, taken=result is PutResult.ALREADY_EXISTS)

        asked = self.connection.ask(kind, request.key, put, len(request.body), shared=False)
        result: PutResult = (yield from asked).value
        return result

    at_once: ClassVar[Mapping[type, Callable[[Any, Any], Response]]] = {
        ReadClock: _clock,
        NewId: _id,
        ReadRows: _read_rows,
        WriteRows: _write_rows,
        ListTree: _list_tree,
        Delete: _delete,
    }
    in_time: ClassVar[Mapping[type, Callable[[Any, Any], Waiting[Any]]]] = {
        TakeSnapshot: _take_snapshot,
        Put: _put,
        PutIfAbsent: _put,
        Compute: compute,
        ListWinners: _list_winners,
        ReadCommit: _read_commit,
        FollowCommit: _follow_commit,
        ReadState: _read_state,
        ReadHistory: _read_history,
        Get: _get,
    }
