"""Estimates and differences as JSON has them, in the unit of the measure; `None` is not known."""

from __future__ import annotations

from whitecap.reports.measures.writing import finite
from whitecap.reports.statistics.estimate import Estimate, EstimatedDifference

_Row = dict[str, float | None]


def estimate_row(estimate: Estimate) -> _Row:
    """The estimate with its 95 % interval."""
    low, high = estimate.bounds()
    return {"mean": finite(estimate.point), "low": finite(low), "high": finite(high)}


def difference_row(gap: EstimatedDifference | None, name: str) -> _Row:
    """The difference, called so, with its interval."""
    if gap is None:
        return {name: None, "low": None, "high": None}
    return {name: finite(gap.point), "low": finite(gap.low), "high": finite(gap.high)}
