"""Which recorded run is replayed: the one named, or of a sweep its best cell.

Of that cell's replications the one with the most exception classes is taken: it shows most.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

import pyarrow.compute as pc
import pyarrow.parquet as pq

from whitecap.engine.errors import InvalidInput, Problem
from whitecap.sim.recording import MANIFEST, is_run_directory
from whitecap.sim.scenario.names import nearest

MINUTE_MS = 60_000.0


@dataclass(frozen=True, slots=True)
class Chosen:
    """A run to replay, and the directory that it was chosen from (itself, if it was named)."""

    root: Path
    run: Path
    cell: str | None

    @property
    def label(self) -> str:
        """The run's place, for people."""
        return str(self.run.relative_to(self.root)) if self.run != self.root else self.run.name


def choose_run(directory: Path, cell: str | None = None) -> Chosen:
    """The run at `directory`, or of a sweep the best run of `cell` (without it, the best cell).

    Raises InvalidInput: neither a run nor a sweep, or there is no such cell.
    """
    if is_run_directory(directory):
        if cell is not None:
            raise InvalidInput([Problem("--cell", f"{directory} is a single run: it has no cells")])
        return Chosen(directory, directory, None)
    cells = _cells(directory)
    chosen = cell or best_cell(directory)
    if chosen not in cells:
        known = ", ".join(sorted(cells))
        text = f"there is no cell {chosen!r}; there are {known}"
        raise InvalidInput([Problem("--cell", text, nearest(chosen, cells))])
    return Chosen(directory, max(cells[chosen], key=_shows), chosen)


def best_cell(directory: Path) -> str:
    """The cell that the sweep's report calls the best; without a report, that of most goodput.

    Raises InvalidInput: no finished run lies there.
    """
    answer = directory / "report" / "answer.json"
    if answer.is_file():
        return str(json.loads(answer.read_text())["best"])
    goodput = {
        cell: fmean(_goodput_per_minute(run) for run in runs)
        for cell, runs in _cells(directory).items()
    }
    return max(sorted(goodput), key=lambda name: goodput[name])


def _cells(directory: Path) -> Mapping[str, list[Path]]:
    cells: dict[str, list[Path]] = defaultdict(list)
    for manifest in sorted(directory.glob(f"runs/*/*/{MANIFEST}")):
        cells[manifest.parent.parent.name].append(manifest.parent)
    if not cells:
        reason = "is neither a run's directory nor a sweep's with finished runs"
        raise InvalidInput([Problem(str(directory), reason)])
    return cells


def _goodput_per_minute(run: Path) -> float:
    manifest: dict[str, Any] = json.loads((run / MANIFEST).read_text())
    return float(manifest["counts"]["committed"]) * MINUTE_MS / float(manifest["duration_ms"])


def _shows(run: Path) -> tuple[int, int]:
    """How much there is to see in a run: exception classes, then transactions with one."""
    column = pq.read_table(run / "transactions.parquet", columns=["exception"])["exception"]
    raised = column.drop_null()
    return len(pc.unique(raised)), len(raised)
