"""What statements of a run apart did for the log besides their own work, told from its files.

Where the newest version has no checksum yet, whoever takes a snapshot of it reads protocol and
metadata by a job of Spark's; who commits after it cannot derive a checksum either, so that it reads
these and the whole state. How often that happens depends on how close commits follow each other,
so it is another number where statements are refused; the simulator has the same rules
(`sim/store/after_commit.py`) and is only told how long each job takes. Source: delta-io/delta
v4.4.0, SnapshotManagement.scala: createSnapshot; OptimisticTransaction.scala:
incrementallyDeriveChecksum; ChecksumHook, CheckpointHook.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from whitecap.engine.log.checkpoints.checkpoint import is_due
from whitecap.sim.freerun.statements import TimedStatement
from whitecap.sim.freerun.workloads import WORKLOAD_KINDS


class LogJobs(Struct, frozen=True):
    """How many jobs read protocol and metadata, how many the state, how many files were written."""

    metadata: int = 0
    states: int = 0
    files: int = 0


NONE = LogJobs()


class LogWork(Struct, frozen=True):
    """The jobs of a statement before it has its snapshot, from there to its commit, and after it.

    `checksum_ms` is how long after its commit its checksum was there.
    """

    before: LogJobs = NONE
    within: LogJobs = NONE
    after: LogJobs = NONE
    checksum_ms: float | None = None
    is_checkpoint: bool = False

    def scaled(self, factor: float) -> LogWork:
        """The same on a machine of another speed."""
        checksum_ms = None if self.checksum_ms is None else self.checksum_ms * factor
        return replace(self, checksum_ms=checksum_ms)

    @property
    def is_plain(self) -> bool:
        """Whether nothing but a checksum followed the commit."""
        return not (self.after.metadata or self.after.states)


class LogFiles:
    """The versions of a run apart, and when each one's checksum was there.

    Versions that are older than the run have always had theirs.
    """

    def __init__(self, statements: Sequence[TimedStatement]) -> None:
        commits = [each for each in statements if each.version is not None]
        self._commits: Mapping[int | None, TimedStatement] = {
            each.version: each for each in commits
        }

    def work_of(self, statement: TimedStatement, previous: TimedStatement | None) -> LogWork:
        """What a statement did that its thread ran after `previous`."""
        version, read_version = statement.version, statement.read_version
        decided_ms = statement.decided_ms
        if version is None or read_version is None or decided_ms is None:
            return LogWork()
        reads_state = WORKLOAD_KINDS[statement.kind].reads_state
        is_own = previous is not None and previous.version == read_version
        is_missing = not is_own and not self._has_checksum(read_version, statement.begun_ms)
        before = LogJobs(metadata=int(is_missing))
        within = LogJobs(states=int(reads_state))
        if WORKLOAD_KINDS[statement.kind].snapshot_first:
            before, within = NONE, LogJobs(before.metadata, within.states)
        is_first = read_version == version - 1
        is_derived = is_first or self._has_checksum(version - 1, decided_ms)
        checkpoints = is_due(version, {})
        states = int(is_first and is_missing and not reads_state)
        states += checkpoints + int(checkpoints or not is_derived)
        after = LogJobs(int(not is_derived), states, 3 if checkpoints else 1)
        checksum_ms = None if statement.checksum_ms is None else statement.checksum_ms - decided_ms
        return LogWork(before, within, after, checksum_ms, checkpoints)

    def _has_checksum(self, version: int, at_ms: float) -> bool:
        commit = self._commits.get(version)
        if commit is None:
            return True
        return commit.checksum_ms is not None and commit.checksum_ms <= at_ms
