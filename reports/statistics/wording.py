"""How estimates are written: the one wording for the terminal, the page, JSON and notebooks."""

from __future__ import annotations

import math
from collections.abc import Collection

from whitecap.engine.recorded import Unit
from whitecap.reports.fewest import FEWEST_REPLICATIONS
from whitecap.reports.measures.writing import (
    DIGITS,
    digits_beside,
    magnitude,
    percent,
    written,
)
from whitecap.reports.statistics.estimate import (
    FEWEST_BEYOND,
    FEWEST_EVENTS,
    Claim,
    Estimate,
    EstimatedDifference,
)
from whitecap.reports.words import counted


def written_estimate(estimate: Estimate, unit: Unit, beside: Collection[float] = ()) -> str:
    """`99.2 % (98.7 to 99.5 %)`, `at most 0.30 %`, `at least 99.1 % (4 events)`, `12.1 s (all 5
    replications alike)`, `12.1 s (1 replication)`, `n/a`; a percentile says of how many values:
    `12.1 s (11.2 to 13.0 s, 2,431 values)`. No number of it is rounded to or past a threshold that
    stands `beside` it."""
    if math.isnan(estimate.point):
        return "n/a"
    bounds = written_bounds(estimate, unit, beside)
    match estimate.statement:
        case Claim.AT_MOST | Claim.AT_LEAST:
            return f"{bounds}{_because(estimate)}"
        case _:
            basis = written_basis(estimate)
            because = f"{bounds}, {basis}" if basis else bounds
            return f"{written_point(estimate, unit, beside)} ({because})"


def said_estimate(estimate: Estimate, unit: Unit, beside: Collection[float] = ()) -> str:
    """As `written_estimate`, in a sentence: where only one side is stated, the value that was seen
    stands before it, as in `100 %, at least 99.7 %`."""
    text = written_estimate(estimate, unit, beside)
    is_one_sided = estimate.statement in (Claim.AT_LEAST, Claim.AT_MOST)
    return f"{written_point(estimate, unit, beside)}, {text}" if is_one_sided else text


def written_point(estimate: Estimate, unit: Unit, beside: Collection[float]) -> str:
    """The value without its interval."""
    return written(estimate.point, unit, _digits(estimate, unit, beside))


def written_basis(estimate: Estimate) -> str:
    """What a percentile rests on: `2,431 values`, or `only 43 values` where too few lie beyond."""
    if estimate.beyond is None or estimate.units is None:
        return ""
    return f"{'only ' if estimate.is_thin else ''}{counted(estimate.units, 'value')}"


def marked(text: str, beyond: float | None) -> str:
    """A percentile as it stands in a table: `≈12.1 s` where too few values lie beyond it."""
    return text if beyond is None or beyond >= FEWEST_BEYOND else f"≈{text}"


def written_bounds(estimate: Estimate, unit: Unit, beside: Collection[float] = ()) -> str:
    """What qualifies the point: `98.7 to 99.5 %`, `at most 0.30 %`, `1 replication`.

    Bounds of shares are rounded away from the point, and never to 0 or 100 % unless they are that.
    """
    digits = _digits(estimate, unit, beside)
    match estimate.statement:
        case Claim.TWO_SIDED:
            low = _bound(estimate.low, unit, digits, 0.0)
            return _joined(low, _bound(estimate.high, unit, digits, 1.0))
        case Claim.AT_MOST:
            return f"at most {_bound(estimate.high, unit, digits, 1.0)}"
        case Claim.AT_LEAST:
            return f"at least {_bound(estimate.low, unit, digits, 0.0)}"
        case Claim.ALIKE if estimate.replications > 1:
            return f"all {counted(estimate.replications, 'replication')} alike"
        case _:
            return counted(estimate.replications, "replication")


