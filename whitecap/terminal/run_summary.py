"""What one run did: in the terminal, and as plain values for `--json`."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.console import Console

from whitecap.engine.recorded import PRICE, Measure, Unit, columns_read
from whitecap.reports.answers.objectives import ObjectiveSet
from whitecap.reports.answers.of_runs import answer_of_run
from whitecap.reports.cost import cost_sentence
from whitecap.reports.damage import damage_of
from whitecap.reports.expectations.expected import of_cell
from whitecap.reports.expectations.judging import Judged, judge_run, judged_document
from whitecap.reports.measures.counting import PERCENTILES
from whitecap.reports.measures.definitions import PRICED
from whitecap.reports.measures.measured_run import MeasuredRun, measure_run
from whitecap.reports.measures.writing import digits_beside, finite, written
from whitecap.reports.summary import SummaryLine, heading, summary_of
from whitecap.sim.real_table.origins import REAL_TABLES
from whitecap.sim.recording.recording import Recording
from whitecap.sim.scenario.model import Scenario
from whitecap.terminal.answer import show_objectives, show_settling
from whitecap.terminal.console import new_console
from whitecap.terminal.findings import (
    show_damage,
    show_expectations,
    show_in_step,
    show_instants_after_the_end,
    show_left_out,
    show_origins,
    show_refusals,
)
from whitecap.terminal.percentiles import MARK, percentile_text
from whitecap.terminal.table import (
    EMPTY,
    PrintedColumn,
    print_indented,
    show_table,
    without_empty_columns,
)

COLUMNS = (
    PrintedColumn("writer", text=True),
    PrintedColumn("command", text=True),
    PrintedColumn("submitted"),
    PrintedColumn("committed"),
    PrintedColumn("aborted"),
    PrintedColumn("unknown"),
    PrintedColumn("open"),
    PrintedColumn("reruns", leave=3),
    PrintedColumn("given up"),
    PrintedColumn("attempts", leave=1),
    PrintedColumn("success"),
    PrintedColumn("p50", leave=4),
    PrintedColumn("p95"),
    PrintedColumn("p99", leave=2),
    PrintedColumn("p99.9", leave=0),
    PrintedColumn("wasted"),
)
NAMES = 2
"""The columns that say whose line it is."""

CAPTION = (
    "success: jobs that committed, of those that ended. Percentiles: first submission to commit, "
    f"of as many jobs as committed. {MARK} wasted: compute lost to aborts."
)


def show_run(scenario: Scenario, recording: Recording) -> None:
    """A table per writer group and command, how that stands to the objectives, what it leaves
    out, who stopped whom, and whether the run is as expected."""
    console = new_console()
    measured = _measured(recording)
    answer = answer_of_run(recording.manifest, measured)
    parts = heading(recording.manifest, measured.warm_up.used_ms)
    print_indented(console, " · ".join(parts), by=0)
    console.print()
    _show_lines(console, summary_of(measured), answer.findings.objectives)
    show_damage(console, {"Damage": [recording.manifest]})
    show_objectives(console, answer)
    show_settling(console, answer)
    show_left_out(console, {group: part.left_out for group, part in measured.groups.items()})
    show_instants_after_the_end(console, scenario)
    _show_cost(console, recording.manifest, measured)
    show_refusals(console, measured.refusals)
    show_in_step(console, scenario, measured.refusals)
    _show_expectations(console, scenario, recording, measured)
    show_origins(console, [recording.manifest])


def _show_lines(console: Console, lines: Sequence[SummaryLine], objectives: ObjectiveSet) -> None:
    """The table, without columns that are empty everywhere."""
    asked = [each.threshold for each in objectives.each if each.measure is _SUCCESS]
    columns, rows = without_empty_columns(COLUMNS, [list(_cells(line, asked)) for line in lines])
    whole = [at for at, line in enumerate(lines) if not line.command]
    show_table(console, columns, rows, names=NAMES, stressed=whole, caption=CAPTION)


def _measured(recording: Recording) -> MeasuredRun:
    return measure_run(recording.manifest, recording.columns(columns_read(recording.manifest)))


def _show_cost(console: Console, manifest: Mapping[str, Any], measured: MeasuredRun) -> None:
    if cost := cost_sentence(manifest, {0: measured}):
        print_indented(console, cost, by=0)


def _show_expectations(
    console: Console, scenario: Scenario, recording: Recording, measured: MeasuredRun
) -> None:
    """Those of this run; what is expected of other cells, `check` and `sweep` tell."""
    judged = _judged(scenario, recording, measured)
    if judged:
        show_expectations(console, "expected, judged by this one run:", judged)
    if len(judged) < len(scenario.expect):
        count = len(scenario.expect) - len(judged)
        print_indented(
            console, f"{count} more expected of cells of its sweep: whitecap check", by=0
        )


def _judged(scenario: Scenario, recording: Recording, measured: MeasuredRun) -> list[Judged]:
    own = of_cell(scenario.expect, recording.manifest["labels"])
    return [judge_run(each, measured) for each in own]


_SUCCESS = Measure.JOB_SUCCESS_RATE


def _cells(line: SummaryLine, asked: Sequence[float]) -> Iterator[str]:
    """A line of the table, whose success is not rounded to what is asked for of it."""
    yield line.writer
    yield line.command
    for count in (
        line.submitted, line.committed, line.aborted, line.unknown, line.in_flight, line.reruns,
        line.given_up, line.attempts,
    ):  # fmt: skip
        yield f"{count:,}" if count else EMPTY
    yield _share(line.job_success_rate, asked)
    for measure in PERCENTILES:
        yield percentile_text(measure, getattr(line, measure), line.latencies)
    yield _share(line.wasted_compute_share)


def _share(value: float, beside: Sequence[float] = ()) -> str:
    if math.isnan(value):
        return EMPTY
    return written(value, Unit.SHARE, digits_beside([value], beside, Unit.SHARE))


def _cost(manifest: Mapping[str, Any], measured: MeasuredRun) -> dict[str, Any]:
    """Of the whole run, where a price was stated."""
    if PRICE not in manifest:
        return {}
    values = {each.value: finite(measured.whole.value(each)) for each in PRICED}
    return {"cost": {**manifest[PRICE], **values}}


def run_document(scenario: Scenario, recording: Recording) -> dict[str, Any]:
    """The same, with the numbers as they are."""
    manifest = recording.manifest
    real_tables = {key: manifest[key] for key in (REAL_TABLES,) if key in manifest}
    kept = (
        "scenario_name", "scenario_hash", "seed", "replication", "dialect", "labels",
        "duration_ms", "store",
    )  # fmt: skip
    measured = _measured(recording)
    return {
        **{key: manifest[key] for key in kept},
        **real_tables,
        **damage_of(manifest),
        "warm_up_ms": measured.warm_up.used_ms,
        "writers": summary_of(measured),
        **_cost(manifest, measured),
        "answer": answer_of_run(manifest, measured).document,
        "refusals": [refusal.as_row() for refusal in measured.refusals],
        "expectations": [judged_document(each) for each in _judged(scenario, recording, measured)],
    }
