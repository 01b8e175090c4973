"""One Spark cluster: what the transactions of its writers share, and whether its driver is up."""

from __future__ import annotations

import math
from collections.abc import Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from whitecap.engine.log.file_counts import FileCounts
from whitecap.sim.recording.recorder import Recorder
from whitecap.sim.scenario.store import StoreSection
from whitecap.sim.spark.sharing import Mutex, Processor, Slots
from whitecap.sim.spark.spark_jobs import FactorAt
from whitecap.sim.store.contents.history import CommitHistory
from whitecap.sim.store.contents.log_directory import NO_SEGMENT, Segment
from whitecap.sim.store.contents.objects import FakeStore
from whitecap.sim.store.requests.faults import Crashes, next_crash
from whitecap.sim.time.kernel import Clock, Kernel, Waiting, Waits

PATH_LOCKS_KEPT = 64
"""Far more versions than the transactions of one driver write at the same time."""


class WriterCrashed(Exception):
    """The writer's driver died while its transaction waited, or its job was cancelled."""


class DeltaLog(Struct):
    """What one JVM knows of the table's log. Source: DeltaLog.scala, SnapshotManagement.scala.

    `segment` is that of the installed snapshot, `has_checksum` whether its checksum was read or
    derived, `state_of` the segment whose state was read last and is still kept. `is_cold`: nothing
    was read yet. `file_counts`: what it has added to partitions. `state_lock` is held by who reads
    the state of the installed snapshot.
    """

    segment: Segment = NO_SEGMENT
    has_checksum: bool = True
    state_of: Segment | None = None
    is_cold: bool = True
    file_counts: FileCounts = field(default_factory=FileCounts)
    lock: Mutex = field(default_factory=Mutex)
    state_lock: Mutex = field(default_factory=Mutex)
    _path_locks: dict[int, Mutex] = field(default_factory=dict)

    def path_lock(self, version: int) -> Mutex:
        """The lock for writing a version's file; old ones that nobody wants are forgotten.

        Source: delta-io/delta v4.4.0, storage/internal/PathLock.java.
        """
        locks = self._path_locks
        if version not in locks and len(locks) >= PATH_LOCKS_KEPT:
            del locks[min(locks)]
        return locks.setdefault(version, Mutex())

    def install(self, segment: Segment, has_checksum: bool) -> None:
        """A newer snapshot takes the place of the old one, whose state is forgotten."""
        self.segment = segment
        self.has_checksum = has_checksum
        self.state_of = None


class Cluster(Struct):
    """One Spark driver and what its writers share, as it deals with one table.

    `is_shared`: several transactions may run in it at the same time. `of_tables` is the same driver
    for each table that its writers write, this one included. `slots`: how many transactions may run
    at a time. `processor`: where jobs slow each other down. `loads`: by how much jobs take longer
    at an instant.
    """

    kernel: Kernel
    store: FakeStore
    history: CommitHistory
    profile: StoreSection
    recorder: Recorder
    crashes: Sequence[Crashes] = ()
    is_shared: bool = False
    slots: Slots | None = None
    processor: Processor | None = None
    loads: Sequence[FactorAt] = ()
    delta_log: DeltaLog = field(default_factory=DeltaLog)
    down_until_ms: float = 0.0
    clock_skew_ms: float = 0.0
    of_tables: list[Cluster] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.of_tables.append(self)

    def of_table(self, store: FakeStore, history: CommitHistory) -> Cluster:
        """The same driver as it deals with the table in another store."""
        for each in self.of_tables:
            if each.store is store:
                return each
        return replace(self, store=store, history=history, delta_log=DeltaLog())

    def wall_ms(self, now_ms: float) -> int:
        """What its driver's clock shows at a simulated instant, epoch milliseconds."""
        return self.store.epoch_ms + int(now_ms + self.clock_skew_ms)

    def has_died_until(self, now_ms: float) -> None:
        """Let the driver have died when it did, also while no transaction ran in it.

        Since it is up it dies at the first crash; those that come while it is down strike nothing.
        """
        while self.crashes:
            crash_ms, up_again_ms = next_crash(self.crashes, self.down_until_ms)
            if crash_ms > now_ms:
                return
            self.crashed(up_again_ms)

    def is_up(self, clock: Clock, until_ms: float = math.inf) -> Waiting[None]:
        """Wait until the driver is up, until an instant at most."""
        self.has_died_until(clock.now_ms)
        while clock.now_ms < min(self.down_until_ms, until_ms):
            clock.now_ms = min(self.down_until_ms, until_ms)
            yield clock.arrive()

    def computes(self, life: Life, work_ms: float) -> Waiting[None]:
        """Let the time pass that a job of Spark's takes. Raises `WriterCrashed`."""
        clock = life.clock
        if self.processor is None or not work_ms:
            yield from life.reach(clock.now_ms + work_ms)
            return
        yield from self.processor.compute(clock, work_ms, life.crash_ms)
        yield from life.reach(clock.now_ms)

    def starts_anew(self) -> None:
        """An application starts again: in a new driver, unless others use this one."""
        if not self.is_shared:
            self._forgets()

    def crashed(self, up_again_ms: float) -> None:
        """The driver died and what it knew is gone. Called by each of its transactions."""
        if self.down_until_ms < up_again_ms:
            for each in self.of_tables:
                each.down_until_ms = up_again_ms
            self._forgets()

    def _forgets(self) -> None:
        """A new driver knows no table's log."""
        for each in self.of_tables:
            each.delta_log = DeltaLog()


