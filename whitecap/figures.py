"""The report's figures for notebooks: each takes a sweep or a run and returns a matplotlib figure.

A figure shows itself at the end of a notebook's cell; `figure.savefig(path)` writes it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from whitecap.engine.errors import InvalidInput, Problem, unknown_name
from whitecap.reports.measures import MEASURES

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from whitecap.api import Run
    from whitecap.sweeps import Sweep

__all__ = ["exceptions", "heat_map", "latency", "over_quantity", "ranges", "timeline"]


def heat_map(sweep: Sweep, measure: str = "conflict_rate") -> Figure:
    """A measure over the sweep's first two axes. Raises `InvalidInput` with fewer than two."""
    from whitecap.reports.figures.figures import rate_map

    return rate_map(sweep.subject, _checked_measure(measure))


def ranges(sweep: Sweep, *measures: str, headline: str = "") -> Figure:
    """Measures per cell with their 95 % intervals, side by side. Raises `InvalidInput`."""
    from whitecap.reports.figures import figures

    if not measures:
        raise InvalidInput([Problem("measures", "names none, and one at least is needed")])
    titles = ", ".join(MEASURES[_checked_measure(measure)].title.lower() for measure in measures)
    return figures.ranges(sweep.subject, headline or titles.capitalize(), "", *measures)


def over_quantity(sweep: Sweep, measure: str = "goodput_per_minute") -> Figure:
    """A measure against the sweep's numeric axis. Raises `InvalidInput` where there is none."""
    from whitecap.reports.figures import figures

    return figures.over_quantity(sweep.subject, _checked_measure(measure))


def exceptions(sweep: Sweep) -> Figure:
    """Aborted transactions per cell by exception."""
    from whitecap.reports.figures import figures

    return figures.exceptions(sweep.subject)


def latency(sweep: Sweep) -> Figure:
    """Latency percentiles per cell."""
    from whitecap.reports.figures import figures

    return figures.latency(sweep.subject)


def timeline(run: Run, transaction_id: int | None = None) -> Figure:
    """What the writers did around one transaction; without one, where most were refused.

    Raises `InvalidInput` for a transaction that is not in the run.
    """
    from whitecap.reports.figures.figures import timeline_of_run

    transactions = run.transactions
    if transaction_id is not None and transaction_id not in set(transactions["transaction_id"]):
        said = f"the run has no transaction {transaction_id!r}"
        raise InvalidInput([Problem("transaction_id", said)])
    return timeline_of_run(transactions, run.commits, run.recording.manifest, transaction_id)


def _checked_measure(measure: str) -> str:
    if measure not in MEASURES:
        raise InvalidInput([Problem("measure", *unknown_name("measure", str(measure), MEASURES))])
    return measure
