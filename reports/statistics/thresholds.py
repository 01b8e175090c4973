"""Thresholds: whether an estimate meets one, and how many replications would decide it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import TypeVar

from msgspec import Struct

from whitecap.reports.fewest import FEWEST_REPLICATIONS
from whitecap.reports.statistics.estimate import Claim, Estimate

MOST_REPLICATIONS = 1000
"""More than anybody would wait for; an estimate that needs them sits on the threshold."""


_MOST_WITHOUT_EVENT = 1_000_000
"""Where nothing happened yet: rare events take many jobs, and runs may have few of them."""


class Standing(StrEnum):
    """How an estimate stands to a threshold."""

    MET = "met"
    MISSED = "missed"
    UNDECIDED = "undecided"


WORST_FIRST = (Standing.MISSED, Standing.UNDECIDED, Standing.MET)

_Kind = TypeVar("_Kind", bound=StrEnum)


def worst_of(several: Iterable[_Kind], worst_first: Sequence[_Kind]) -> _Kind:
    """The worst of several, by this order; its last member where there are none."""
    present = set(several)
    return next((each for each in worst_first if each in present), worst_first[-1])


class EstimateStanding(Struct, frozen=True):
    """How an estimate stands; if undecided, how many `replications` alike would decide it.

    More than that many if `is_more`; `None` where too little was seen to be projected.
    """

    standing: Standing
    replications: int | None = None
    is_more: bool = False


def held_against(
    estimate: Estimate, *, at_least: float | None = None, at_most: float | None = None
) -> EstimateStanding:
    """Whether the estimate is `at_least` or `at_most` a threshold, by its interval.

    Met if all of the interval is on the right side, missed if none is. What is stated on one side
    only can be met or missed by that side. Raises `ValueError` unless one threshold is given.
    """
    threshold = at_most if at_least is None else at_least
    if threshold is None or None not in (at_least, at_most):
        raise ValueError("one threshold is needed: at least or at most")
    estimate = facing(estimate, threshold)
    standing = standing_against(estimate, at_least, at_most)
    if standing is not Standing.UNDECIDED:
        return EstimateStanding(standing)
    return _projected(estimate, at_least, at_most)


def facing(estimate: Estimate, threshold: float) -> Estimate:
    """The estimate as it is held against a threshold: of few replications, with the bound that lies
    between value and threshold, since that is the one that decides.

    It errs as rarely as any bound of one side: of a quantity that keeps the threshold only a bound
    that excludes it wrongly can say that it does not, and the other way round.
    """
    if estimate.replications >= FEWEST_REPLICATIONS or estimate.observations is None:
        return estimate
    turned = estimate.observations.turned(good=estimate.point >= threshold)
    return turned.estimate(estimate.confidence)


def standing_against(estimate: Estimate, at_least: float | None, at_most: float | None) -> Standing:
    """As `held_against`, of an estimate as it is, and without what would decide it."""
    low, high = estimate.low, estimate.high
    if estimate.statement is Claim.ALIKE and estimate.replications >= FEWEST_REPLICATIONS:
        low = high = estimate.point
    if at_least is not None:
        met, missed = low >= at_least, high < at_least
    else:
        assert at_most is not None
        met, missed = high <= at_most, low > at_most
    return Standing.MET if met else Standing.MISSED if missed else Standing.UNDECIDED


def _projected(
    estimate: Estimate, at_least: float | None, at_most: float | None
) -> EstimateStanding:
    """Undecided, with the fewest replications, alike those that were seen, that would decide."""
    observed, seen = estimate.observations, estimate.replications
    if observed is None or estimate.statement is Claim.NONE:
        return EstimateStanding(Standing.UNDECIDED)

    def decides(replications: int) -> bool:
        projected = observed.estimate(estimate.confidence, replications / seen)
        return standing_against(projected, at_least, at_most) is not Standing.UNDECIDED

    # What never happened lies on no threshold: it only takes enough in which it does not.
    most = _MOST_WITHOUT_EVENT if estimate.events == 0 else MOST_REPLICATIONS
    few, enough = seen, max(seen + 1, FEWEST_REPLICATIONS)
    while not decides(enough):
        if enough >= most:
            return EstimateStanding(Standing.UNDECIDED, enough, is_more=True)
        few, enough = enough, min(2 * enough, most)
    while enough - few > 1:
        middle = (few + enough) // 2
        few, enough = (few, middle) if decides(middle) else (middle, enough)
    return EstimateStanding(Standing.UNDECIDED, enough)
