"""How sure a verdict about one value must be, so that the interval of the boundary holds.

Why so many verdicts share the error, and no more: `docs/statistics.md`, "The interval of a
boundary".
"""

from __future__ import annotations

import math

from msgspec import Struct

from whitecap.reports.statistics import CONFIDENCE, FEWEST_TO_STOP

_GROWTH = 2
"""A value is looked at again when it has twice as many replications: every look has its part of
the error, and with doubling there are few of them."""


class LookSchedule(Struct, frozen=True):
    """How often each of so many positions may be looked at, and at which level."""

    positions: int
    most: int
    """Replications of a value at most."""
    confidence: float = CONFIDENCE

    @property
    def looks(self) -> tuple[int, ...]:
        """The numbers of replications at which a value is looked at."""
        counts = [min(FEWEST_TO_STOP, self.most)]
        while counts[-1] < self.most:
            counts.append(min(_GROWTH * counts[-1], self.most))
        return tuple(counts)

    @property
    def steps(self) -> int:
        """Positions at most on the way of a search in which every verdict is right."""
        at, count, longest = 0, 1, 1
        while at < self.positions - 1:
            before, at = at, outward(at, self.positions)
            count += 1
            longest = max(longest, count + math.ceil(math.log2(at - before)))
        return longest + 1  # the last position, where the first does not tell the direction

    @property
    def error(self) -> float:
        """The chance that one look at one value may have of a wrong verdict."""
        return (1 - self.confidence) / (self.steps * len(self.looks))

    def next_look(self, seen: int) -> int:
        """The replications at which a value with so many is looked at again."""
        return next((count for count in self.looks if count > seen), seen)


def outward(at: int, positions: int) -> int:
    """The next position of the first part of a search: 0, 1, 3, 7, ... and the last."""
    return min(2 * at + 1, positions - 1)
