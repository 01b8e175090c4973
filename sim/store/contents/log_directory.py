"""The table's `_delta_log` as a listing shows it: versions, checksums, checkpoints, and how many.

When a commit lands, the instant at which its checksum will be readable can be drawn, and so can
that of a checkpoint: both are kept here ahead of time, and a reader compares instants instead of
waiting. What is not decided yet is unknown: then the reader has to wait, and look.
"""

from __future__ import annotations

import math
from array import array
from bisect import insort
from heapq import heappop, heappush

from msgspec import Struct, field
from pyroaring import BitMap

from whitecap.engine.log import properties
from whitecap.engine.log.checkpoints.checkpoint import checkpoint_key
from whitecap.engine.log.commit_file import LOG_DIRECTORY, log_key
from whitecap.engine.log.properties import Configuration
from whitecap.sim.quantities.units import DAY_MS

Moment = tuple[float, int]
"""An instant in simulated milliseconds, and the order of who acts in it."""

ALWAYS: Moment = (-math.inf, 0)
NEVER_THERE: Moment = (math.inf, 0)

STAGED_COMMITS_KEY = f"{LOG_DIRECTORY}/_staged_commits/"

CHECKSUM_BYTES = 2_000
"""Roughly: protocol, metadata, histogram and counts; the list of files of small tables left out."""

CHECKSUMS_KEPT = 4096
"""Checksums whose instants are kept: far more than are written at the same time."""

CHECKPOINT_BYTES_PER_ACTION = 150
"""45 million files made a checkpoint of 6.5 GB (github.com/apache/incubator-xtable pull 861)."""


def checksum_key(version: int) -> str:
    """The storage key of a version's checksum."""
    return log_key(version).removesuffix(".json") + ".crc"


class Segment(Struct, frozen=True):
    """What a snapshot is made of: the newest version, and the newest checkpoint (-1: none)."""

    version: int = -1
    checkpoint: int = -1


NO_SEGMENT = Segment()
"""There is no table."""


class PastDays(Struct):
    """What a past rate of commits left in the log: as many objects for every day that is kept.

    Days are counted since 1970.
    """

    objects_per_day: int
    oldest_kept: int

    def expired(self, first_kept: int) -> int:
        """How many objects are older than the first day to keep; they are left to who asked."""
        days = max(0, first_kept - self.oldest_kept)
        self.oldest_kept += days
        return days * self.objects_per_day


