"""The tables that belong to the answer: how every cell stands, and what sets one apart."""

from __future__ import annotations

from whitecap.engine.recorded import Measure
from whitecap.reports.answers.answer import WordedAnswer
from whitecap.reports.answers.overload import overload_text
from whitecap.reports.answers.phrases import NO_JOB_DUE, held_text, needed_text, value_text
from whitecap.reports.answers.standing import CellStanding, JudgedObjective, ObjectiveStanding
from whitecap.reports.measures import MEASURES, Unit
from whitecap.reports.pages.page_tables import PageEntry, PageTable, estimate_entry
from whitecap.reports.runs import WHOLE_RUN
from whitecap.reports.statistics import (
    Claim,
    EstimatedDifference,
    written_difference,
    written_difference_bounds,
)
from whitecap.reports.subject import Subject

COMPARED = (
    "job_success_rate", "goodput_per_minute", "wasted_compute_share", "latency_p95_ms",
    "conflict_rate",
)  # fmt: skip
"""The measures whose paired differences are shown."""


def objectives_table(subject: Subject, answer: WordedAnswer) -> PageTable:
    """How every cell stands to the objectives, group by group, beside the success of all."""
    standings = answer.standings
    success = subject.tables.of(Measure.JOB_SUCCESS_RATE)
    held = list(dict.fromkeys(o.held for s in standings.values() for o in s.objectives))
    rows = []
    for cell, standing in standings.items():
        objectives = {each.held: each for each in standing.objectives}
        rows.append(
            (
                PageEntry(subject.layout.title(cell) if subject.runs.is_sweep else "this run"),
                _stands(standing),
                estimate_entry(success.get(cell) or success.get(WHOLE_RUN), Unit.SHARE),
                *(_judged(objectives.get(each)) for each in held),
            )
        )
    headings = ("cell", "objectives", "job success rate of all", *map(held_text, held))
    named = subject.layout.title(answer.cell) if len(rows) > 1 else None
    return PageTable(headings, tuple(rows), named, texts=("objectives",))


def _stands(standing: CellStanding) -> PageEntry:
    below = needed_text(standing.needed) if standing.stands is ObjectiveStanding.UNDECIDED else ""
    return PageEntry(
        f"{standing.stands.sign} {standing.stands}", below, standing.stands.name.lower()
    )


def _judged(judged: JudgedObjective | None) -> PageEntry:
    if judged is None:
        return PageEntry("")
    unit = judged.held.measure.unit
    shown = (
        PageEntry(value_text(judged))
        if unit.is_counted
        else estimate_entry(judged.estimate, unit, judged.held.thresholds.values())
    )
    mark, below = judged.stands.name.lower(), shown.below
    if judged.stands is ObjectiveStanding.TOO_FEW:
        below = NO_JOB_DUE if judged.is_idle else f"{judged.jobs:,} jobs are too few"
    if judged.overload:
        below = overload_text(judged.overload)
    return PageEntry(f"{judged.stands.sign} {shown.text}", below, mark)


def differences_table(subject: Subject, answer: WordedAnswer) -> PageTable:
    """The named cell minus each other one under the same load, paired by replication."""
    under = next(each for each in answer.findings.loads if answer.cell in each.cells)
    rows = tuple(
        (
            PageEntry(subject.layout.title(cell)),
            *(_gap(subject.tables.difference(m, answer.cell, cell), m) for m in COMPARED),
        )
        for cell in under.cells
        if cell != answer.cell
    )
    headings = (
        f"{subject.layout.title(answer.cell)} minus",
        *(MEASURES[m].title for m in COMPARED),
    )
    return PageTable(headings, rows)


def _gap(gap: EstimatedDifference, measure: str) -> PageEntry:
    unit = MEASURES[measure].unit
    text = written_difference(gap, unit).partition(" (")[0]
    below = "" if gap.statement is Claim.NONE else written_difference_bounds(gap, unit)
    return PageEntry(text, below)
