"""Which figures a report has, with their captions; each kind is drawn in a module of its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd
from matplotlib.figure import Figure
from msgspec import Struct

from whitecap.reports.figures.exceptions import exception_bars
from whitecap.reports.figures.heatmap import heat_map
from whitecap.reports.figures.latency import latency_figure
from whitecap.reports.figures.quantity import quantity_figure
from whitecap.reports.figures.ranges import range_figure
from whitecap.reports.figures.timeline import busiest_window, timeline_figure, window_of
from whitecap.reports.instants import with_instants
from whitecap.reports.measures import MEASURES
from whitecap.reports.provenance import origin_line
from whitecap.reports.subject import Caption, Subject


class Drawing(Struct, frozen=True):
    """One figure of a report: its file's name, its headline, the measures of its table."""

    name: str
    headline: str
    figure: Figure
    measures: tuple[str, ...]

    @property
    def reading(self) -> str:
        """What it shows, for whoever does not see it."""
        return str(self.figure.get_label())


def draw_all(subject: Subject) -> Iterator[Drawing]:
    """Every figure that makes sense for the subject's axes, in the order of the page."""
    if subject.layout.grid is not None:
        for name in ("job_success_rate", "conflict_rate"):
            yield _drawing(f"{name}_map", (name,), rate_map(subject, name))
    yield _drawing("conflict_and_retry", ("conflict_rate", "retry_rate"), rates(subject))
    yield _drawing("exceptions", ("exceptions",), exceptions(subject))
    if subject.layout.numeric is not None:
        yield _drawing("goodput_over_quantity", ("goodput_per_minute",), over_quantity(subject))
    yield _drawing("goodput", GOODPUT, goodput(subject))
    if not subject.runs.is_sweep:
        yield _drawing("timeline", (), timeline(subject))
    latencies = ("latency_p50_ms", "latency_p95_ms", "latency_p99_ms", "latency_p99_9_ms")
    yield _drawing("latency", latencies, latency(subject))


def _drawing(name: str, measures: tuple[str, ...], figure: Figure) -> Drawing:
    return Drawing(name, HEADLINES[name], figure, measures)


OF_TIMELINES = ("transactions", "commits")
"""The recorded tables that a timeline is drawn from."""

TIMELINE_READING = (
    "Numbers are versions, where there is room. "
    "An arrow leads from a commit to the transaction that it refused."
)

GOODPUT = ("goodput_per_minute", "wasted_compute_share", "job_success_rate")

HEADLINES = {
    "conflict_rate_map": "How often a commit is refused by a conflict check",
    "job_success_rate_map": "How many jobs get done",
    "conflict_and_retry": "Conflicts abort a transaction, retries only delay it",
    "exceptions": "What the aborted transactions died of",
    "goodput_over_quantity": "Work that got through",
    "goodput": "Work that got through, and work thrown away",
    "timeline": "Writers side by side, and who refused whom",
    "latency": "How long a job waits for its commit",
}


def rate_map(subject: Subject, measure: str) -> Figure:
    """Heat map of one measure over the sweep's two leading axes."""
    headline = HEADLINES.get(f"{measure}_map", MEASURES[measure].title)
    caption = subject.caption(headline, f"{_sentence(measure)}.")
    estimates = subject.tables.of(measure)
    return heat_map(estimates, subject.layout, MEASURES[measure], caption)


def ranges(subject: Subject, headline: str, reading: str, *measures: str) -> Figure:
    """Some measures per cell with intervals, side by side."""
    caption = subject.caption(headline, reading)
    shown = [MEASURES[name] for name in measures]
    return range_figure(subject.tables, subject.layout, shown, caption)


def rates(subject: Subject) -> Figure:
    """Conflict and retry rate per cell with intervals."""
    headline = HEADLINES["conflict_and_retry"]
    reading = "Both per attempt to commit."
    return ranges(subject, headline, reading, "conflict_rate", "retry_rate")


def exceptions(subject: Subject) -> Figure:
    """Abort rate per cell, stacked by exception."""
    reading = "Aborted transactions by exception, as a share of all that ended."
    if subject.replications > 1:
        reading += " All replications together."
    caption = Caption(HEADLINES["exceptions"], reading, subject.provenance.line)
    return exception_bars(subject.tables, subject.layout, caption)


def over_quantity(subject: Subject, measure: str = "goodput_per_minute") -> Figure:
    """One measure against the sweep's numeric axis."""
    axis = subject.layout.numeric
    words = HEADLINES["goodput_over_quantity"] if measure == "goodput_per_minute" else (
        MEASURES[measure].title
    )  # fmt: skip
    caption = subject.caption(words, f"{MEASURES[measure].title} by {axis}.")
    return quantity_figure(subject.tables.of(measure), subject.layout, MEASURES[measure], caption)


def goodput(subject: Subject) -> Figure:
    """Goodput, wasted compute and job success per cell."""
    reading = "A job is a transaction with all its reruns."
    return ranges(subject, HEADLINES["goodput"], reading, *GOODPUT)


def latency(subject: Subject) -> Figure:
    """Latency percentiles per cell."""
    caption = subject.caption(
        HEADLINES["latency"], "Of jobs that committed (survivors), reruns and their waits included."
    )
    return latency_figure(subject.tables, subject.layout, caption)


def timeline(subject: Subject) -> Figure:
    """The busiest stretch of a single run, writer by writer."""
    recorded = (pd.read_parquet(subject.runs.root / f"{name}.parquet") for name in OF_TIMELINES)
    transactions = with_instants(*recorded)
    caption = Caption(HEADLINES["timeline"], TIMELINE_READING, subject.provenance.line)
    return timeline_figure(transactions, busiest_window(transactions), caption)


def timeline_of_run(
    transactions: pd.DataFrame,
    commits: pd.DataFrame,
    manifest: Mapping[str, Any],
    transaction_id: int | None = None,
) -> Figure:
    """What went on around a transaction; without one, where most were refused."""
    if transaction_id is None:
        window, headline = busiest_window(transactions), HEADLINES["timeline"]
    else:
        window = window_of(transactions, transaction_id)
        row = transactions.set_index("transaction_id").loc[transaction_id]
        headline = f"The {row['command']} of {row['writer']}, and what went on around it"
    caption = Caption(headline, TIMELINE_READING, origin_line(manifest))
    return timeline_figure(with_instants(transactions, commits), window, caption)


def _sentence(measure: str) -> str:
    return MEASURES[measure].meaning.split(":")[0].rstrip(".")
