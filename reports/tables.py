"""The report's tables: per cell, with intervals over replications, and paired differences.

Plain pandas on what `aggregate.py` measured per run, so that it needs no Java. Cells keep the
order of the sweep. Written as CSV (for people) and Parquet (for programs).
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import pandas as pd

from whitecap.engine.recorded import Measure
from whitecap.reports.intervals import Interval, interval_of
from whitecap.reports.measures import MEASURES
from whitecap.reports.measures.estimates import estimated
from whitecap.reports.measures.groups import Group
from whitecap.reports.measures.left_out import LeftOut, added
from whitecap.reports.measures.measured_run import MeasuredRun
from whitecap.reports.measures.refusals import REFUSAL_COLUMNS, Refusal, ranked
from whitecap.reports.measures.stored import (
    WHOLE,
    Row,
    abort_rows,
    latency_rows,
    left_out_of_row,
    left_out_rows,
    run_of_rows,
    tally_rows,
)
from whitecap.reports.measures.tally import Tally, narrowed

Labels = Mapping[str, Mapping[str, str]]
"""Cell -> axis -> label."""

Measurements = Mapping[tuple[str, int], MeasuredRun]
"""Cell and replication -> what was counted in that run."""

FOR_PROGRAMS = frozenset({"latencies"})
"""Tables with a list in a column, which CSV cannot hold."""


@dataclass(frozen=True, slots=True)
class Tables:
    """Everything that figures and page are drawn from.

    `runs`: measures per run. `cells`: mean and interval per cell and measure. `groups`: the same
    per writer group and command. `exceptions`: abort rate per cell and exception. `differences`:
    first cell minus second, paired by replication. `refusals`: who stopped whom, over all
    replications of a cell. Of every run, and there of every writer group (none named: of all):
    `tallies` (numerator and denominator of each measure), `latencies` (every one), `left_out`
    (what the numbers do not tell), `aborts` (who stopped whom).
    """

    runs: pd.DataFrame
    cells: pd.DataFrame
    groups: pd.DataFrame
    exceptions: pd.DataFrame
    differences: pd.DataFrame
    refusals: pd.DataFrame
    tallies: pd.DataFrame
    latencies: pd.DataFrame
    left_out: pd.DataFrame
    aborts: pd.DataFrame

    def of(self, measure: str) -> dict[str, Interval]:
        """The interval of one measure per cell."""
        return _by_cell(self.cells[self.cells["measure"] == measure])

    def aborts_by(self, exception: str) -> dict[str, Interval]:
        """The abort rate by one exception per cell."""
        return _by_cell(self.exceptions[self.exceptions["exception"] == exception])

    def groups_of(self, cell: str, measure: str) -> dict[Group, Interval]:
        """The interval of one measure per writer group of a cell."""
        frame = self.groups
        frame = frame[(frame["cell"] == cell) & (frame["measure"] == measure)]
        return {
            Group(*names): interval
            for names, interval in zip(
                frame[["writer_group", "command"]].itertuples(index=False),
                _intervals_in(frame),
                strict=True,
            )
        }

    def refusals_of(self, cell: str) -> tuple[Refusal, ...]:
        """Who stopped whom in a cell, over all replications."""
        frame = self.refusals[self.refusals["cell"] == cell]
        return tuple(_refusal(row) for row in frame.to_dict("records"))

    def left_out_of(self, cell: str) -> dict[Group, LeftOut]:
        """What the numbers of a cell do not tell, by writer group over all replications."""
        rows = self.left_out[self.left_out["cell"] == cell].to_dict("records")
        found: dict[Group, list[LeftOut]] = defaultdict(list)
        for row in rows:
            group, left_out = left_out_of_row(row)
            if group != WHOLE:
                found[group].append(left_out)
        return {group: added(several) for group, several in found.items()}

    def measured(self) -> dict[str, dict[int, MeasuredRun]]:
        """Every run as it was measured, by cell and replication."""
        frames = (self.tallies, self.latencies, self.left_out, self.aborts)
        tallies, latencies, left_out, aborts = map(_by_run, frames)
        found: dict[str, dict[int, MeasuredRun]] = defaultdict(dict)
        for run in tallies:
            cell, replication = run
            found[cell][replication] = run_of_rows(
                tallies[run], latencies[run], left_out[run], aborts[run]
            )
        return dict(found)

    def write(self, directory: Path) -> None:
        """Write each table as `<name>.parquet`, and as `<name>.csv` if it can be."""
        directory.mkdir(parents=True, exist_ok=True)
        for field in fields(self):
            frame: pd.DataFrame = getattr(self, field.name)
            if field.name not in FOR_PROGRAMS:
                frame.to_csv(directory / f"{field.name}.csv", index=False, lineterminator="\n")
            frame.to_parquet(directory / f"{field.name}.parquet", index=False)

    @classmethod
    def read(cls, directory: Path) -> Tables:
        """The tables that `write` left in `directory`."""
        names = [field.name for field in fields(cls)]
        return cls(**{name: pd.read_parquet(directory / f"{name}.parquet") for name in names})


def build_tables(measured: Measurements, labels: Labels) -> Tables:
    """All tables of the measured runs, cells in the order of `labels`."""
    by_cell: dict[str, list[MeasuredRun]] = {cell: [] for cell in labels}
    for cell, replication in sorted(measured):
        by_cell[cell].append(measured[cell, replication])
    runs = pd.DataFrame(_values(measured))
    unlabelled = {
        "runs": runs,
        "cells": pd.DataFrame(_of_cells(by_cell)),
        "groups": pd.DataFrame(_of_groups(by_cell)),
        "exceptions": pd.DataFrame(_exception_rates(by_cell), columns=_EXCEPTION_COLUMNS),
        "refusals": pd.DataFrame(_refusals(by_cell), columns=["cell", *REFUSAL_COLUMNS]),
        "tallies": pd.DataFrame(_per_run(measured, tally_rows)),
        "latencies": pd.DataFrame(_per_run(measured, latency_rows)),
        "left_out": pd.DataFrame(_per_run(measured, left_out_rows)),
        "aborts": pd.DataFrame(_per_run(measured, abort_rows), columns=_ABORT_COLUMNS),
    }
    cells = tuple(labels)
    labelled = {
        name: _in_order(_with_labels(frame, labels), cells) for name, frame in unlabelled.items()
    }
    return Tables(differences=paired_differences(runs, cells), **labelled)


def paired_differences(per_run: pd.DataFrame, cells: Sequence[str]) -> pd.DataFrame:
    """`first - second` of every pair of cells and measure, with its interval.

    Replication r has the same random numbers in every cell, so the difference is taken within a
    replication: what both cells share cancels, and the interval is narrower than that of two
    independent means.
    """
    rows: list[Row] = []
    for measure in MEASURES:
        values = per_run.pivot(index="replication", columns="cell", values=measure).astype(float)
        for first, second in itertools.combinations(cells, 2):
            interval = interval_of((values[first] - values[second]).tolist())
            rows.append(
                {
                    "measure": measure,
                    "first": first,
                    "second": second,
                    "difference": interval.mean,
                    "low": interval.low,
                    "high": interval.high,
                    "replications": interval.replications,
                    "distinguishable": interval.excludes_zero,
                }
            )
    return pd.DataFrame(rows, columns=_DIFFERENCE_COLUMNS)


_DIFFERENCE_COLUMNS = [
    "measure", "first", "second", "difference", "low", "high", "replications", "distinguishable",
]  # fmt: skip
_EXCEPTION_COLUMNS = ["cell", "exception", "aborted", "mean", "low", "high", "replications"]
_ABORT_COLUMNS = [
    "cell", "replication", "writer_group", "command", "winner_group", "winner_command",
    "exception", "count",
]  # fmt: skip

ByCell = Mapping[str, Sequence[MeasuredRun]]
"""The runs of each cell, by rising replication."""


def _values(measured: Measurements) -> Iterator[Row]:
    """Every measure of every run."""
    for (cell, replication), run in measured.items():
        values = {measure.value: run.whole.value(measure) for measure in Measure}
        yield {"cell": cell, "replication": replication, **values}


def _per_run(
    measured: Measurements, rows_of: Callable[[MeasuredRun], Iterable[Row]]
) -> Iterator[Row]:
    for (cell, replication), run in measured.items():
        for row in rows_of(run):
            yield {"cell": cell, "replication": replication, **row}


def _of_cells(by_cell: ByCell) -> Iterator[Row]:
    for cell, runs in by_cell.items():
        for measure in Measure:
            tallies = [run.whole.tallies[measure] for run in runs]
            yield {"cell": cell, "measure": measure.value, **_estimated(tallies)}


def _of_groups(by_cell: ByCell) -> Iterator[Row]:
    for cell, runs in by_cell.items():
        for group in dict.fromkeys(group for run in runs for group in run.groups):
            for measure in Measure:
                parts = (run.groups[group] for run in runs if group in run.groups)
                tallies = [part.tallies[measure] for part in parts]
                named = {"cell": cell, **group._asdict(), "measure": measure.value}
                yield {**named, **_estimated(tallies)}


def _exception_rates(by_cell: ByCell) -> Iterator[Row]:
    """Abort rate per cell and exception; a run without an exception has its rate at zero."""
    aborts = {cell: [run.aborts(*run.groups) for run in runs] for cell, runs in by_cell.items()}
    names = sorted({name for runs in aborts.values() for each in runs for name in each})
    for cell, runs in by_cell.items():
        for name in names:
            counts = [each[name] for each in aborts[cell]]
            rates = (run.whole.tallies[Measure.ABORT_RATE] for run in runs)
            shares = [narrowed(rate, count) for rate, count in zip(rates, counts, strict=True)]
            named = {"cell": cell, "exception": name, "aborted": sum(counts)}
            yield {**named, **_estimated(shares)}


def _refusals(by_cell: ByCell) -> Iterator[Row]:
    for cell, runs in by_cell.items():
        for refusal in ranked(each for run in runs for each in run.refusals):
            yield {"cell": cell, **refusal.as_row()}


def _refusal(row: Mapping[Any, Any]) -> Refusal:
    loser = Group(row["loser_group"], row["loser_command"])
    winner = Group(row["winner_group"], row["winner_command"])
    return Refusal(loser, winner, row["exception"], row["count"], row["aborts"])


def _estimated(tallies: Sequence[Tally]) -> Row:
    interval = estimated(tallies)
    return {
        "mean": interval.mean,
        "low": interval.low,
        "high": interval.high,
        "replications": interval.replications,
    }


def _by_cell(frame: pd.DataFrame) -> dict[str, Interval]:
    return dict(zip(map(str, frame["cell"]), _intervals_in(frame), strict=True))


def _intervals_in(frame: pd.DataFrame) -> Iterator[Interval]:
    columns = (frame[name] for name in ("mean", "low", "high", "replications"))
    for mean, low, high, replications in zip(*columns, strict=True):
        yield Interval(float(mean), float(low), float(high), int(replications))


def _by_run(frame: pd.DataFrame) -> dict[tuple[str, int], list[Row]]:
    found: dict[tuple[str, int], list[Row]] = defaultdict(list)
    for row in frame.to_dict("records"):
        found[str(row["cell"]), int(row["replication"])].append({str(k): row[k] for k in row})
    return found


def _with_labels(frame: pd.DataFrame, labels: Labels) -> pd.DataFrame:
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
