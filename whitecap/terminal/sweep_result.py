"""What a sweep found: in the terminal, and as plain values for `--json`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from whitecap.reports.answer import Answer
from whitecap.reports.measures import MEASURES, written
from whitecap.reports.subject import Subject
from whitecap.terminal.console import new_console
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


def show_sweep(subject: Subject, answer: Answer | None) -> None:
    """The measures of every cell, and the answer."""
    console = new_console()
    cells = [cell.name for cell in subject.layout.cells]
    rows = [[subject.layout.title(name), *_means(subject, name)] for name in cells]
    best = [cells.index(answer.best)] if answer is not None else []
    columns = [Column("cell", text=True), *SHOWN.values()]
    show_table(console, columns, rows, stressed=best, caption=CAPTION)
    if answer is not None:
        console.print()
        show_answer(answer)


def show_answer(answer: Answer) -> None:
    """The answer in a sentence, and what stands behind it."""
    console = new_console()
    print_indented(console, f"{answer.headline}.", by=0)
    for sentence in answer.sentences:
        print_indented(console, sentence)


def _means(subject: Subject, cell: str) -> Iterator[str]:
    for measure in SHOWN:
        yield written(subject.tables.of(measure)[cell].mean, MEASURES[measure].unit)


def sweep_document(subject: Subject, answer: Answer | None) -> dict[str, Any]:
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
                "measures": {name: subject.tables.of(name).get(cell.name) for name in MEASURES},
            }
            for cell in subject.layout.cells
        ],
        "answer": answer,
    }
