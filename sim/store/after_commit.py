"""What follows a commit in the thread that made it: checksum, checkpoint, clean-up of the log.

The commit is visible since its put; all this only delays the writer's next job, and decides when
others find a checksum or a checkpoint. Source: delta-io/delta v4.4.0, OptimisticTransaction.scala:
writeCommitFile, runPostCommitHooks; SnapshotManagement.scala: updateAfterCommit; ChecksumHook,
CheckpointHook, MetadataCleanup.scala.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from msgspec import Struct

from whitecap.engine.log import properties
from whitecap.engine.log.checkpoints.checkpoint import LAST_CHECKPOINT_KEY, checkpoint_key, is_due
from whitecap.engine.log.commit_file import log_key
from whitecap.engine.log.snapshot import Snapshot
from whitecap.sim.store.contents.log_directory import (
    CHECKPOINT_BYTES_PER_ACTION,
    CHECKSUM_BYTES,
    STAGED_COMMITS_KEY,
    Moment,
    Segment,
    checksum_key,
)
from whitecap.sim.store.exchange import DONE, Reply, StoreRefused
from whitecap.sim.store.log_access import LogAccess
from whitecap.sim.store.requests.kinds import RequestKind
from whitecap.sim.time.kernel import Waiting

_RENAMES = (RequestKind.COPY, RequestKind.RENAME)


class AfterCommit(Struct, frozen=True):
    """One commit's aftermath."""

    log: LogAccess
    version: int
    always_checkpoints: bool = False

    def happens(self) -> Waiting[None]:
        """All of it, in Delta's order."""
        log, version = self.log, self.version
        is_derived = yield from self._derive()
        if log.cluster.is_shared and not log.holds:
            yield from log.hold()
        installed = yield from self._install(is_derived)
        snapshot = log.cluster.history.snapshot(version)
        is_due_now = self.always_checkpoints or is_due(version, snapshot.configuration)
        if is_due_now and installed is not None:
            yield from log.read_state(installed)  # commitStats asks for the files
        if log.cluster.is_shared:
            yield from log.let_go()
        for hook in self._hooks(snapshot, installed, is_derived, is_due_now):
            try:
                yield from hook
            except StoreRefused:
                continue  # a hook that fails is logged, and the commit stays

    def _hooks(
        self, snapshot: Snapshot, installed: Segment | None, is_derived: bool, is_due_now: bool
    ) -> Iterator[Waiting[None]]:
        if installed is not None:
            yield self._write_checksum(installed, is_derived)
        if is_due_now:
            yield self._write_checkpoint(snapshot, installed)
            if properties.EXPIRED_LOG_CLEANUP.of(snapshot.configuration):
                yield self._clean_up(snapshot)

    def _derive(self) -> Waiting[bool]:
        """Whether the checksum can be made of the one before. Source: incrementallyDeriveChecksum.

        Where nobody was in the way that is the read snapshot's, and without one its state is read;
        else it is the last winner's, which may not be there yet.
        """
        log = self.log
        if self.version != log.read.version + 1:
            return (yield from log.read_checksum(self.version - 1))
        if not log.read_has_checksum:
            yield from log.read_state(log.read)
        return True

    def _install(self, is_derived: bool) -> Waiting[Segment | None]:
        """What the snapshot after the commit is made of, if it is the commit's own.

        Appended in memory, unless others wait for the lock: then the log is listed, for them as
        well. Source: SnapshotManagement.scala: updateAfterCommit, createSnapshotAfterCommit.
        """
        log, delta_log = self.log, self.log.delta_log
        if log.cluster.is_shared:
            yield from log.meet()
        if delta_log.segment.version >= self.version:
            return None
        if delta_log.lock.is_wanted:
            newest = yield from log.refresh()
            return newest if newest.version == self.version else None
        segment = Segment(self.version, delta_log.segment.checkpoint)
        if is_derived:
            yield from log.replace_snapshot(segment, has_checksum=True)
        else:
            yield from log.install(segment)
        return segment

    def _write_checksum(self, installed: Segment, is_derived: bool) -> Waiting[None]:
        """By temporary file and rename: readable when that takes effect. Source: ChecksumHook."""
        log, version = self.log, self.version
        if not is_derived:
            yield from log.read_state(installed)
        kinds, appears = log.requests.checksum, log.directory.checksum_appears

        def effect(moment: Moment) -> Reply:
            appears(version, moment)
            return DONE

        effects = {_appearance(kinds): effect}
        yield from log.connection.ask_all(kinds, checksum_key(version), effects, CHECKSUM_BYTES)

    def _write_checkpoint(self, snapshot: Snapshot, installed: Segment | None) -> Waiting[None]:
        """The state in one Parquet file, by one task; then the pointer to it.

        Source: Checkpoints.scala: checkpointAndCleanUpDeltaLog.
        """
        log, version = self.log, self.version
        if installed is not None:
            yield from log.read_state(installed)
        else:
            yield from log.read_history(version)
        yield from log.passes(log.cluster.profile.spark.job)
        actions = snapshot.num_files + len(snapshot.tombstones) + 2
        directory, key = log.directory, checkpoint_key(version)

        def appears(moment: Moment) -> Reply:
            directory.checkpoint_appears(version, actions, moment)
            return DONE

        def points(moment: Moment) -> Reply:
            directory.pointer_appears(moment)
            return DONE

        size_bytes = actions * CHECKPOINT_BYTES_PER_ACTION
        yield from log.connection.ask(RequestKind.PUT, key, appears, size_bytes, shared=False)
        yield from log.connection.read((RequestKind.HEAD,), key, size_bytes)
        last = len(log.requests.pointer) - 1
        yield from log.connection.ask_all(log.requests.pointer, LAST_CHECKPOINT_KEY, {last: points})

    def _clean_up(self, snapshot: Snapshot) -> Waiting[None]:
        """Delete expired files, one after the other. Source: MetadataCleanup.cleanUpExpiredLogs."""
        log, cluster = self.log, self.log.cluster
        retention_ms = log.directory.kept_ms(snapshot.configuration)
        expired = 0

        def finds(moment: Moment) -> None:
            nonlocal expired
            kept_ms = cluster.wall_ms(moment[0]) - retention_ms
            expired += log.directory.take_expired(moment, int(kept_ms), cluster.store.epoch_ms)

        def goes(moment: Moment) -> Reply:
            log.directory.object_goes(moment)
            return DONE

        yield from log.read_pointer()
        yield from log.listing.list_log(finds)
        last = len(log.requests.delete) - 1
        for _ in range(expired):
            yield from log.connection.ask_all(log.requests.delete, log_key(0), {last: goes})
        yield from log.connection.read((RequestKind.HEAD, RequestKind.LIST), STAGED_COMMITS_KEY, 0)


@lru_cache
def _appearance(kinds: tuple[RequestKind, ...]) -> int:
    """Which of some requests makes an object readable: the first rename, else the first put."""
    renames = [place for place, kind in enumerate(kinds) if kind in _RENAMES]
    return min(renames or [place for place, kind in enumerate(kinds) if kind is RequestKind.PUT])
