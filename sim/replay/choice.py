"""Which recorded run is replayed: the one named, or of a sweep the cell that its answer names.

Of that cell's replications the one with the most exception classes is taken: it shows most.
"""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct, field

from whitecap.engine import documents
from whitecap.engine.errors import InvalidInput, Problem, unreadable
from whitecap.sim.recording.dataset.layout import KEY
from whitecap.sim.recording.dataset.place import (
    DEFINITION_FILE,
    DatasetPlace,
    finished_runs,
    recorded_run,
    whole_batches,
)
from whitecap.sim.recording.dataset.rows import by_run, in_order
from whitecap.sim.recording.recording import Recording, read_recording
from whitecap.sim.scenario.cells import CellChoice, Labels, chosen_cell


class ChosenRun(Struct, frozen=True):
    """A run to replay: `label` names it for people, `cell` is that of a sweep."""

    recording: Recording
    label: str
    cell: str | None = None


def named_run(directory: Path, cell: CellChoice | None = None) -> ChosenRun:
    """The run whose directory this is.

    Raises InvalidInput: it is none, or damaged, or a cell was asked for.
    """
    if cell is not None:
        raise InvalidInput([Problem("cell", f"{directory} is a single run: it has no cells")])
    return ChosenRun(read_recording(directory), directory.name)


def choose_run(place: DatasetPlace, root: Path, cell: CellChoice | None = None) -> ChosenRun:
    """Of a sweep, the run of `cell` that shows most; without `cell`, of the cell its answer names.

    The answer lies under `root`; its cell is a design under the heaviest load that this takes.

    Raises InvalidInput: no run is finished, or there is no such cell.
    """
    cells = _recorded_cells(place)
    labels = {name: recorded.labels for name, recorded in cells.items()}
    chosen = chosen_cell(answered_cell(root) if cell is None else cell, labels)
    columns = [*KEY.names, "exception"]
    rows = place.rows("transactions", columns, whole_batches(place), chosen)
    shown = {name: _shows(own["exception"]) for name, own in by_run(in_order(rows)).items()}
    replication = max(
        cells[chosen].replications, key=lambda each: shown.get((chosen, each), (0, 0))
    )
    recording = recorded_run(place, (chosen, replication))
    return ChosenRun(recording, f"{chosen}, replication {replication}", chosen)


def answered_cell(directory: Path) -> str:
    """The cell that the sweep's answer names.

    Raises InvalidInput: there is no answer yet, or it cannot be read.
    """
    answer = directory / "report" / "answer.json"
    if not answer.exists():
        said = "is not there: `whitecap sweep` and `whitecap report` write it; or name a --cell"
        raise InvalidInput([Problem(str(answer), said)])
    try:
        content = answer.read_bytes()
    except OSError as error:
        raise unreadable(answer, error) from None
    cell: str = documents.ANSWER.read(content, str(answer))["cell"]
    return cell


class _RecordedCell(Struct, frozen=True):
    """The labels of a cell, and which of its replications are finished."""

    labels: Labels
    replications: list[int] = field(default_factory=list)


def _recorded_cells(place: DatasetPlace) -> dict[str, _RecordedCell]:
    """Those with finished runs, cells and axes in the order of the scenario."""
    defined = _defined_cells(place)
    order = {cell: number for number, cell in enumerate(defined)}
    cells: dict[str, _RecordedCell] = {}
    finished = finished_runs(place)
    for cell, replication in sorted(
        finished, key=lambda name: (order.get(name[0], len(order)), name)
    ):
        labels = defined.get(cell) or finished[cell, replication].manifest["labels"]
        own = cells.setdefault(cell, _RecordedCell(labels))
        own.replications.append(replication)
    if not cells:
        reason = "is neither a run's directory nor a sweep's with finished runs"
        raise InvalidInput([Problem(str(place), reason)])
    return cells


def _defined_cells(place: DatasetPlace) -> dict[str, Labels]:
    """The labels of each cell of the sweep; raises `InvalidInput` if they cannot be read."""
    definition = place.read(DEFINITION_FILE)
    if definition is None:
        return {}
    cells = documents.DEFINITION.read(definition, f"{place}/{DEFINITION_FILE}")["cells"]
    return {cell["name"]: cell["labels"] for cell in cells}


def _shows(exceptions: pa.ChunkedArray) -> tuple[int, int]:
    """How much there is to see in a run: exception classes, then transactions with an exception."""
    raised = exceptions.drop_null()
    return len(pc.unique(raised)), len(raised)
