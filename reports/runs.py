"""Which runs were recorded, and what their manifests say.

A run's directory has a `manifest.json` and its tables. Where and how the recordings of a sweep lie
is not known here: `RecordedSweep` reads them. Problems of all runs are reported together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from hashlib import file_digest
from pathlib import Path
from typing import Any, Protocol, TypeVar

import pyarrow as pa
import pyarrow.parquet as pq
from msgspec import Struct

from whitecap.engine.documents import DEFINITION, MANIFEST
from whitecap.engine.errors import InvalidInput, Problem, gathered, nearest, noted, unreadable
from whitecap.engine.recorded import (
    PRICE,
    SINGLE_CELL,
    TABLES,
    AxisRole,
    Objective,
    RunName,
    columns_read,
)

R = TypeVar("R")

_Columns = Mapping[str, tuple[str, ...]]
"""Table of a recording -> the columns that a reading asks for."""

WHOLE_RUN = "all writers"
"""Its cell in tables, where its writer groups have cells too."""

_Reading = Callable[[Mapping[str, Any], Mapping[str, pa.Table]], R]
"""What becomes of a run: a function of its manifest and tables that processes find by its name."""


class RecordedSweep(Protocol):
    """A sweep, wherever its recordings lie."""

    @property
    def place(self) -> str:
        """What its users call it."""

    @property
    def root(self) -> Path:
        """The directory of this machine where what is made of it is written."""

    def definition(self) -> str | None:
        """The text of its `sweep.json`; `None` if there is none."""

    def manifests(self) -> Mapping[RunName, Mapping[str, Any]]:
        """The manifest of every finished run.

        Raises `InvalidInput` if these cannot be read.
        """

    def read(self, reading: _Reading[R], columns: _Columns) -> Iterable[tuple[RunName, R]]:
        """What `reading` finds in every finished run, given these columns of its tables.

        Raises `InvalidInput`: rows are missing or damaged; says all that is wrong.
        """


class RecordedRun(Struct, frozen=True):
    """One run: its cell and replication, and its manifest."""

    cell: str
    replication: int
    labels: Mapping[str, str]
    manifest: Mapping[str, Any]

    @property
    def name(self) -> RunName:
        """Cell and replication."""
        return self.cell, self.replication

    @property
    def warm_up_ms(self) -> float:
        """How much of the start is left out of the measures."""
        return float(self.manifest["warm_up_ms"])

    @property
    def duration_ms(self) -> float:
        """The simulated time that the run covers, warm-up included."""
        return float(self.manifest["duration_ms"])


class RunSet(Struct, frozen=True):
    """All finished runs of a sweep, or one run on its own. `axes` are in the sweep's order."""

    root: Path
    runs: tuple[RecordedRun, ...]
    axes: Mapping[str, tuple[str, ...]]
    planned: int
    definition: Mapping[str, Any]
    sweep: RecordedSweep | None = None

    @property
    def is_sweep(self) -> bool:
        """Whether this is a sweep's directory rather than one run's."""
        return self.sweep is not None

    @property
    def is_priced(self) -> bool:
        """Whether any of them was made with a price."""
        return bool(self.currency)

    @property
    def currency(self) -> str:
        """Of the prices that they were made with: `EUR`, or empty without a price."""
        prices = (run.manifest[PRICE] for run in self.runs if PRICE in run.manifest)
        return " and ".join(sorted({str(price["currency"]) for price in prices}))

    @property
    def axis_roles(self) -> dict[str, AxisRole]:
        """Which axes are load and which are to be chosen."""
        roles = self.definition.get("axis_roles", {})
        return {axis: AxisRole(role) for axis, role in roles.items()}

    @property
    def lightest_first(self) -> Mapping[str, Sequence[str]]:
        """Of each load axis its labels by the work that they offer."""
        order: Mapping[str, Sequence[str]] = self.definition.get("lightest_first", {})
        return order

    def manifests_of(self, cell: str) -> list[Mapping[str, Any]]:
        """What the runs of a cell were."""
        return [run.manifest for run in self.runs if run.cell == cell]

    @property
    def cells(self) -> dict[str, Mapping[str, str]]:
        """Each cell with its label per axis, in the sweep's order."""
        order = [cell["name"] for cell in self.definition.get("cells", ())]
        labels = {run.cell: run.labels for run in self.runs}
        return {name: labels[name] for name in [*order, *labels] if name in labels}


def objectives_in(content: Mapping[str, Any]) -> list[Objective]:
    """What a run's manifest or a sweep's definition says it is chosen by; none if nothing."""
    return [Objective.of_row(row) for row in content.get("objectives", ())]


def read_each(runs: RunSet, reading: _Reading[R]) -> dict[RunName, R]:
    """What `reading` finds in each run, given the columns that reports read.

    Raises `InvalidInput`: rows of a sweep are missing or damaged.
    """
    if runs.sweep is None:
        (run,) = runs.runs
        return {run.name: reading(run.manifest, tables_at(runs.root, run.manifest))}
    apart = (run.manifest for run in runs.runs if TABLES in run.manifest)
    return dict(runs.sweep.read(reading, columns_read(next(apart, {}))))


