"""The report's tables: per cell, with intervals over replications, and paired differences.

Plain pandas on what `aggregate.py` computed per run, so that it needs no Java. Cells keep the
order of the sweep. Written as CSV (for people) and Parquet (for programs).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import pandas as pd

from whitecap.reports.measures import MEASURES, Measure, Unit
from whitecap.reports.statistics import Difference, Estimate, Statement, difference, mean, share

Labels = Mapping[str, Mapping[str, str]]
"""Cell -> axis -> label."""


@dataclass(frozen=True, slots=True)
class Tables:
    """Everything that figures and page are drawn from.

    `runs`: measures per run. `cells`: mean and interval per cell and measure. `groups`: the same
    per writer group and command. `exceptions`: abort rate per cell and exception. `differences`:
    first cell minus second, paired by replication.
    """

    runs: pd.DataFrame
    cells: pd.DataFrame
    groups: pd.DataFrame
    exceptions: pd.DataFrame
    differences: pd.DataFrame

    def of(self, measure: str) -> dict[str, Estimate]:
        """The interval of one measure per cell."""
        return _by_cell(self.cells[self.cells["measure"] == measure])

    def aborts_by(self, exception: str) -> dict[str, Estimate]:
        """The abort rate by one exception per cell."""
        return _by_cell(self.exceptions[self.exceptions["exception"] == exception])

    def write(self, directory: Path) -> None:
        """Write each table as `<name>.csv` and `<name>.parquet`."""
        directory.mkdir(parents=True, exist_ok=True)
        for field in fields(self):
            frame: pd.DataFrame = getattr(self, field.name)
            frame.to_csv(directory / f"{field.name}.csv", index=False, lineterminator="\n")
            frame.to_parquet(directory / f"{field.name}.parquet", index=False)

    @classmethod
    def read(cls, directory: Path) -> Tables:
        """The tables that `write` left in `directory`."""
        names = [field.name for field in fields(cls)]
        return cls(**{name: pd.read_parquet(directory / f"{name}.parquet") for name in names})


def _by_cell(frame: pd.DataFrame) -> dict[str, Estimate]:
    return {str(row["cell"]): estimate_in(row) for row in frame.to_dict("records")}


def estimate_in(row: Mapping[Any, Any]) -> Estimate:
    """The estimate that a row of `cells`, `groups` or `exceptions` holds."""
    return Estimate(
        float(row["mean"]),
        float(row["low"]),
        float(row["high"]),
        Statement(row["statement"]),
        int(row["replications"]),
    )


def _columns(estimate: Estimate) -> dict[str, object]:
    """What `estimate_in` reads."""
    return {
        "mean": estimate.point,
        "low": estimate.low,
        "high": estimate.high,
        "replications": estimate.replications,
        "statement": estimate.statement.value,
    }


def build_tables(
    per_run: pd.DataFrame, per_group: pd.DataFrame, exceptions: pd.DataFrame, labels: Labels
) -> Tables:
    """All tables from the measures per run, per run and writer group, and the exceptions."""
    cells = tuple(labels)
    return Tables(
        runs=_in_order(_with_labels(per_run, labels), cells),
        cells=_in_order(_with_labels(_intervals(per_run, ("cell",)), labels), cells),
        groups=_in_order(
            _with_labels(_intervals(per_group, ("cell", "writer_group", "command")), labels), cells
        ),
        exceptions=_in_order(_with_labels(_exception_rates(exceptions, per_run), labels), cells),
        differences=paired_differences(per_run, cells),
    )


def paired_differences(per_run: pd.DataFrame, cells: Sequence[str]) -> pd.DataFrame:
    """`first - second` of every pair of cells and measure, with its interval.

    Replication r has the same random numbers in every cell, so the difference is taken within a
    replication: what both cells share cancels, and the interval is narrower than that of two
    independent means.
    """
    rows: list[dict[str, object]] = []
    for measure in MEASURES:
        values = per_run.pivot(index="replication", columns="cell", values=measure).astype(float)
        for first, second in itertools.combinations(cells, 2):
            gap = difference(mean(values[first].tolist()), mean(values[second].tolist()))
            rows.append(
                {
                    "measure": measure,
                    "first": first,
                    "second": second,
                    "difference": gap.point,
                    "low": gap.low,
                    "high": gap.high,
                    "replications": gap.replications,
                    "statement": gap.statement.value,
                    "distinguishable": gap.is_distinguishable,
                }
            )
    return pd.DataFrame(rows, columns=_DIFFERENCE_COLUMNS)


_DIFFERENCE_COLUMNS = [
    "measure", "first", "second", "difference", "low", "high", "replications", "statement",
    "distinguishable",
]  # fmt: skip


def difference_in(row: Mapping[Any, Any]) -> Difference:
    """The difference that a row of `differences` holds."""
    return Difference(
        float(row["difference"]),
        float(row["low"]),
        float(row["high"]),
        Statement(row["statement"]),
        int(row["replications"]),
    )


def _of_runs(values: Iterable[float], measure: Measure) -> Estimate:
    """A measure over its runs; of a share, the mean of the runs' shares."""
    most = 1.0 if measure.unit is Unit.SHARE else math.inf
    return mean(list(values), most=most, good=measure.higher_is_better)


def _intervals(per_run: pd.DataFrame, keys: Sequence[str]) -> pd.DataFrame:
    rows: list[dict[str, object]] = []
    for names, group in per_run.groupby(list(keys), sort=True):
        for name, measure in MEASURES.items():
            key = dict(zip(keys, names, strict=True))
            rows.append(key | {"measure": name} | _columns(_of_runs(group[name], measure)))
    return pd.DataFrame(rows)


def _exception_rates(exceptions: pd.DataFrame, per_run: pd.DataFrame) -> pd.DataFrame:
    """Abort rate per cell and exception; a run without an exception has its rate at zero."""
    columns = ["cell", "exception", "aborted", "mean", "low", "high", "replications", "statement"]
    rows: list[dict[str, object]] = []
    rates = exceptions.set_index(["cell", "replication", "exception"])
    for cell, group in per_run.groupby("cell", sort=True):
        for exception in sorted(exceptions["exception"].unique()):
            found = rates.reindex([(cell, r, exception) for r in group["replication"]])
            aborted = found["aborted"].fillna(0).to_numpy(dtype=float)
            # A run without an abort is in no row; what it ran ended, but for what was under way.
            submitted = group["transactions"].to_numpy(dtype=float)
            ended = found["ended"].fillna(pd.Series(submitted, found.index)).to_numpy(dtype=float)
            rate = share(aborted, ended, good=False)
            key = {"cell": cell, "exception": exception, "aborted": int(aborted.sum())}
            rows.append(key | _columns(rate))
    return pd.DataFrame(rows, columns=columns)


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
