"""Tables from measured runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import pandas as pd

from whitecap.engine.recorded import Measure
from whitecap.reports.estimates import estimated
from whitecap.reports.measures.measured_run import MeasuredRun
from whitecap.reports.measures.refusals import REFUSAL_COLUMNS, ranked
from whitecap.reports.measures.stored import (
    StoredRow,
    abort_rows,
    course_rows,
    latency_rows,
    left_out_rows,
    tally_rows,
)
from whitecap.reports.measures.tally import narrowed
from whitecap.reports.tables.pairs import DIFFERENCE_COLUMNS, paired_differences
from whitecap.reports.tables.rows import ESTIMATED, estimate_columns
from whitecap.reports.tables.tables import ReportTables

LabelsByCell = Mapping[str, Mapping[str, str]]
"""Cell -> axis -> label."""

Measurements = Mapping[tuple[str, int], MeasuredRun]
"""Cell and replication -> what was counted in that run."""

ByCell = Mapping[str, Sequence[MeasuredRun]]
"""The runs of each cell, by rising replication."""

EXCEPTION_COLUMNS = ("cell", "exception", "aborted", *ESTIMATED)
ABORT_COLUMNS = (
    "cell", "replication", "writer_group", "command", "winner_group", "winner_command",
    "exception", "count",
)  # fmt: skip

COURSE_COLUMNS = (
    "cell", "replication", "series", "started_ms", "values", "warm_up_ms", "is_auto", "duration_ms",
)  # fmt: skip


def build_tables(measured: Measurements, labels: LabelsByCell) -> ReportTables:
    """All tables of the measured runs, cells in the order of `labels`."""
    runs: dict[str, dict[int, MeasuredRun]] = {cell: {} for cell in labels}
    for cell, replication in sorted(measured):
        runs[cell][replication] = measured[cell, replication]
    by_cell = {cell: list(several.values()) for cell, several in runs.items()}
    unlabelled = {
        "runs": pd.DataFrame(_values(measured)),
        "cells": pd.DataFrame(_of_cells(by_cell)),
        "groups": pd.DataFrame(_of_groups(by_cell)),
        "exceptions": _frame(_exception_rates(by_cell), EXCEPTION_COLUMNS),
        "refusals": _frame(_refusals(by_cell), ("cell", *REFUSAL_COLUMNS)),
        "tallies": pd.DataFrame(_per_run(measured, tally_rows)),
        "latencies": pd.DataFrame(_per_run(measured, latency_rows)),
        "left_out": pd.DataFrame(_per_run(measured, left_out_rows)),
        "aborts": _frame(_per_run(measured, abort_rows), ABORT_COLUMNS),
        "courses": _frame(_per_run(measured, course_rows), COURSE_COLUMNS),
    }
    cells = tuple(labels)
    labelled = {
        name: _in_order(_with_labels(frame, labels), cells) for name, frame in unlabelled.items()
    }
    return ReportTables(
        differences=_frame(paired_differences(runs), DIFFERENCE_COLUMNS), **labelled
    )


def _frame(rows: Iterable[StoredRow], columns: Sequence[str]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=list(columns))


def _values(measured: Measurements) -> Iterator[StoredRow]:
    """Every measure of every run."""
    for (cell, replication), run in measured.items():
        values = {measure.value: run.whole.value(measure) for measure in Measure}
        yield {"cell": cell, "replication": replication, **values}


def _per_run(
    measured: Measurements, rows_of: Callable[[MeasuredRun], Iterable[StoredRow]]
) -> Iterator[StoredRow]:
    for (cell, replication), run in measured.items():
        for row in rows_of(run):
            yield {"cell": cell, "replication": replication, **row}


def _of_cells(by_cell: ByCell) -> Iterator[StoredRow]:
    for cell, runs in by_cell.items():
        for measure in Measure:
            estimate = estimated(measure, [run.whole.tallies[measure] for run in runs])
            yield {"cell": cell, "measure": measure.value, **estimate_columns(estimate)}


def _of_groups(by_cell: ByCell) -> Iterator[StoredRow]:
    for cell, runs in by_cell.items():
        for group in dict.fromkeys(group for run in runs for group in run.groups):
            parts = [run.groups[group] for run in runs if group in run.groups]
            for measure in Measure:
                estimate = estimated(measure, [part.tallies[measure] for part in parts])
                named = {"cell": cell, **group._asdict(), "measure": measure.value}
                yield {**named, **estimate_columns(estimate)}


def _exception_rates(by_cell: ByCell) -> Iterator[StoredRow]:
    """Abort rate per cell and exception; a run without an exception has its rate at zero."""
    aborts = {cell: [run.aborts(*run.groups) for run in runs] for cell, runs in by_cell.items()}
    names = sorted({name for runs in aborts.values() for each in runs for name in each})
    for cell, runs in by_cell.items():
        for name in names:
            counts = [each[name] for each in aborts[cell]]
            rates = (run.whole.tallies[Measure.ABORT_RATE] for run in runs)
            shares = [narrowed(rate, count) for rate, count in zip(rates, counts, strict=True)]
            named = {"cell": cell, "exception": name, "aborted": sum(counts)}
            yield {**named, **estimate_columns(estimated(Measure.ABORT_RATE, shares))}


def _refusals(by_cell: ByCell) -> Iterator[StoredRow]:
    for cell, runs in by_cell.items():
        for refusal in ranked(each for run in runs for each in run.refusals):
            yield {"cell": cell, **refusal.as_row()}


def _with_labels(frame: pd.DataFrame, labels: LabelsByCell) -> pd.DataFrame:
    """`frame` with one column per axis after the cell's name."""
    axes = list(dict.fromkeys(axis for per_axis in labels.values() for axis in per_axis))
    labelled = frame.copy()
    for position, axis in enumerate(axes, start=1):
        of_cell = {cell: per_axis.get(axis) for cell, per_axis in labels.items()}
        labelled.insert(position, f"axis_{axis}", labelled["cell"].map(of_cell))
    return labelled


def _in_order(frame: pd.DataFrame, cells: Sequence[str]) -> pd.DataFrame:
    """The rows in the sweep's order of cells, otherwise as they are."""
    position = {cell: i for i, cell in enumerate(cells)}
    order = frame["cell"].map(position).sort_values(kind="stable").index
    return frame.loc[order].reset_index(drop=True)
