"""Which recorded runs lie beneath a directory, and what their manifests say.

A sweep directory has a `sweep.json` and its runs under `runs/<cell>/<replication>`; a run
directory has a `manifest.json` of its own. Problems of all runs are reported together.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from whitecap.engine.errors import InvalidInput, Problem
from whitecap.engine.recorded import COLUMNS_READ, AxisRole, Objective

SINGLE_CELL = "run"
"""The name of the only cell where one run is reported on its own."""

_NEEDED_IN_MANIFEST = ("scenario_name", "scenario_hash", "seed", "replication", "code_version")
_NUMBERS_IN_MANIFEST = ("warm_up_ms", "duration_ms")


@dataclass(frozen=True, slots=True)
class RecordedRun:
    """One run directory: its cell and replication, and its manifest."""

    path: Path
    cell: str
    replication: int
    labels: Mapping[str, str]
    manifest: Mapping[str, Any]

    @property
    def warm_up_ms(self) -> float:
        """How much of the start is left out of the measures."""
        return float(self.manifest["warm_up_ms"])

    @property
    def duration_ms(self) -> float:
        """The simulated time that the run covers, warm-up included."""
        return float(self.manifest["duration_ms"])

    @property
    def transactions(self) -> Path:
        """The table of its transactions."""
        return self.path / "transactions.parquet"

    def tables(self) -> dict[str, pa.Table]:
        """The recorded tables, with those of their columns that reports read."""
        return {
            name: pq.read_table(self.path / f"{name}.parquet", columns=list(columns))
            for name, columns in COLUMNS_READ.items()
        }


@dataclass(frozen=True, slots=True)
class RunSet:
    """All finished runs of a sweep, or one run on its own. `axes` are in the sweep's order."""

    root: Path
    runs: tuple[RecordedRun, ...]
    axes: Mapping[str, tuple[str, ...]]
    planned: int
    definition: Mapping[str, Any]

    @property
    def is_sweep(self) -> bool:
        """Whether this is a sweep's directory rather than one run's."""
        return bool(self.definition)

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

    @property
    def cells(self) -> dict[str, Mapping[str, str]]:
        """Each cell with its label per axis, in the sweep's order."""
        order = [cell["name"] for cell in self.definition.get("cells", ())]
        labels = {run.cell: run.labels for run in self.runs}
        return {name: labels[name] for name in [*order, *labels] if name in labels}


def objectives_in(content: Mapping[str, Any]) -> list[Objective]:
    """What a run's manifest or a sweep's definition says it is chosen by; none if nothing."""
    return [Objective.of_row(row) for row in content.get("objectives", ())]


def find_runs(root: Path) -> RunSet:
    """The runs beneath `root`.

    Raises `InvalidInput` with every problem found when `root` is neither a sweep's nor a run's
    directory, or when a manifest or a table is missing, incomplete or unreadable.
    """
    if (root / "sweep.json").is_file():
        return _sweep(root)
    if (root / "manifest.json").is_file():
        return _single(root)
    reason = "is neither a sweep's directory (sweep.json) nor a run's (manifest.json)"
    raise InvalidInput([Problem(str(root), reason if root.is_dir() else "no such directory")])


def _sweep(root: Path) -> RunSet:
    definition = _read_json(root / "sweep.json")
    problems: list[Problem] = []
    runs: list[RecordedRun] = []
    for cell, labels, replication, path in _planned(root, definition):
        if (path / "manifest.json").is_file():
            manifest = _checked_manifest(path, problems)
            runs.append(RecordedRun(path, cell, replication, labels, manifest))
    if not runs and not problems:
        problems.append(Problem(str(root), "no run of this sweep is finished"))
    if problems:
        raise InvalidInput(problems)
    axes = {name: tuple(labels) for name, labels in definition["axes"].items()}
    planned = len(definition["cells"]) * int(definition["replications"])
    return RunSet(root, tuple(runs), axes, planned, definition)


def _planned(
    root: Path, definition: Mapping[str, Any]
) -> Iterator[tuple[str, dict[str, str], int, Path]]:
    try:
        cells = [(str(c["name"]), dict(c["labels"])) for c in definition["cells"]]
        replications = int(definition["replications"])
        _ = definition["axes"].items()
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        problem = Problem(str(root / "sweep.json"), f"is not a sweep's definition ({error!r})")
        raise InvalidInput([problem]) from None
    for name, labels in cells:
        for replication in range(replications):
            yield name, labels, replication, root / "runs" / name / str(replication)


def _single(root: Path) -> RunSet:
    problems: list[Problem] = []
    manifest = _checked_manifest(root, problems)
    if problems:
        raise InvalidInput(problems)
    labels = {str(k): str(v) for k, v in (manifest.get("labels") or {}).items()}
    run = RecordedRun(root, SINGLE_CELL, int(manifest["replication"]), labels, manifest)
    return RunSet(root, (run,), {}, 1, {})


def _checked_manifest(path: Path, problems: list[Problem]) -> dict[str, Any]:
    """The manifest, with everything wrong about this run added to `problems`."""
    place = path / "manifest.json"
    try:
        manifest = _read_json(place)
    except InvalidInput as error:
        problems.extend(error.problems)
        return {}
    missing = [k for k in (*_NEEDED_IN_MANIFEST, *_NUMBERS_IN_MANIFEST) if k not in manifest]
    problems.extend(Problem(str(place), f"has no {key!r}") for key in missing)
    problems.extend(
        Problem(str(place), f"{key} is {manifest[key]!r}, not a number")
        for key in _NUMBERS_IN_MANIFEST
        if key in manifest and not isinstance(manifest[key], int | float)
    )
    for table, columns in COLUMNS_READ.items():
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
    return digest in (None, sha256(table.read_bytes()).hexdigest())


def _recorded(table: Path, manifest: Mapping[str, Any]) -> Mapping[str, Any]:
    """What the manifest says of a table."""
    return (manifest.get("tables") or {}).get(table.stem) or {}


def _read_json(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InvalidInput([Problem(str(path), f"cannot be read: {error}")]) from None
    if not isinstance(content, dict):
        raise InvalidInput([Problem(str(path), "is not a JSON object")])
    return content
