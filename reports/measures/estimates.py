"""What replications say of a measure: its interval, and how many more would narrow it enough."""

from __future__ import annotations

import math
from collections.abc import Sequence

from whitecap.reports.intervals import Interval, interval_of, t_quantile
from whitecap.reports.measures.tally import Tally

MOST_REPLICATIONS = 10_000
"""More than this nobody runs; a threshold that needs them is as good as hit."""


def estimated(tallies: Sequence[Tally]) -> Interval:
    """The 95 % interval of a measure, one tally per replication."""
    return interval_of(tally.value for tally in tallies)


def replications_needed(tallies: Sequence[Tally], thresholds: Sequence[float]) -> int | None:
    """About how many replications would leave every threshold outside of the interval.

    From the spread between the replications there are; `None` where no number would do.
    """
    interval = estimated(tallies)
    distance = min(abs(interval.mean - threshold) for threshold in thresholds)
    if not interval.is_known:
        return interval.replications + 1
    spread = (interval.high - interval.mean) * math.sqrt(interval.replications)
    spread /= t_quantile(interval.replications - 1)
    for replications in range(interval.replications + 1, MOST_REPLICATIONS):
        if t_quantile(replications - 1) * spread <= distance * math.sqrt(replications):
            return replications
    return None
