"""Estimates and differences as rows of a table, and back."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from whitecap.reports.measures.stored import StoredRow
from whitecap.reports.statistics import Claim, Estimate, EstimatedDifference

ESTIMATED = ("mean", "low", "high", "replications", "statement", "values", "beyond")
"""The columns of an estimate; the last two are of percentiles."""


def estimate_columns(estimate: Estimate) -> StoredRow:
    """What `estimate_in` reads."""
    return {
        "mean": estimate.point,
        "low": estimate.low,
        "high": estimate.high,
        "replications": estimate.replications,
        "statement": estimate.statement.value,
        "values": math.nan if estimate.beyond is None else estimate.units,
        "beyond": math.nan if estimate.beyond is None else estimate.beyond,
    }


def estimate_in(row: Mapping[Any, Any]) -> Estimate:
    """The estimate that a row of `cells`, `groups` or `exceptions` holds."""
    return Estimate(
        float(row["mean"]),
        float(row["low"]),
        float(row["high"]),
        Claim(row["statement"]),
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
        "low": difference.low,
        "high": difference.high,
        "replications": difference.replications,
        "statement": difference.statement.value,
    }


def difference_in(row: Mapping[Any, Any]) -> EstimatedDifference:
    """The difference that a row of `differences` holds."""
    return EstimatedDifference(
        float(row["difference"]),
        float(row["low"]),
        float(row["high"]),
        Claim(row["statement"]),
        int(row["replications"]),
    )