def written_difference(difference: EstimatedDifference, unit: Unit) -> str:
    """`+3.1 points (+1.2 to +5.0 points)`: of shares in percentage points, else in the unit."""
    if math.isnan(difference.point):
        return "n/a"
    return f"{written_gap(difference, unit)} ({written_difference_bounds(difference, unit)})"


def written_gap(difference: EstimatedDifference, unit: Unit) -> str:
    """A difference without its interval: `+3.1 points`."""
    if math.isnan(difference.point):
        return "n/a"
    return _signed(difference.point, unit, _places(difference, unit))


def written_difference_bounds(difference: EstimatedDifference, unit: Unit) -> str:
    """What qualifies a difference: `+1.2 to +5.0 points`, `1 replication`."""
    replications = counted(difference.replications, "replication")
    places = _places(difference, unit)
    match difference.statement, math.isinf(difference.low), math.isinf(difference.high):
        case Claim.ALIKE, _, _:
            return f"all {replications} alike"
        case Claim.NONE, _, _:
            return replications
        case _, True, True:
            return f"no bounds, {replications}"
        case _, True, False:
            return f"at most {_signed(difference.high, unit, places)}"
        case _, False, True:
            return f"at least {_signed(difference.low, unit, places)}"
    low, high = (_signed(each, unit, places) for each in (difference.low, difference.high))
    return _joined(low, high)


def _places(difference: EstimatedDifference, unit: Unit) -> int:
    """Decimals of the points of shares, digits of anything else; no interval reads as a number."""
    if unit is Unit.SHARE:
        return _decimals_of_points(difference)
    return digits_beside([difference.low], [difference.high], unit)


def _decimals_of_points(difference: EstimatedDifference) -> int:
    """Of a difference of shares and its bounds alike: two digits of the largest, and another where
    one of them would read as nothing."""
    sizes = [
        abs(100 * each)
        for each in (difference.point, difference.low, difference.high)
        if math.isfinite(each) and each
    ]
    if not sizes:
        return _FEWEST_DECIMALS
    decimals = max(_FEWEST_DECIMALS, 1 - magnitude(max(sizes)))
    return decimals + (round(min(sizes), decimals) == 0)


_FEWEST_DECIMALS = 1


def _because(estimate: Estimate) -> str:
    """Why one side is all that is stated."""
    reasons = []
    if estimate.beyond is not None:
        reasons.append(written_basis(estimate))
    elif estimate.events and estimate.events < FEWEST_EVENTS:
        reasons.append(counted(estimate.events, "event"))
    if estimate.replications < FEWEST_REPLICATIONS:
        reasons.append(counted(estimate.replications, "replication"))
    return f" ({', '.join(reasons)})" if reasons else ""


def _digits(estimate: Estimate, unit: Unit, beside: Collection[float]) -> int:
    """With which no number of it is written as what stands beside it, nor one bound as the other,
    unless it is that; bounds of shares are rounded apart."""
    low, high = estimate.bounds()
    between = DIGITS if unit is Unit.SHARE else digits_beside([low], [high], unit)
    return max(between, digits_beside((estimate.point, low, high), beside, unit))


def _bound(value: float, unit: Unit, digits: int, towards: float) -> str:
    if unit is not Unit.SHARE:
        return written(value, unit, digits)
    return f"{percent(value, digits, towards)} %"


def _signed(value: float, unit: Unit, places: int) -> str:
    """With its sign; of shares in points, with these decimals or as many as it takes to be none."""
    if unit is not Unit.SHARE:
        return f"{'+' if value > 0 else ''}{written(value, unit, places)}"
    points = 100 * value
    if not points:
        return "0 points"
    shown = places if round(points, places) else -magnitude(points)
    return f"{points:+.{shown}f} points"


def _joined(low: str, high: str) -> str:
    """From one to the other, with the unit once if both have the same."""
    number, _, unit = low.partition(" ")
    return f"{number} to {high}" if high.endswith(f" {unit}") else f"{low} to {high}"