class LogDirectory(Struct):
    """The log's files besides what they hold.

    `retention_ms`: how long it keeps commits as long as no property of the table says it; `None`
    for Delta's default.
    """

    sizes: array[int] = field(default_factory=lambda: array("q"))
    landed_at_ms: array[float] = field(default_factory=lambda: array("d"))
    _checksums: dict[int, Moment] = field(default_factory=dict)
    _old_checksums: BitMap = field(default_factory=BitMap)
    _checkpoints: list[tuple[int, Moment]] = field(default_factory=list)
    _checkpoint_bytes: dict[int, int] = field(default_factory=dict)
    _objects: int = 0
    _past_objects: int = 0
    _past_days: PastDays | None = None
    _changes: list[tuple[Moment, int]] = field(default_factory=list)
    _expired_below: int = 0
    retention_ms: float | None = None
    pointer: Moment | None = None
    """When `_last_checkpoint` was first there; `None` as long as that is not decided."""
    newest: int = -1
    """The newest version, -1 without any."""

    def landed(self, version: int, size_bytes: int, at_ms: float, is_listed: bool = True) -> None:
        """A commit file took effect; without put-if-absent perhaps in another one's place.

        One that is not listed is only staged.
        """
        if version == self.newest + 1:
            self.newest = version
            self.sizes.append(size_bytes)
            self.landed_at_ms.append(at_ms)
            self._objects += is_listed
        else:
            self.sizes[version] = size_bytes

    def starts(self, with_checkpoint: bool, actions: int) -> None:
        """What is there belongs to the beginning: its checksums, and perhaps a checkpoint."""
        for version in range(self.newest + 1):
            self.checksum_appears(version, ALWAYS)
        if with_checkpoint:
            self.checkpoint_appears(self.newest, actions, ALWAYS)
            self.pointer_appears(ALWAYS)

    def has_a_past(self, objects: int, days: PastDays | None = None) -> None:
        """Before the beginning there were commits too: so many objects of theirs, which expire by
        `days` if they do."""
        self._past_objects, self._past_days = objects, days

    def kept_ms(self, configuration: Configuration) -> float:
        """How long commits are kept, by a table's properties at the time."""
        is_stated = properties.LOG_RETENTION_MS.key in configuration
        if self.retention_ms is not None and not is_stated:
            return self.retention_ms
        return properties.LOG_RETENTION_MS.of(configuration)

    # Files that appear later than their commit, or go ------------------------------------------

    def checksum(self, version: int) -> Moment | None:
        """When a version's checksum is readable; `None` as long as that is not decided."""
        moment = self._checksums.get(version)
        if moment is None and version in self._old_checksums:
            return ALWAYS
        return moment

    def checksum_appears(self, version: int, moment: Moment) -> None:
        """A version's checksum will be readable from a moment on."""
        self._checksums[version] = moment
        heappush(self._changes, (moment, 1))

    def checkpoint_appears(self, version: int, actions: int, moment: Moment) -> None:
        """A checkpoint will be there from a moment on."""
        self._checkpoint_bytes[version] = actions * CHECKPOINT_BYTES_PER_ACTION
        insort(self._checkpoints, (version, moment))
        heappush(self._changes, (moment, 1))

    def pointer_appears(self, moment: Moment) -> None:
        """`_last_checkpoint` is written, for the first time or over another one.

        A writer may tell of it ahead of another one who is the first after all.
        """
        first = self.pointer
        if first is not None and first <= moment:
            return
        self.pointer = moment
        heappush(self._changes, (moment, 1))
        if first is not None:
            heappush(self._changes, (first, -1))

    def object_appears(self, moment: Moment) -> None:
        """A staged commit file is published."""
        heappush(self._changes, (moment, 1))

    def object_goes(self, moment: Moment) -> None:
        """One expired file is deleted."""
        heappush(self._changes, (moment, -1))

    # What a listing shows -----------------------------------------------------------------------

    def count(self, moment: Moment) -> int:
        """How many objects there are. Moments must not go back."""
        changes = self._changes
        while changes and changes[0][0] <= moment:
            self._objects += heappop(changes)[1]
        if len(self._checksums) > CHECKSUMS_KEPT:
            self._forget_instants(moment)
        return self._past_objects + self._objects

    def _forget_instants(self, moment: Moment) -> None:
        """Of checksums that nobody can be ahead of any more it is enough that they are there."""
        old = [version for version, at in self._checksums.items() if at <= moment]
        self._old_checksums.update(old)
        for version in old:
            del self._checksums[version]

    def segment(self, moment: Moment) -> Segment:
        """The newest version and checkpoint, now that the moment has come."""
        for version, at in reversed(self._checkpoints):
            if at <= moment:
                return Segment(self.newest, version)
        return Segment(self.newest)

    def checkpoint_before(self, version: int, moment: Moment) -> int:
        """The newest checkpoint, at a moment, of a version or an earlier one; -1 without any."""
        there = (v for v, at in reversed(self._checkpoints) if v <= version and at <= moment)
        return next(there, -1)

    def sizes_of(self, segment: Segment, whole_checkpoint: bool) -> list[int]:
        """How many bytes the files have that a segment's state is made of.

        Of a checkpoint, one may read protocol and metadata alone.
        """
        sizes = self.sizes[segment.checkpoint + 1 : segment.version + 1].tolist()
        if segment.checkpoint < 0:
            return sizes
        return [self._checkpoint_bytes[segment.checkpoint] if whole_checkpoint else 0, *sizes]

    def keys_of(self, segment: Segment) -> list[str]:
        """The keys of these files, in the same order."""
        keys = [] if segment.checkpoint < 0 else [checkpoint_key(segment.checkpoint)]
        return keys + [log_key(at) for at in range(segment.checkpoint + 1, segment.version + 1)]

    def take_expired(self, moment: Moment, kept_ms: int, epoch_ms: int) -> int:
        """How many files are older than the day of `kept_ms`, and below the last checkpoint.

        Epoch milliseconds; `epoch_ms` is simulated instant 0. Who asks first deletes them.
        Source: MetadataCleanup.scala: listExpiredDeltaLogs.
        """
        first_kept = kept_ms // DAY_MS
        expired = 0 if self._past_days is None else self._past_days.expired(first_kept)
        last_checkpoint = self.segment(moment).checkpoint
        while self._expired_below < last_checkpoint - 1:
            if epoch_ms + self.landed_at_ms[self._expired_below] >= first_kept * DAY_MS:
                break
            self._expired_below += 1
            expired += 2
        return expired
