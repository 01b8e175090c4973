"""Percentiles in tables of the terminal: marked where little is behind them."""

from __future__ import annotations

import math

from whitecap.reports.measures import Measure, duration
from whitecap.reports.measures.counting import PERCENTILES
from whitecap.reports.statistics import FEWEST_BEYOND, marked, values_beyond
from whitecap.terminal.table import EMPTY

MARK = f"≈: fewer than {FEWEST_BEYOND} values lie beyond."

FEWEST_VALUES = {Measure.LATENCY_P99_9_MS: 1_000}
"""With fewer nothing is shown: not one value in a thousand is there, the largest would be told."""


def percentile_text(measure: Measure, value_ms: float, values: float) -> str:
    """`12.1 s`, `≈12.1 s`, or nothing to count."""
    if math.isnan(value_ms) or values < FEWEST_VALUES.get(measure, 0):
        return EMPTY
    return marked(duration(value_ms), values_beyond(values, PERCENTILES[measure]))
