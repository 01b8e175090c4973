"""Measures: what each one means, what it is counted from in a run, and how its values are written.

A measure has one definition (`definitions.py`), a pure function of one run's recorded rows
(`sample.py`). It gives a tally (`tally.py`): numerator and denominator, or the latencies
themselves, by which replications can be pooled. `measured_run.py` takes all tallies of a run at
once; a single run, a check, Spark and Python all call it.
"""

from whitecap.engine.recorded import CONFLICTS, Measure, Unit
from whitecap.reports.measures.definitions import (
    MEASURES,
    PRICED,
    REPORTED,
    Definition,
    measures_shown,
)
from whitecap.reports.measures.writing import duration, round_duration, tick, written

__all__ = [
    "CONFLICTS",
    "MEASURES",
    "PRICED",
    "REPORTED",
    "Definition",
    "Measure",
    "Unit",
    "duration",
    "measures_shown",
    "round_duration",
    "tick",
    "written",
]
