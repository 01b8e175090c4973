"""When there are replications enough: until an interval is as narrow as was asked for."""

from __future__ import annotations

import math
from collections.abc import Sequence

from msgspec import Struct

from whitecap.reports.statistics.estimate import Claim, Estimate

FEWEST_TO_STOP = 10
"""Replications before anybody looks: whoever stops when an interval happens to be narrow stops
too early, the more so the fewer there were (`docs/statistics.md` has how often intervals hold)."""

_MOST_GROWTH = 2.0
"""A round has at most as many replications as there are already, whose scatter may mislead."""

_LEAST_GROWTH = 1.2
"""And at least a fifth: every look is another chance to stop too early."""


class WantedPrecision(Struct, frozen=True):
    """How far the truth may lie from an estimate: `half` in its unit, or as a part of it."""

    half: float
    is_relative: bool = False

    def of(self, estimate: Estimate) -> float:
        """The half-width that this estimate is to have."""
        return self.half * abs(estimate.point) if self.is_relative else self.half

    def is_met(self, estimate: Estimate) -> bool:
        """Whether the truth lies that near, with the estimate's confidence."""
        return self._is_within(estimate, 1.0)

    def suffices(self, estimate: Estimate) -> bool:
        """Whether that is reason to stop: what happened a few times must be twice as near.

        Rare events come in clusters, and whoever saw few of them saw none of a cluster.
        """
        is_rare = estimate.events is not None and 0 < estimate.events < _FEWEST_EVENTS_TO_STOP
        return self._is_within(estimate, _NEARER if is_rare else 1.0)

    def needed(self, estimate: Estimate) -> float:
        """About how many replications would meet it, if half-widths fall with the root of their
        number; infinite where nobody can say."""
        half, enough = half_width(estimate), self.of(estimate)
        if not (enough > 0 and math.isfinite(half)):
            return math.inf
        return estimate.replications * (half / enough) ** 2

    def _is_within(self, estimate: Estimate, part: float) -> bool:
        return half_width(estimate) <= self.of(estimate) * part * (1 + _ROUNDING)


_ROUNDING = 1e-9
"""By how much sums of binary fractions may miss what they are compared with. Ours."""

_FEWEST_EVENTS_TO_STOP = 10
_NEARER = 0.5
"""How many events there must be to stop at the precision that is wanted, and which part of it is
wanted with fewer. Without both, intervals of rare events with a design effect of 5 hold in 87 %
instead of 90 % and more where the rule has stopped (`docs/statistics.md`)."""


def half_width(estimate: Estimate) -> float:
    """How far the farther bound lies from the point; infinite where there is none.

    What cannot be passed (no share is below 0) bounds the other side of `at most` and `at least`.
    """
    match estimate.statement:
        case Claim.ALIKE:
            return 0.0
        case Claim.NONE:
            return math.inf
    return max(estimate.point - estimate.low, estimate.high - estimate.point)


def replications_after(
    seen: int, most: int, unmet: Sequence[tuple[Estimate, WantedPrecision]]
) -> int:
    """How many replications there are to be after the next round, given what is not met yet.

    About as many as would meet it, within a fifth more and twice as many; `seen` if all is met.
    """
    if not unmet:
        return seen
    needed = max(wanted.needed(estimate) for estimate, wanted in unmet)
    return min(math.ceil(min(max(needed, _LEAST_GROWTH * seen), _MOST_GROWTH * seen)), most)
