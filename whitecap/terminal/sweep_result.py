"""What a sweep found: in the terminal, and as plain values for `--json`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from rich.console import Console

from whitecap.reports.answers.answer import WordedAnswer
from whitecap.reports.answers.behind import limiting_cell, why_limiting
from whitecap.reports.answers.overload import overload_in
from whitecap.reports.answers.standing import CellStanding
from whitecap.reports.cost import cost_sentence
from whitecap.reports.damage import damage_of_runs
from whitecap.reports.expectations.cells import judged_cells
from whitecap.reports.expectations.expected import MeasureThresholds
from whitecap.reports.expectations.judging import judged_document
from whitecap.reports.measures import MEASURES, Measure, Unit, written
from whitecap.reports.measures.counting import PERCENTILES
from whitecap.reports.measures.left_out import added
from whitecap.reports.measures.writing import digits_beside
from whitecap.reports.statistics import Estimate, written_estimate
from whitecap.reports.subject import Subject
from whitecap.reports.summary import EVERYONE
from whitecap.reports.tables.rows import estimate_columns
from whitecap.sim.loading import cell_of
from whitecap.sim.scenario.model import Scenario
from whitecap.terminal.answer import show_answer, show_objectives_of_cells
from whitecap.terminal.console import new_console
from whitecap.terminal.findings import (
    show_damage,
    show_half_done,
    show_in_step,
    show_instants_after_the_end,
    show_judged_cells,
    show_origins,
    show_overload,
    show_refusals,
)
from whitecap.terminal.percentiles import MARK, percentile_text
from whitecap.terminal.table import (
    PrintedColumn,
    print_indented,
    show_table,
    without_empty_columns,
)

SHOWN = {
    "goodput_per_minute": PrintedColumn("goodput"),
    "wasted_compute_share": PrintedColumn("wasted"),
    "latency_p95_ms": PrintedColumn("p95"),
    "conflict_rate": PrintedColumn("conflicts"),
    "abort_rate": PrintedColumn("aborts", leave=2),
    "retry_rate": PrintedColumn("retries", leave=1),
    "latency_p99_9_ms": PrintedColumn("p99.9", leave=0),
}
"""Measures in the terminal, with headings short enough for it; the report has them all."""

COSTS = {
    "cost_per_month": PrintedColumn("cost a month", leave=6),
    "wasted_cost_per_month": PrintedColumn("wasted of it", leave=4),
    "cost_per_job": PrintedColumn("cost per job", leave=5),
}
"""Besides, where a price was stated: who states one decides by it, so they leave last."""

VALUES = PrintedColumn("n", leave=3)
"""How many latencies the percentiles rest on."""

FIRST = (
    PrintedColumn("cell", text=True),
    PrintedColumn("objectives", text=True),
    PrintedColumn("success"),
    PrintedColumn("least success of a group", text=True),
)
"""What one decides by."""

CAPTION = (
    "Over all replications; the report has the intervals. Percentiles: latency of the n jobs that "
    f"committed. {MARK} Bold: what the answer names."
)


def show_sweep(
    subject: Subject,
    answer: WordedAnswer,
    expected: Sequence[MeasureThresholds] = (),
    scenario: Scenario | None = None,
) -> None:
    """The measures of every cell, the answer, and what stands behind and against it.

    With its `scenario` also which writers meet by how they are described.
    """
    console = new_console()
    if not subject.layout.axes:
        _show_groups(console, subject)
    else:
        _show_cells(console, subject, answer)
    console.print()
    show_answer(console, answer)
    _show_cost(console, subject, answer.cell)
    _show_findings(subject, answer, expected, scenario)


OF_GROUPS = (
    Measure.JOB_SUCCESS_RATE, Measure.GOODPUT_PER_MINUTE, Measure.LATENCY_P95_MS,
    Measure.CONFLICT_RATE, Measure.WASTED_COMPUTE_SHARE,
)  # fmt: skip
"""Measures of one cell, by writer group and with their intervals."""


def _show_groups(console: Console, subject: Subject) -> None:
    """The only cell of a scenario that was replicated: its writer groups, and all together."""
    tables, (cell, *_) = subject.tables, subject.layout.cells
    groups = {m: tables.groups_of(cell.name, m) for m in OF_GROUPS}
    names = list(groups[OF_GROUPS[0]])
    rows = [[*name, *(_with_interval(groups[m][name], m) for m in OF_GROUPS)] for name in names]
    if len(rows) > 1:
        whole = {m: tables.of(m)[cell.name] for m in OF_GROUPS}
        rows.append([EVERYONE, "", *(_with_interval(whole[m], m) for m in OF_GROUPS)])
    columns = [PrintedColumn("writer", text=True), PrintedColumn("command", text=True)]
    columns += [PrintedColumn(MEASURES[m].called, text=True) for m in OF_GROUPS]
    caption = f"95 % intervals over {subject.replications} replications."
    show_table(console, columns, rows, names=2, stressed=[len(names)], caption=caption, lines=True)


def _with_interval(estimate: Estimate, measure: Measure) -> str:
    return written_estimate(estimate, measure.unit)


def _show_cells(console: Console, subject: Subject, answer: WordedAnswer) -> None:
    cells = [cell.name for cell in subject.layout.cells]
    named = [cells.index(answer.cell)]
    currency = subject.runs.currency
    shown = SHOWN | (COSTS if currency else {})
    every = list(_rows(subject, answer, list(shown)))
    columns, rows = without_empty_columns([*FIRST, *shown.values(), VALUES], every)
    caption = f"{CAPTION} Costs in {currency}." if currency else CAPTION
    show_table(console, columns, rows, stressed=named, caption=caption)


def _show_cost(console: Console, subject: Subject, cell: str) -> None:
    """Of what the answer names, where a price was stated."""
    manifest = next(iter(subject.runs.manifests_of(cell)))
    if cost := cost_sentence(manifest, subject.tables.measured[cell]):
        print_indented(console, subject.layout.led(cell, cost), by=0)


def _show_findings(
    subject: Subject,
    answer: WordedAnswer,
    expected: Sequence[MeasureThresholds],
    scenario: Scenario | None,
) -> None:
    """Where work piled up, who stopped whom in the way, and whether all is as expected."""
    console, layout = new_console(), subject.layout
    _show_what_is_left(console, subject)
    if scenario is not None:
        show_instants_after_the_end(console, scenario)
    _show_limiting_cell(console, subject, answer, scenario)
    show_objectives_of_cells(console, layout, answer)
    judged = judged_cells(expected, subject.tables.measured, layout)
    if judged:
        show_judged_cells(console, layout, judged)
    show_origins(console, [run.manifest for run in subject.runs.runs])


def _show_what_is_left(console: Console, subject: Subject) -> None:
    """Damaged tables, work that piled up, and jobs that left a commit behind."""
    layout, names = subject.layout, [cell.name for cell in subject.layout.cells]
    show_damage(console, {layout.title(n): subject.runs.manifests_of(n) for n in names})
    by_group = {name: subject.tables.left_out_of(name) for name in names}
    show_overload(console, layout, {n: overload_in(each) for n, each in by_group.items()})
    show_half_done(console, layout, {n: added([*each.values()]) for n, each in by_group.items()})


def _show_limiting_cell(
    console: Console, subject: Subject, answer: WordedAnswer, scenario: Scenario | None
) -> None:
    """Who stops whom where that limits the answer."""
    limit = limiting_cell(answer.findings)
    if refusals := subject.tables.refusals_of(limit):
        place = f" in {subject.layout.title(limit)}{why_limiting(answer.findings)}"
        where = place if subject.layout.axes else ""
        print_indented(console, f"Who stops whom{where}:", by=0)
        show_refusals(console, refusals)
        if scenario is not None:
            labels = next(each.labels for each in subject.layout.cells if each.name == limit)
            show_in_step(console, cell_of(scenario, labels) if labels else scenario, refusals)


def _rows(subject: Subject, answer: WordedAnswer, measures: Sequence[str]) -> Iterator[list[str]]:
    success = subject.tables.of(_SUCCESS)
    shown = {measure: subject.tables.of(measure) for measure in measures}
    standings = answer.standings
    for cell in (each.name for each in subject.layout.cells):
        yield [
            subject.layout.title(cell),
            standings[cell].stands,
            _success(standings[cell], success[cell].point),
            _least_success(subject, standings[cell]),
            *(_value(MEASURES[m].measure, of[cell]) for m, of in shown.items()),
            f"{shown[Measure.LATENCY_P95_MS][cell].units or 0:,.0f}",
        ]


def _value(measure: Measure, estimate: Estimate) -> str:
    if measure in PERCENTILES:
        return percentile_text(measure, estimate.point, estimate.units or 0)
    return written(estimate.point, measure.unit)


def _success(standing: CellStanding, share: float) -> str:
    """A share of jobs, not rounded to what is asked for of it."""
    own = (each.held for each in standing.objectives if each.held.measure is _SUCCESS)
    asked = [held.objective.threshold for held in own]
    return written(share, Unit.SHARE, digits_beside([share], asked, Unit.SHARE))


_SUCCESS = Measure.JOB_SUCCESS_RATE


def _least_success(subject: Subject, standing: CellStanding) -> str:
    """The writer group that gets fewest of its jobs through, which the mean of all hides."""
    by_group = subject.tables.groups_of(standing.cell, _SUCCESS)
    means = {g.writer_group: each.point for g, each in by_group.items() if each.replications}
    least = min(means, key=lambda group: means[group], default=None)
    return "" if least is None else f"{least} {_success(standing, means[least])}"


def sweep_document(
    subject: Subject, answer: WordedAnswer, expected: Sequence[MeasureThresholds]
) -> dict[str, Any]:
    """The same and every other measure with its interval, numbers as they are."""
    return {
        **_origin(subject),
        "cells": list(_cell_documents(subject)),
        "refusals": _refusals(subject),
        "expectations": list(_judged_documents(subject, expected)),
        "answer": answer.document,
    }


def _origin(subject: Subject) -> dict[str, Any]:
    origin = subject.provenance
    return {
        "scenario_name": origin.scenario_name,
        "scenario_hash": origin.scenario_hash,
        "seed": origin.seed,
        "replications": origin.replications,
        "dialect": origin.dialect,
        "runs_finished": origin.finished,
        "runs_planned": origin.planned,
        "stores": origin.stores,
    }


def _cell_documents(subject: Subject) -> Iterator[dict[str, Any]]:
    estimates = {measure: subject.tables.of(measure) for measure in MEASURES}
    for cell in subject.layout.cells:
        yield {
            "name": cell.name,
            "labels": cell.labels,
            **damage_of_runs(subject.runs.manifests_of(cell.name)),
            "measures": {m: estimate_columns(of[cell.name]) for m, of in estimates.items()},
        }


def _refusals(subject: Subject) -> dict[str, Any]:
    """By cell: who was refused because of whom."""
    names = [cell.name for cell in subject.layout.cells]
    return {n: [each.as_row() for each in subject.tables.refusals_of(n)] for n in names}


def _judged_documents(
    subject: Subject, expected: Sequence[MeasureThresholds]
) -> Iterator[dict[str, Any]]:
    for each in judged_cells(expected, subject.tables.measured, subject.layout):
        for cell, judged in each.cells.items():
            yield {"cell": cell, **judged_document(judged)}
