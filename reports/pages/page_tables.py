"""The tables of the page: headings and written cells, ready for the template."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Sequence

from msgspec import Struct

from whitecap.reports.agreement import ReportedAgreement
from whitecap.reports.figures.exceptions import ordered_exceptions
from whitecap.reports.measures import MEASURES, Unit, written
from whitecap.reports.measures.left_out import JobsLeftOpen
from whitecap.reports.statistics import (
    Claim,
    Estimate,
    marked,
    written_basis,
    written_bounds,
    written_point,
)
from whitecap.reports.subject import Subject
from whitecap.reports.tables import estimate_in


class PageEntry(Struct, frozen=True):
    """What stands in one cell of a table: a value, below it what qualifies it, and perhaps a mark
    by which it is coloured."""

    text: str
    below: str = ""
    mark: str = ""


class PageTable(Struct, frozen=True):
    """Headings, rows whose first entry names them, and the row to stress.

    `texts` are the headings of columns that hold words; all others but the first hold numbers.
    """

    headings: tuple[str, ...]
    rows: tuple[tuple[PageEntry, ...], ...]
    stressed: str | None = None
    texts: tuple[str, ...] = ()


def measures_table(
    subject: Subject, measures: Sequence[str], stressed: str | None = None
) -> PageTable:
    """Cells down, measures across; money with its currency."""
    estimates = {measure: subject.tables.of(measure) for measure in measures}
    rows = tuple(
        (
            PageEntry(subject.layout.title(cell.name)),
            *(estimate_entry(estimates[m].get(cell.name), MEASURES[m].unit) for m in measures),
        )
        for cell in subject.layout.cells
    )
    headings = (_what(subject), *(_heading(measure, subject.runs.currency) for measure in measures))
    return PageTable(headings, rows, stressed and subject.layout.title(stressed))


def _heading(measure: str, currency: str) -> str:
    title = MEASURES[measure].title
    return f"{title} ({currency})" if MEASURES[measure].unit is Unit.MONEY else title


def exceptions_table(subject: Subject) -> PageTable:
    """Cells down, exceptions across: how many, and their share of ended transactions."""
    names = ordered_exceptions(subject.tables.exceptions)
    counts = subject.tables.exceptions.set_index(["cell", "exception"])["aborted"].to_dict()
    shares = {name: subject.tables.aborts_by(name) for name in names}
    rows = tuple(
        (
            PageEntry(subject.layout.title(cell.name)),
            *(
                _counted(counts.get((cell.name, name), 0), shares[name].get(cell.name))
                for name in names
            ),
        )
        for cell in subject.layout.cells
    )
    return PageTable((_what(subject), *names), rows)


def refusals_table(subject: Subject, cells: Sequence[str]) -> PageTable:
    """Who stops whom in these cells, over all replications; they are named where it is several."""
    is_one = len(cells) == 1
    rows = tuple(
        (
            *([] if is_one else [PageEntry(subject.layout.title(cell))]),
            PageEntry(str(each.loser)),
            PageEntry(str(each.winner)),
            PageEntry(each.exception),
            PageEntry(written(each.share, Unit.SHARE), f"{each.count:,} of {each.aborts:,}"),
        )
        for cell in cells
        for each in subject.tables.refusals_of(cell)
    )
    named = () if is_one else (_what(subject),)
    texts = ("aborted", "because of", "exception")
    return PageTable((*named, *texts, "share of its aborts"), rows, texts=texts)


def left_out_table(subject: Subject) -> PageTable:
    """What success and latency do not tell, for the writer groups where there is any such thing."""
    cells = [cell.name for cell in subject.layout.cells]
    is_sweep = subject.runs.is_sweep
    shown = [
        (cell, group, left_out)
        for cell in (cells if is_sweep else cells[:1])
        for group, left_out in subject.tables.left_out_of(cell).items()
        if left_out.is_told
    ]
    columns = [each for each in _LEFT_OUT if any(each.is_worth(some) for _, _, some in shown)]
    rows = tuple(
        (
            *([PageEntry(subject.layout.title(cell))] if is_sweep else []),
            PageEntry(str(group)),
            *(each.entry(left_out) for each in columns),
        )
        for cell, group, left_out in shown
    )
    named = ("cell", "writers") if is_sweep else ("writers",)
    return PageTable((*named, *(each.heading for each in columns)), rows, texts=named)


class _Column(Struct, frozen=True):
    """One count of what is left out, and of which whole; shown where a group makes it worth it."""

    heading: str
    count: Callable[[JobsLeftOpen], int]
    of: Callable[[JobsLeftOpen], str]
    is_worth: Callable[[JobsLeftOpen], bool] = lambda _: True

    def entry(self, left_out: JobsLeftOpen) -> PageEntry:
        return PageEntry(f"{self.count(left_out):,}", self.of(left_out))


_LEFT_OUT = (
    _Column("unfinished", lambda some: some.unfinished, lambda some: f"of {some.jobs:,} jobs"),
    _Column("given up", lambda some: some.given_up, lambda some: f"of {some.jobs:,} jobs"),
    _Column(
        "half done",
        lambda some: some.half_done,
        lambda some: f"of {some.given_up:,} given up",
        lambda some: some.half_done > 0,
    ),
    _Column(
        "nothing to do",
        lambda some: some.idle,
        lambda some: f"of {some.done:,} succeeded",
        lambda some: some.is_mostly_idle,
    ),
    _Column(
        "of statements that never did anything",
        lambda some: some.without_effect,
        lambda some: f"of {some.succeeded:,} transactions that succeeded",
        lambda some: some.has_vain_statement,
    ),
    _Column("in flight", lambda some: some.in_flight, lambda _: ""),
    _Column(
        "due, not begun", lambda some: some.due.not_begun, lambda some: f"of {some.due.jobs:,} due"
    ),
)


def groups_table(subject: Subject) -> PageTable:
    """Per cell and writer group, the measures that differ between writers."""
    measures = ("job_success_rate", "goodput_per_minute", "latency_p95_ms", "abort_rate")
    groups = subject.tables.groups
    keys = ["cell", "writer_group", "command"]
    rows = []
    for (cell, group, command), frame in groups.groupby(keys, sort=False):
        estimates = {row["measure"]: estimate_in(row) for row in frame.to_dict("records")}
        entries = (estimate_entry(estimates[m], MEASURES[m].unit) for m in measures)
        rows.append(
            (
                PageEntry(subject.layout.title(str(cell))),
                PageEntry(str(group)),
                PageEntry(str(command)),
                *entries,
            )
        )
    named = ("cell", "writer", "command")
    headings = (*named, *(MEASURES[m].title for m in measures))
    return PageTable(headings, tuple(rows), texts=named)


def replay_table(agreement: ReportedAgreement) -> PageTable:
    """Every replayed transaction: recorded end, real end, and how they compare."""
    headings = ("transaction", "command", "simulated", "real Delta", "comparison")
    rows = tuple(
        (
            *map(PageEntry, (each.transaction, each.command, each.recorded, each.real)),
            PageEntry(each.comparison, each.reason),
        )
        for each in agreement.transactions
    )
    return PageTable(headings, rows, texts=headings)


def definitions(measures: Iterable[str]) -> Iterable[tuple[str, str]]:
    """Every measure that is shown, with what it means."""
    return [(MEASURES[each].title, MEASURES[each].meaning) for each in measures]


def _what(subject: Subject) -> str:
    return "cell" if subject.runs.is_sweep else "writer"


def estimate_entry(
    estimate: Estimate | None, unit: Unit, beside: Collection[float] = ()
) -> PageEntry:
    """A value with what qualifies it, and the thresholds that stand beside it."""
    if estimate is None or math.isnan(estimate.point):
        return PageEntry("n/a")
    text = marked(written_point(estimate, unit, beside), estimate.beyond)
    is_bounded = estimate.statement is not Claim.NONE
    bounds = written_bounds(estimate, unit, beside) if is_bounded else ""
    return PageEntry(text, ", ".join(part for part in (bounds, written_basis(estimate)) if part))


def _counted(count: int, estimate: Estimate | None) -> PageEntry:
    entry = estimate_entry(estimate, Unit.SHARE)
    return PageEntry(entry.text, f"{count:,} aborted") if count else PageEntry("0")
