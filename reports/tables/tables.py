"""All tables of a report, what is read off them, and how they are kept on disk."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd
from msgspec import Struct
from msgspec.structs import asdict

from whitecap.reports.measures.groups import WriterCommand
from whitecap.reports.measures.left_out import JobsLeftOpen, added
from whitecap.reports.measures.measured_run import MeasuredRun
from whitecap.reports.measures.refusals import RefusalCount
from whitecap.reports.measures.stored import WHOLE, StoredRow, left_out_of_row, run_of_rows
from whitecap.reports.statistics import Claim, Estimate, EstimatedDifference
from whitecap.reports.tables.rows import difference_in, estimate_in

FOR_PROGRAMS = frozenset({"latencies", "courses"})
"""Tables with a list in a column, which CSV cannot hold."""


class ReportTables(Struct, frozen=True, dict=True):
    """Everything that figures and page are drawn from.

    `runs`: measures per run. `cells`: estimate per cell and measure. `groups`: the same
    per writer group and command. `exceptions`: abort rate per cell and exception. `differences`:
    first cell minus second, paired by replication. `refusals`: who stopped whom, over all
    replications of a cell. Of every run, and there of every writer group (none named: of all):
    `tallies` (numerator and denominator of each measure), `latencies` (every one), `left_out`
    (what the numbers do not tell), `aborts` (who stopped whom), `courses` (the warm-up and the
    series in which it is looked for).
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
    courses: pd.DataFrame

    def of(self, measure: str) -> dict[str, Estimate]:
        """The estimate of one measure per cell."""
        return _by_cell(self.cells[self.cells["measure"] == measure])

    def aborts_by(self, exception: str) -> dict[str, Estimate]:
        """The abort rate by one exception per cell."""
        return _by_cell(self.exceptions[self.exceptions["exception"] == exception])

    def groups_of(self, cell: str, measure: str) -> dict[WriterCommand, Estimate]:
        """The estimate of one measure per writer group of a cell."""
        frame = self.groups
        rows = frame[(frame["cell"] == cell) & (frame["measure"] == measure)].to_dict("records")
        return {
            WriterCommand(row["writer_group"], row["command"]): estimate_in(row) for row in rows
        }

    def difference(self, measure: str, first: str, second: str) -> EstimatedDifference:
        """The paired difference `first - second` of a measure; not known if they share no run."""
        frame = self.differences[self.differences["measure"] == measure]
        for cell, other in ((first, second), (second, first)):
            rows = frame[(frame["first"] == cell) & (frame["second"] == other)].to_dict("records")
            if rows:
                gap = difference_in(rows[0])
                return gap if cell == first else -gap
        return EstimatedDifference(math.nan, math.nan, math.nan, Claim.NONE, 0)

    def refusals_of(self, cell: str) -> tuple[RefusalCount, ...]:
        """Who stopped whom in a cell, over all replications."""
        frame = self.refusals[self.refusals["cell"] == cell]
        return tuple(_refusal(row) for row in frame.to_dict("records"))

    def left_out_of(self, cell: str) -> dict[WriterCommand, JobsLeftOpen]:
        """What the numbers of a cell do not tell, by writer group over all replications."""
        rows = self.left_out[self.left_out["cell"] == cell].to_dict("records")
        by_group: dict[WriterCommand, list[JobsLeftOpen]] = defaultdict(list)
        for row in rows:
            group, left_out = left_out_of_row(row)
            if group != WHOLE:
                by_group[group].append(left_out)
        return {group: added(several) for group, several in by_group.items()}

    @cached_property
    def measured(self) -> dict[str, dict[int, MeasuredRun]]:
        """Every run as it was measured, by cell and replication."""
        frames = (self.tallies, self.latencies, self.left_out, self.aborts, self.courses)
        tallies, latencies, left_out, aborts, courses = map(_by_run, frames)
        runs: dict[str, dict[int, MeasuredRun]] = defaultdict(dict)
        for run in tallies:
            cell, replication = run
            runs[cell][replication] = run_of_rows(
                tallies[run], latencies[run], left_out[run], aborts[run], courses[run]
            )
        return dict(runs)

    def write(self, directory: Path) -> None:
        """Write each table as `<name>.parquet`, and as `<name>.csv` if it can be."""
        directory.mkdir(parents=True, exist_ok=True)
        for name, frame in asdict(self).items():
            if name not in FOR_PROGRAMS:
                frame.to_csv(directory / f"{name}.csv", index=False, lineterminator="\n")
            frame.to_parquet(directory / f"{name}.parquet", index=False)

    @classmethod
    def read(cls, directory: Path) -> ReportTables:
        """The tables that `write` left in `directory`."""
        names = cls.__struct_fields__
        return cls(**{name: pd.read_parquet(directory / f"{name}.parquet") for name in names})


def _by_cell(frame: pd.DataFrame) -> dict[str, Estimate]:
    return {str(row["cell"]): estimate_in(row) for row in frame.to_dict("records")}


def _refusal(row: Mapping[Any, Any]) -> RefusalCount:
    loser = WriterCommand(row["loser_group"], row["loser_command"])
    winner = WriterCommand(row["winner_group"], row["winner_command"])
    return RefusalCount(loser, winner, row["exception"], row["count"], row["aborts"])


def _by_run(frame: pd.DataFrame) -> dict[tuple[str, int], list[StoredRow]]:
    names = [str(name) for name in frame.columns]
    rows: dict[tuple[str, int], list[StoredRow]] = defaultdict(list)
    for values in zip(*(frame[name].tolist() for name in names), strict=True):
        row = dict(zip(names, values, strict=True))
        rows[str(row["cell"]), int(row["replication"])].append(row)
    return rows
