"""What a Delta transaction asks of the store for its table's log, in Delta's order.

Source: delta-io/delta v4.4.0: SnapshotManagement, OptimisticTransaction, Checksum.scala.
A snapshot is one listing of the whole log and at most one checksum; files and applications of it
are read, in parallel, only for commands that ask for them; after a lost race one listing, and the
winners one by one. How the log is listed is in `sim/store/listing.py`, what follows a commit in
`sim/store/after_commit.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from msgspec import Struct

from whitecap.engine.log.checkpoints.checkpoint import LAST_CHECKPOINT_KEY
from whitecap.engine.log.commit_file import log_key
from whitecap.engine.storage.requests import PutIfAbsent, PutResult
from whitecap.engine.transaction.lost_reply import LostReply
from whitecap.sim.recording.records import TransactionRecord
from whitecap.sim.spark.sharing import Mutex
from whitecap.sim.store.cluster import Cluster, DeltaLog, WriterCrashed
from whitecap.sim.store.connection import Connection
from whitecap.sim.store.contents.log_directory import (
    CHECKSUM_BYTES,
    NO_SEGMENT,
    LogDirectory,
    Moment,
    Segment,
    checksum_key,
)
from whitecap.sim.store.coordinator import CommitAttempt, Coordinator, LogRequests
from whitecap.sim.store.exchange import StoreRefused
from whitecap.sim.store.listing import LogListing
from whitecap.sim.store.passing import Passing
from whitecap.sim.store.requests.kinds import RequestKind
from whitecap.sim.time.kernel import Clock, Waiting, Waits


class LogAccess(Struct):
    """One transaction's requests for the log. `read` is the segment that it started from.

    `delta_log` is what the cluster knew when it began: a driver that is started anew knows nothing.
    """

    cluster: Cluster
    connection: Connection
    record: TransactionRecord
    requests: LogRequests
    coordinator: Coordinator
    listing: LogListing
    delta_log: DeltaLog
    directory: LogDirectory
    clock: Clock
    read: Segment = NO_SEGMENT
    read_has_checksum: bool = True

    # Snapshots ----------------------------------------------------------------------------------

    def take_snapshot(self, starts: bool) -> Waiting[int]:
        """Learn the newest version, for the start of a transaction or to look at the table.

        The JVM's snapshot lock is held throughout. Source: SnapshotManagement.scala: update.
        """
        is_shared = self.cluster.is_shared
        if is_shared:
            yield from self.let_go()
            yield from self.hold()
        if self.delta_log.is_cold:
            yield from self.read_pointer()
            self.delta_log.is_cold = False
        segment, _ = yield from self.listing.list_log(self._notes_snapshot if starts else None)
        if segment != self.delta_log.segment:
            yield from self.install(segment)
        if starts:
            self.read, self.read_has_checksum = segment, self.delta_log.has_checksum
            self.record.read_version = segment.version
        if is_shared:
            yield from self.let_go()
        return segment.version

    def _notes_snapshot(self, moment: Moment) -> None:
        self.record.snapshot_at_ms = moment[0]
        self.record.read_version = self.directory.newest

    def refresh(self) -> Waiting[Segment]:
        """List the log and make a snapshot of what is new, with the lock held already."""
        segment, _ = yield from self.listing.list_log()
        if segment != self.delta_log.segment:
            yield from self.install(segment)
        return segment

    def install(self, segment: Segment) -> Waiting[None]:
        """Make a snapshot of a new segment: protocol and metadata at once, from the checksum.

        Without one a job reads them. Source: SnapshotManagement.scala: createSnapshot.
        """
        has_checksum = segment.version < 0 or (yield from self.read_checksum(segment.version))
        if not has_checksum:
            yield from self._read_files(segment, whole_checkpoint=False)
        yield from self.replace_snapshot(segment, has_checksum)

    def replace_snapshot(self, segment: Segment, has_checksum: bool) -> Waiting[None]:
        """Put a snapshot in the place of the installed one, once nobody reads that one's state.

        Source: SnapshotManagement.scala: replaceSnapshot; StateCache.scala: uncache, which waits
        for the monitor that is held while a state is read.
        """
        if not self.cluster.is_shared:
            self.delta_log.install(segment, has_checksum)
            return
        replaced = self.delta_log.state_lock
        yield from self.connection.sender.life.holds(replaced)
        self.delta_log.install(segment, has_checksum)
        self.delta_log.state_lock = Mutex()
        yield from replaced.release(self.clock)

    def read_checksum(self, version: int) -> Waiting[bool]:
        """Whether a version's checksum is there; if so it is read."""
        moment = self.directory.checksum(version)
        passing = self.connection.passing
        if moment is not None and passing is not None:
            return passing.if_there(self.requests.read, moment, CHECKSUM_BYTES)
        checksum = partial(self.directory.checksum, version)
        key = checksum_key(version)
        return (yield from self._read_if_there(key, checksum, CHECKSUM_BYTES))

    def read_pointer(self) -> Waiting[bool]:
        """Read `_last_checkpoint`, if it is there."""
        return self._read_if_there(LAST_CHECKPOINT_KEY, lambda: self.directory.pointer, 0)

    def _read_if_there(
        self, key: str, appears: Callable[[], Moment | None], size_bytes: int
    ) -> Waiting[bool]:
        kinds = self.requests.read
        size = size_bytes if kinds[0] is RequestKind.GET else 0
        if not (yield from self.connection.is_there(kinds[0], key, appears, size)):
            return False
        yield from self.connection.read(kinds[1:], key, size_bytes)
        return True

    def read_state(self, segment: Segment) -> Waiting[None]:
        """Read the whole state, unless it was read before and no newer snapshot came since.

        Source: Snapshot.scala: stateReconstruction, cachedState.
        """
        yield from self.meet()
        if self.delta_log.state_of == segment:
            return
        if self.cluster.is_shared and self.delta_log.segment == segment:
            yield from self._share_state(segment)
            return
        yield from self._read_files(segment, whole_checkpoint=True)
        if self.delta_log.segment == segment:
            self.delta_log.state_of = segment

    def _share_state(self, segment: Segment) -> Waiting[None]:
        """One transaction of the JVM reads a state; who asks for it meanwhile waits, and has it.

        If a newer snapshot came first, everybody reads it alone. Source: StateCache.scala:
        CachedDS (its query runs inside the monitor `cached`), Snapshot.scala: cachedState (a lazy
        value), BlockInfoManager.scala: lockNewBlockForWriting.
        """
        delta_log, lock = self.delta_log, self.delta_log.state_lock
        yield from self.connection.sender.life.holds(lock)
        is_replaced = delta_log.state_lock is not lock
        try:
            if not is_replaced and delta_log.state_of != segment:
                yield from self._read_files(segment, whole_checkpoint=True)
                yield from self.meet()
                delta_log.state_of = segment
        except (WriterCrashed, StoreRefused):
            yield from lock.release(self.clock)
            raise
        yield from lock.release(self.clock)
        if is_replaced:
            yield from self._read_files(segment, whole_checkpoint=True)

    def _read_files(self, segment: Segment, whole_checkpoint: bool) -> Waiting[None]:
        """A job of Spark's over the checkpoint and the commits after it."""
        sizes = self.directory.sizes_of(segment, whole_checkpoint)
        if sizes:
            spark = self.cluster.profile.spark
            yield from self.passes(spark.job_ms(whole_state=whole_checkpoint))
            keys = partial(self.directory.keys_of, segment)
            yield from self.connection.read_in_parallel(keys, sizes, spark.parallel_reads)

    # Attempts -----------------------------------------------------------------------------------

    def attempt(self, request: PutIfAbsent, version: int) -> Waiting[PutResult]:
        """Try to take a version. Source: FileSystemBasedCommitCoordinatorClient.doCommit."""
        if self.requests.commit_lock and not self.holds:
            yield from self.hold()
        before_put, after_put = self.requests.before_put, self.requests.after_put
        if before_put:
            yield from self.connection.read(before_put, request.key, 0)
        attempt = self.cluster.recorder.attempt(self.record, version, self.clock.now_ms)
        self.record.last_body = request.body
        was_in_doubt = self.record.put_in_doubt
        result = yield from self.coordinator.take(CommitAttempt(request, version, attempt))
        attempt.ends(result, self.clock.now_ms)
        if self.record.put_in_doubt:
            self._is_known(result, was_in_doubt)
        if result is PutResult.CREATED:
            self.record.has_landed = True
            if after_put:
                yield from self.connection.read(after_put, request.key, len(request.body))
        return result

    def _is_known(self, result: PutResult, was_in_doubt: bool) -> None:
        """Note whether it is still in doubt if an earlier put of this transaction landed.

        After a success it is not. Where the key is taken it is, if the client does not look whose
        commit is there: it may be its own.
        """
        looks = self.cluster.profile.client.on_lost_reply is not LostReply.RESEND
        match result:
            case PutResult.CREATED:
                self.record.put_in_doubt = False
            case PutResult.ALREADY_EXISTS:
                self.record.put_in_doubt = was_in_doubt and not looks

    def list_winners(self) -> Waiting[int]:
        """The newest version after a lost race; what the JVM knows does not move by it.

        Source: OptimisticTransaction.scala: getConflictingVersions.
        """
        segment, _ = yield from self.listing.list_log()
        return segment.version

    def read_commit(self, version: int) -> Waiting[None]:
        """Read one commit file whole, as each winner is."""
        size_bytes = self.directory.sizes[version]
        yield from self.connection.read(self.requests.read, log_key(version), size_bytes)

    def pass_commit(self, passing: Passing, version: int) -> None:
        """`read_commit` where requests are passed."""
        passing.series(self.requests.read, self.directory.sizes[version])

    def read_history(self, version: int | None = None) -> Waiting[int]:
        """List the log and read the state of a version, or of the newest; returns the newest."""
        newest, moment = yield from self.listing.list_log()
        segment = newest
        if version is not None and version < newest.version:
            segment = Segment(version, self.directory.checkpoint_before(version, moment))
        yield from self._read_files(segment, whole_checkpoint=True)
        return newest.version

    # What transactions of one JVM share ---------------------------------------------------------

    @property
    def holds(self) -> bool:
        """Whether this transaction holds the lock of its JVM."""
        return self.delta_log.lock.held_by(self.clock)

    def hold(self) -> Waiting[None]:
        """Acquire the JVM's lock, if others share it. Raises `WriterCrashed`."""
        if self.cluster.is_shared:
            yield from self.connection.sender.life.holds(self.delta_log.lock)

    def let_go(self) -> Waiting[None]:
        """Release the JVM's lock."""
        if self.holds:
            yield from self.delta_log.lock.release(self.clock)

    def meet(self) -> Waiting[None]:
        """Wait for the kernel: what the JVM's transactions share changes in order of time."""
        if self.cluster.is_shared:
            yield self.clock.arrive()

    def passes(self, spent_ms: float) -> Waits:
        """Let time pass for a job of Spark's. Raises `WriterCrashed`."""
        return self.connection.sender.life.reach(self.clock.now_ms + spent_ms)
