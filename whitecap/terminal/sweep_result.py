"""What a sweep found: in the terminal, and as plain values for `--json`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from whitecap.reports.answer import Answer
from whitecap.reports.expectations.cells import judged_cells
from whitecap.reports.expectations.expected import Expected
from whitecap.reports.expectations.judging import judged_document
from whitecap.reports.measures import MEASURES, Measure, Unit, written
from whitecap.reports.measures.left_out import added
from whitecap.reports.subject import Subject
from whitecap.reports.tables.rows import estimate_columns
from whitecap.terminal.console import new_console
from whitecap.terminal.findings import show_judged_cells, show_overload, show_refusals
from whitecap.terminal.table import Column, print_indented, show_table

SHOWN = {
    "goodput_per_minute": Column("goodput"),
    "conflict_rate": Column("conflicts"),
    "retry_rate": Column("retries", leave=1),
    "abort_rate": Column("aborts", leave=2),
    "job_success_rate": Column("success"),
    "latency_p95_ms": Column("p95"),
    "wasted_compute_share": Column("wasted"),
}
"""Measures in the terminal, with headings short enough for it; the report has them all."""

CAPTION = "Means over replications; the report has their intervals."


LEAST = Column("least success of a group", text=True)


def show_sweep(subject: Subject, answer: Answer | None, expected: Sequence[Expected] = ()) -> None:
    """The measures of every cell, the answer, and what stands behind and against it."""
    console = new_console()
    cells = [cell.name for cell in subject.layout.cells]
    rows = [list(_row(subject, name)) for name in cells]
    best = [cells.index(answer.best)] if answer is not None else []
    columns = [Column("cell", text=True), *SHOWN.values(), LEAST]
    show_table(console, columns, rows, stressed=best, caption=CAPTION)
    if answer is not None:
        console.print()
        show_answer(answer)
    _show_findings(subject, answer, expected)


def _show_findings(subject: Subject, answer: Answer | None, expected: Sequence[Expected]) -> None:
    """Where work piled up, who stopped whom in the best cell, and whether all is as expected."""
    console, tables, layout = new_console(), subject.tables, subject.layout
    names = [cell.name for cell in layout.cells]
    show_overload(console, layout, {n: added([*tables.left_out_of(n).values()]) for n in names})
    if answer is not None and tables.refusals_of(answer.best):
        print_indented(console, f"Who stops whom in {layout.title(answer.best)}:", by=0)
        show_refusals(console, tables.refusals_of(answer.best))
    judged = judged_cells(expected, tables.measured(), layout)
    if judged:
        show_judged_cells(console, layout, judged)


def show_answer(answer: Answer) -> None:
    """The answer in a sentence, and what stands behind it."""
    console = new_console()
    print_indented(console, f"{answer.headline}.", by=0)
    for sentence in answer.sentences:
        print_indented(console, sentence)


def _row(subject: Subject, cell: str) -> Iterator[str]:
    yield subject.layout.title(cell)
    for measure in SHOWN:
        yield written(subject.tables.of(measure)[cell].point, MEASURES[measure].unit)
    yield _least_success(subject, cell)


def _least_success(subject: Subject, cell: str) -> str:
    """The writer group that gets fewest of its jobs through, which the mean of all hides."""
    by_group = subject.tables.groups_of(cell, Measure.JOB_SUCCESS_RATE)
    means = {g.writer_group: each.point for g, each in by_group.items() if each.replications}
    least = min(means, key=lambda group: means[group], default=None)
    return "" if least is None else f"{least} {written(means[least], Unit.SHARE)}"


def sweep_document(
    subject: Subject, answer: Answer | None, expected: Sequence[Expected] = ()
) -> dict[str, Any]:
    """The same and every other measure with its interval, numbers as they are."""
    origin = subject.provenance
    return {
        "scenario_name": origin.scenario_name,
        "scenario_hash": origin.scenario_hash,
        "seed": origin.seed,
        "replications": origin.replications,
        "dialect": origin.dialect,
        "runs_finished": origin.finished,
        "runs_planned": origin.planned,
        "cells": [
            {
                "name": cell.name,
                "labels": cell.labels,
                "measures": {
                    name: estimate_columns(subject.tables.of(name)[cell.name]) for name in MEASURES
                },
            }
            for cell in subject.layout.cells
        ],
        "refusals": {
            cell.name: [refusal.as_row() for refusal in subject.tables.refusals_of(cell.name)]
            for cell in subject.layout.cells
        },
        "expectations": [
            {"cell": cell, **judged_document(found)}
            for each in judged_cells(expected, subject.tables.measured(), subject.layout)
            for cell, found in each.cells.items()
        ],
        "answer": answer,
    }
