"""Differences of every pair of cells, paired by replication."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from functools import cache

from whitecap.engine.recorded import Measure
from whitecap.reports.estimates import estimated
from whitecap.reports.measures import MEASURES, REPORTED
from whitecap.reports.measures.measured_run import MeasuredRun
from whitecap.reports.measures.stored import StoredRow
from whitecap.reports.statistics import Estimate, difference
from whitecap.reports.tables.rows import difference_columns

DIFFERENCE_COLUMNS = (
    "measure", "first", "second", "difference", "low", "high", "replications", "statement",
)  # fmt: skip

Replications = Mapping[int, MeasuredRun]


def paired_differences(runs: Mapping[str, Replications]) -> Iterator[StoredRow]:
    """`first - second` of every pair of cells and reported measure, with its interval.

    Replication r has the same random numbers in every cell, so the difference is taken within a
    replication: what both cells share cancels, and the interval is narrower than that of two
    independent estimates. What only one of the two has run so far does not count.
    """

    @cache
    def estimate(cell: str, measure: Measure, replications: tuple[int, ...]) -> Estimate:
        tallies = [runs[cell][number].whole.tallies[measure] for number in replications]
        return estimated(measure, tallies)

    for name in REPORTED:
        measure = MEASURES[name].measure
        for first, second in itertools.combinations(runs, 2):
            both = tuple(sorted(runs[first].keys() & runs[second].keys()))
            gap = difference(estimate(first, measure, both), estimate(second, measure, both))
            yield {
                "measure": name,
                "first": first,
                "second": second,
                **difference_columns(gap),
            }
