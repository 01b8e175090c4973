"""Which recorded run is replayed: the one named, or of a sweep the cell that its answer names.

Of that cell's replications the one with the most exception classes is taken: it shows most.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pyarrow.compute as pc
import pyarrow.parquet as pq

from whitecap.engine.errors import InvalidInput, Problem, nearest
from whitecap.sim.recording.recording import MANIFEST, is_run_directory


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
    """The run at `directory`, or of a sweep the run of `cell` that shows most; without `cell`, of
    the one that the answer names, which is a design under the heaviest load that it takes.

    Raises InvalidInput: neither a run nor a sweep, or there is no such cell.
    """
    if is_run_directory(directory):
        if cell is not None:
            raise InvalidInput([Problem("--cell", f"{directory} is a single run: it has no cells")])
        return Chosen(directory, directory, None)
    cells = _cells(directory)
    chosen = cell or answered_cell(directory)
    if chosen not in cells:
        known = ", ".join(sorted(cells))
        text = f"there is no cell {chosen!r}; there are {known}"
        raise InvalidInput([Problem("--cell", text, nearest(chosen, cells))])
    return Chosen(directory, max(cells[chosen], key=_shows), chosen)


def answered_cell(directory: Path) -> str:
    """The cell that the sweep's answer names.

    Raises InvalidInput: there is no answer yet, or it cannot be read.
    """
    answer = directory / "report" / "answer.json"
    if not answer.is_file():
        said = "is not there: `whitecap sweep` and `whitecap report` write it; or name a --cell"
        raise InvalidInput([Problem(str(answer), said)])
    try:
        return str(json.loads(answer.read_text(encoding="utf-8"))["cell"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InvalidInput([Problem(str(answer), f"cannot be read: {error!r}")]) from None


def _cells(directory: Path) -> Mapping[str, list[Path]]:
    cells: dict[str, list[Path]] = defaultdict(list)
    for manifest in sorted(directory.glob(f"runs/*/*/{MANIFEST}")):
        cells[manifest.parent.parent.name].append(manifest.parent)
    if not cells:
        reason = "is neither a run's directory nor a sweep's with finished runs"
        raise InvalidInput([Problem(str(directory), reason)])
    return cells


def _shows(run: Path) -> tuple[int, int]:
    """How much there is to see in a run: exception classes, then transactions with one."""
    column = pq.read_table(run / "transactions.parquet", columns=["exception"])["exception"]
    raised = column.drop_null()
    return len(pc.unique(raised)), len(raised)