def tables_at(directory: Path, manifest: Mapping[str, Any]) -> dict[str, pa.Table]:
    """The tables of a run's directory, with those of their columns that reports read."""
    return {
        name: pq.read_table(directory / f"{name}.parquet", columns=list(columns))
        for name, columns in columns_read(manifest).items()
    }


def runs_of(sweep: RecordedSweep) -> RunSet:
    """The finished runs of a sweep.

    Raises `InvalidInput` with every problem found: there is no sweep, none of its runs is
    finished, or something is damaged.
    """
    text = sweep.definition()
    if text is None:
        raise InvalidInput([Problem(sweep.place, "is no sweep: it has no sweep.json")])
    definition = DEFINITION.read(text, f"{sweep.place}/sweep.json")
    labels = {cell["name"]: cell["labels"] for cell in definition["cells"]}
    problems: list[Problem] = []
    runs: list[RecordedRun] = []
    manifests = sweep.manifests()
    for name in [(c, r) for c in labels for r in range(definition["replications"])]:
        if name in manifests:
            place = f"{sweep.place}: cell {name[0]}, replication {name[1]}"
            with noted(problems):
                MANIFEST.require(manifests[name], place)
            runs.append(RecordedRun(*name, labels[name[0]], manifests[name]))
    if not runs and not problems:
        problems.append(Problem(sweep.place, "no run of this sweep is finished"))
    if problems:
        raise InvalidInput(problems)
    axes = {name: tuple(labels) for name, labels in definition["axes"].items()}
    planned = len(definition["cells"]) * definition["replications"]
    return RunSet(sweep.root, tuple(runs), axes, planned, definition, sweep)


def require_run_directory(root: Path) -> None:
    """Raises `InvalidInput`, saying what lies there instead, where no run does."""
    if not (root / "manifest.json").is_file():
        raise InvalidInput([Problem(str(root), _not_recorded(root), _likely(root))])


def _not_recorded(root: Path) -> str:
    """Why neither a sweep nor a run lies there."""
    if root.is_dir():
        return "is neither a sweep's directory (sweep.json) nor a run's (manifest.json)"
    return "is a file, and recordings are a directory" if root.exists() else "no such directory"


def _likely(root: Path) -> str | None:
    """What a directory that is not there was meant to be: one beside it of nearly that name."""
    if root.exists():
        return None
    try:
        beside = [path.name for path in root.parent.iterdir() if path.is_dir()]
    except OSError:  # there is no such place either, or nobody may look into it
        return None
    name = nearest(root.name, beside)
    return None if name is None else str(root.parent / name)


def run_at(root: Path) -> RunSet:
    """The run whose directory this is.

    Raises `InvalidInput` with every problem found: it is none, or its manifest or a table is
    missing, incomplete or unreadable.
    """
    require_run_directory(root)
    with gathered() as problems:
        manifest = _checked_manifest(root, problems)
    labels = manifest.get("labels", {})
    run = RecordedRun(SINGLE_CELL, manifest["replication"], labels, manifest)
    return RunSet(root, (run,), {}, 1, {})


def _checked_manifest(path: Path, problems: list[Problem]) -> dict[str, Any]:
    """The manifest, with everything wrong about this run added to `problems`."""
    manifest: dict[str, Any] = {}
    with noted(problems):
        manifest = _read_manifest(path / "manifest.json")
    for table, columns in columns_read(manifest).items():
        problems.extend(_table_problems(path / f"{table}.parquet", columns, manifest))
    return manifest


def _table_problems(
    table: Path, columns: Sequence[str], manifest: Mapping[str, Any]
) -> Iterator[Problem]:
    try:
        footer = pq.ParquetFile(table)
    except FileNotFoundError:
        yield Problem(str(table), "is missing")
        return
    except (OSError, pa.ArrowException) as error:
        yield Problem(str(table), f"cannot be read as Parquet: {error}")
        return
    with footer:
        present = set(footer.schema_arrow.names)
        rows = footer.metadata.num_rows
    missing = [column for column in columns if column not in present]
    if missing:
        yield Problem(str(table), f"lacks the columns {', '.join(missing)}")
    recorded = _recorded(table, manifest).get("rows", rows)
    if recorded != rows:
        yield Problem(str(table), f"holds {rows} {table.stem}, the manifest says {recorded}")
    elif not _is_as_recorded(table, manifest):
        yield Problem(str(table), "is not as it was recorded: the manifest has another SHA-256")


def _is_as_recorded(table: Path, manifest: Mapping[str, Any]) -> bool:
    """Whether the table's bytes are those that the manifest knows, if it says anything of them."""
    digest = _recorded(table, manifest).get("sha256")
    with table.open("rb") as content:
        return digest in (None, file_digest(content, "sha256").hexdigest())


def _recorded(table: Path, manifest: Mapping[str, Any]) -> Mapping[str, Any]:
    """What the manifest says of a table."""
    recorded: Mapping[str, Any] = manifest.get("tables", {}).get(table.stem, {})
    return recorded


def _read_manifest(path: Path) -> dict[str, Any]:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise unreadable(path, error) from None
    return MANIFEST.read(content, str(path))
