"""Estimates and differences as rows of a table, and back."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from whitecap.reports.measures.stored import StoredRow
from whitecap.reports.statistics import Claim, Estimate, EstimatedDifference

ESTIMATED = ("mean", "low", "high", "replications", "statement", "values", "beyond")
"""The columns of an estimate; the last two are of percentiles."""


def _closed(bound: float) -> float:
    """A bound as a table holds it: empty, as in JSON, where it is open."""
    return bound if math.isfinite(bound) else math.nan


def _bound(kept: float, claim: Claim, unbounded: float) -> float:
    """A bound that `_closed` kept; where nothing is claimed there is none."""
    is_open = math.isnan(kept) and claim not in (Claim.NONE, Claim.ALIKE)
    return unbounded if is_open else float(kept)


def estimate_columns(estimate: Estimate) -> StoredRow:
    """What `estimate_in` reads."""
    return {
        "mean": estimate.point,
        "low": _closed(estimate.low),
        "high": _closed(estimate.high),
        "replications": estimate.replications,
        "statement": estimate.statement.value,
        "values": math.nan if estimate.beyond is None else estimate.units,
        "beyond": math.nan if estimate.beyond is None else estimate.beyond,
    }


def estimate_in(row: Mapping[Any, Any]) -> Estimate:
    """The estimate that a row of `cells`, `groups` or `exceptions` holds."""
    claim = Claim(row["statement"])
    return Estimate(
        float(row["mean"]),
        _bound(row["low"], claim, -math.inf),
        _bound(row["high"], claim, math.inf),
        claim,
        int(row["replications"]),
        units=_unless_nan(row["values"]),
        beyond=_unless_nan(row["beyond"]),
    )


def _unless_nan(number: float) -> float | None:
    return None if math.isnan(number) else float(number)


def difference_columns(difference: EstimatedDifference) -> StoredRow:
    """What `difference_in` reads."""
    return {
        "difference": difference.point,
        "low": _closed(difference.low),
        "high": _closed(difference.high),
        "replications": difference.replications,
        "statement": difference.statement.value,
    }


def difference_in(row: Mapping[Any, Any]) -> EstimatedDifference:
    """The difference that a row of `differences` holds."""
    claim = Claim(row["statement"])
    return EstimatedDifference(
        float(row["difference"]),
        _bound(row["low"], claim, -math.inf),
        _bound(row["high"], claim, math.inf),
        claim,
        int(row["replications"]),
    )
