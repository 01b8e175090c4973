"""A transaction's way to the world: requests in, answers out, each in its time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

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
from whitecap.sim.recording.recorder import TransactionRecord
from whitecap.sim.scenario.writers import Compute as ComputeOptions
from whitecap.sim.store.after_commit import AfterCommit
from whitecap.sim.store.cluster import Cluster, WriterCrashed
from whitecap.sim.store.connection import Connection
from whitecap.sim.store.exchange import Answer, StoreRefused
from whitecap.sim.store.kinds import Kind
from whitecap.sim.store.limits import DataRequests
from whitecap.sim.store.log_access import LogAccess
from whitecap.sim.store.log_directory import Moment, Segment
from whitecap.sim.store.log_view import (
    FollowCommit,
    ListWinners,
    ReadCommit,
    ReadHistory,
    ReadState,
    TakeSnapshot,
)
from whitecap.sim.time.kernel import Waiting

GIB = 1024.0**3
MILLION = 1e6


class Client:
    """Answers the requests of one transaction."""

    def __init__(
        self,
        cluster: Cluster,
        connection: Connection,
        log: LogAccess,
        record: TransactionRecord,
        compute: ComputeOptions,
        data_requests: DataRequests | None,
        new_id: Callable[[], str],
    ) -> None:
        self.cluster = cluster
        self.connection = connection
        self.log = log
        self.record = record
        self._compute_options = compute
        self._has_computed = False
        self._data_requests = data_requests
        self._written: list[str] = []
        self.at_once: dict[type, Callable[[Any], Response]] = {
            ReadClock: self._clock,
            NewId: lambda _: new_id(),
            ReadRows: self._read_rows,
            WriteRows: self._write_rows,
            ListTree: self._list_tree,
            Delete: self._delete,
        }

    def perform(self, request: Any) -> Waiting[Response]:
        """Answer a request that takes time. Raises `StoreRefused`, `WriterCrashed`."""
        match request:
            case TakeSnapshot(starts):
                return self.log.take_snapshot(starts)
            case PutIfAbsent(key) if (version := version_of_key(key)) is not None:
                return self.log.attempt(request, version)
            case Compute():
                return self._compute(request)
            case ListWinners():
                return self.log.list_winners()
            case ReadCommit(version):
                return self.log.read_commit(version)
            case FollowCommit(version, always_checkpoints):
                return AfterCommit(self.log, version, always_checkpoints).happens()
            case ReadState(version):
                return self._read_state(version)
            case ReadHistory():
                return self.log.read_history()
            case Get(key):
                return self._get(key)
            case Put() | PutIfAbsent():
                return self._put(request)
        raise AssertionError(f"nobody answers {request}")

    def finish(self) -> Waiting[None]:
        """The transaction has ended: what it held is free."""
        return self.log.let_go()

    # Requests that take no time: data files are part of the job's compute time ------------------

    def _clock(self, _: ReadClock) -> int:
        return self.cluster.wall_ms(self.connection.clock.now_ms)

    def _read_rows(self, request: ReadRows) -> RowsOf | Gone:
        return self.cluster.store.read_rows(request)

    def _list_tree(self, request: ListTree) -> Listing:
        return self.cluster.store.list_tree(request.below)

    def _delete(self, request: Delete) -> None:
        self.cluster.store.delete(request.keys)

    def _write_rows(self, request: WriteRows) -> Written:
        now_ms = self.connection.clock.now_ms
        size_bytes = self.cluster.store.write_rows(request, now_ms)
        self.record.wrote(size_bytes, now_ms)
        if self._data_requests is not None:
            self._written.append(request.key)
        return Written(size_bytes)

    # Requests that take time --------------------------------------------------------------------

    def _compute(self, request: Compute) -> Waiting[Response]:
        """The drawn time once per transaction, and time in proportion to rows and bytes."""
        options = self._compute_options
        size_bytes = request.bytes_read + request.bytes_written
        spent_ms = options.per_million_rows * request.rows_read / MILLION
        spent_ms += options.per_gib * size_bytes / GIB
        if not self._has_computed:
            self._has_computed = True
            spent_ms += self.connection.sender.tape.compute_ms
        clock = self.connection.clock
        began_ms = clock.now_ms
        try:
            spent_ms += yield from self._refused_for(request, spent_ms)
            yield from self.connection.sender.life.reach(began_ms + spent_ms)
        except (WriterCrashed, StoreRefused):
            self.record.computed(clock.now_ms - began_ms, clock.now_ms)
            raise
        self.record.computed(spent_ms, clock.now_ms)
        return None

    def _refused_for(self, request: Compute, spent_ms: float) -> Waiting[float]:
        """How much longer a job takes as its requests for data files are refused, milliseconds.

        They pass in order of time where somebody may be refused, and are only counted where not.
        Raises `StoreRefused`, `LimitsBite`.
        """
        if self._data_requests is None:
            return 0.0
        pulses = self._data_requests.pulses(request.paths_read, self._written, spent_ms)
        self._written = []
        sender, clock = self.connection.sender, self.connection.clock
        began_ms, refused_ms = clock.now_ms, 0.0
        for number, pulse in enumerate(pulses):
            if not sender.kernel.patient:
                pulse.bucket.refuses(pulse.requests, began_ms + pulse.after_ms)
                continue
            yield from sender.life.reach(began_ms + refused_ms + pulse.after_ms)
            left, refused = pulse.bucket.refuses(pulse.requests, clock.now_ms), 0
            while left:
                share = sender.tape.data_backoff(number, refused)
                refused_ms += share * sender.longest_wait_ms(refused, "a data file's request")
                yield from sender.life.reach(began_ms + refused_ms + pulse.after_ms)
                left, refused = pulse.bucket.refuses(left, clock.now_ms), refused + 1
        return refused_ms

    def _read_state(self, version: int) -> Waiting[None]:
        """Read the state of the snapshot that was taken, or of an earlier version."""
        log = self.log
        segment = log.read
        if version != segment.version:
            yield log.clock.arrive()
            moment = (log.clock.now_ms, log.clock.order)
            segment = Segment(version, log.directory.checkpoint_before(version, moment))
        yield from log.read_state(segment)

    def _get(self, key: str) -> Waiting[Response]:
        """An object that is no part of the log, such as a deletion vector."""
        stored = self.cluster.store.objects.get(key)
        body = None if stored is None else stored.body

        def look(_: Moment) -> Answer:
            if body is None:
                return Answer(Missing(), "missing")
            return Answer(Body(body), "found", len(body))

        answer = yield from self.connection.ask(Kind.GET, key, look, shared=False)
        response: Response = answer.value
        return response

    def _put(self, request: Put | PutIfAbsent) -> Waiting[PutResult]:
        store, kind = self.cluster.store, Kind.PUT
        if isinstance(request, PutIfAbsent):
            kind = Kind.PUT_IF_ABSENT

        def put(moment: Moment) -> Answer:
            result = store.put_object(request, moment[0])
            return Answer(result, result.value, taken=result is PutResult.ALREADY_EXISTS)

        asked = self.connection.ask(kind, request.key, put, len(request.body), shared=False)
        result: PutResult = (yield from asked).value
        return result
