"""What is known of one statement of a real run, and of all of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from msgspec import Struct


class TimedStatement(Struct, frozen=True):
    """One statement as it went, milliseconds of the wall clock.

    `snapshot_ms` is when it had its snapshot, `decided_ms` when its commit was in the log or its
    transaction had failed; both `None` where there was nothing to commit. `version` is that of its
    commit, `read_version` that of its snapshot, where its commit says it, `checksum_ms` when its
    commit's checksum was there. `rerun` counts how often the same statement was refused before.
    """

    thread: str
    kind: str
    rerun: int
    begun_ms: float
    ended_ms: float
    snapshot_ms: float | None = None
    decided_ms: float | None = None
    version: int | None = None
    read_version: int | None = None
    exception: str | None = None
    checksum_ms: float | None = None

    @property
    def window_ms(self) -> float | None:
        """From snapshot to commit or refusal."""
        if self.snapshot_ms is None or self.decided_ms is None:
            return None
        return self.decided_ms - self.snapshot_ms


class ObservedRun(Struct, frozen=True):
    """A real run: its statements in the order in which they began, and how many were for warmth."""

    began_at: str
    warm_up: int
    statements: Sequence[TimedStatement]

    @property
    def counted(self) -> Sequence[TimedStatement]:
        """The statements that count."""
        return self.statements[self.warm_up :]

    @property
    def refusals(self) -> Counter[str]:
        """How many of those that count were refused, by exception."""
        return Counter(each.exception for each in self.counted if each.exception)

    @property
    def window_share(self) -> float:
        """The windows' share of the time that statements took: what conflicts depend on."""
        windows = sum(each.window_ms or 0.0 for each in self.counted)
        return windows / sum(each.ended_ms - each.begun_ms for each in self.counted)

    @property
    def mean_ms(self) -> float:
        """How long a statement took."""
        took = [each.ended_ms - each.begun_ms for each in self.counted]
        return sum(took) / len(took)


def warm_up_of(threads: int) -> int:
    """How many statements do not count: until the threads are out of step."""
    return 2 * threads