class Life:
    """How long one transaction lives: until its driver dies or its job's deadline passes.

    `crash_ms` is the earlier of both, `is_cancelled` whether that is the deadline.
    """

    __slots__ = ("_cluster", "_deadline_ms", "_up_again_ms", "clock", "crash_ms")

    def __init__(self, cluster: Cluster, clock: Clock, deadline_ms: float = math.inf) -> None:
        self._cluster = cluster
        self._deadline_ms = deadline_ms
        self.clock = clock
        self.crash_ms, self._up_again_ms = deadline_ms, math.inf
        if cluster.crashes:
            crash_ms, self._up_again_ms = next_crash(cluster.crashes, clock.now_ms)
            self.crash_ms = min(crash_ms, deadline_ms)

    @property
    def can_end(self) -> bool:
        """Whether the transaction can be cut off."""
        return bool(self._cluster.crashes) or self._deadline_ms < math.inf

    @property
    def is_cancelled(self) -> bool:
        """Whether its job's deadline is what ends it."""
        return self.crash_ms == self._deadline_ms

    def dies(self, restart_ms: float) -> None:
        """Its driver dies now, and is back after some time."""
        self.crash_ms = self.clock.now_ms
        self._up_again_ms = self.crash_ms + restart_ms

    def of_task(self, number: int) -> Life:
        """The life of one of the transaction's parallel tasks."""
        life = Life(self._cluster, self.clock.of_task(number), self._deadline_ms)
        life.crash_ms = self.crash_ms
        return life

    def of_thread(self, number: int) -> Life:
        """The life of what the driver does beside the transaction, whatever becomes of the job."""
        return Life(self._cluster, self.clock.of_task(number))

    def reach(self, instant_ms: float) -> Waits:
        """Let time pass. Raises `WriterCrashed` if the driver dies before."""
        if instant_ms >= self.crash_ms:
            self.clock.now_ms = self.crash_ms
            raise WriterCrashed
        return self.clock.reach(instant_ms)

    def holds(self, lock: Mutex) -> Waiting[None]:
        """Acquire a lock of the driver. Raises `WriterCrashed` if the driver dies before."""
        is_held = yield from lock.acquire(self.clock, self.crash_ms)
        if self.clock.now_ms < self.crash_ms:
            return
        if is_held:
            yield from lock.release(self.clock)
        raise WriterCrashed

    def ends(self) -> Waiting[None]:
        """End the transaction; if its driver died, the driver forgets what it knew."""
        yield self.clock.arrive()
        if not self.is_cancelled:
            self._cluster.crashed(self._up_again_ms)
