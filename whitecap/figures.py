"""The report's figures for notebooks: each takes a sweep or a run and returns a matplotlib figure.

A figure shows itself at the end of a notebook's cell; `figure.savefig(path)` writes it. Raises
`InvalidInput` for what is no sweep or run.
"""

from __future__ import annotations

import reprlib
from typing import TYPE_CHECKING

from whitecap.engine.errors import InvalidInput, Problem, unknown_name
from whitecap.reports.measures import MEASURES

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from whitecap.api import Run
    from whitecap.reports.subject import Subject
    from whitecap.sweeps import Sweep

__all__ = ["exceptions", "heat_map", "latency", "over_quantity", "ranges", "timeline"]


def heat_map(sweep: Sweep, measure: str = "conflict_rate") -> Figure:
    """A measure over the sweep's first two axes. Raises `InvalidInput` with fewer than two."""
    from whitecap.reports.figures.figures import rate_map

    return rate_map(_subject_of(sweep), _checked_measure(measure))


def ranges(sweep: Sweep, *measures: str, headline: str = "") -> Figure:
    """Measures per cell with their 95 % intervals, side by side. Raises `InvalidInput`."""
    from whitecap.reports.figures import figures

    if not measures:
        raise InvalidInput([Problem("measures", "names none, and one at least is needed")])
    titles = ", ".join(MEASURES[_checked_measure(measure)].title.lower() for measure in measures)
    return figures.ranges(_subject_of(sweep), headline or titles.capitalize(), "", *measures)


def over_quantity(sweep: Sweep, measure: str = "goodput_per_minute") -> Figure:
    """A measure against the sweep's numeric axis. Raises `InvalidInput` where there is none."""
    from whitecap.reports.figures import figures

    return figures.over_quantity(_subject_of(sweep), _checked_measure(measure))


def exceptions(sweep: Sweep) -> Figure:
    """Aborted transactions per cell by exception."""
    from whitecap.reports.figures import figures

    return figures.exceptions(_subject_of(sweep))


def latency(sweep: Sweep) -> Figure:
    """Latency percentiles per cell."""
    from whitecap.reports.figures import figures

    return figures.latency(_subject_of(sweep))


def timeline(run: Run, transaction_id: int | None = None) -> Figure:
    """What the writers did around one transaction; without one, where most were refused.

    Raises `InvalidInput` for a transaction that is not in the run.
    """
    from whitecap.reports.figures.figures import timeline_of_run

    _require_run(run)
    transactions = run.transactions
    if transaction_id is not None and transaction_id not in set(transactions["transaction_id"]):
        said = f"the run has no transaction {transaction_id!r}"
        raise InvalidInput([Problem("transaction_id", said)])
    return timeline_of_run(transactions, run.commits, run.recording.manifest, transaction_id)


def _subject_of(given: object) -> Subject:
    from whitecap.sweeps import Sweep

    if isinstance(given, Sweep):
        return given.subject
    said = f"needs a sweep, as `whitecap.load_sweep` returns it, not {reprlib.repr(given)}"
    raise InvalidInput([Problem("sweep", said)])


def _require_run(given: object) -> None:
    from whitecap.api import Run

    if not isinstance(given, Run):
        said = f"needs a run, as `whitecap.load` returns it, not {reprlib.repr(given)}"
        raise InvalidInput([Problem("run", said)])


def _checked_measure(measure: str) -> str:
    if measure not in MEASURES:
        raise InvalidInput([Problem("measure", *unknown_name("measure", str(measure), MEASURES))])
    return measure
