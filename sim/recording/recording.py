"""A run's directory: tables in Parquet and a manifest, written whole or not at all.

`transactions`, `attempts`, `commits`, `writers` and, if asked for, `requests`, each with a fixed
schema, row order and encoding, so that the same scenario and seed give the same bytes.
`scenario.yaml` is the scenario that was run, `manifest.json` says what it was and holds row counts
and SHA-256 of each file, by which damage is noticed.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import pyarrow as pa
import pyarrow.parquet as pq
from msgspec import structs

from whitecap.engine.documents import MANIFEST as MANIFEST_KIND
from whitecap.engine.documents import Each
from whitecap.engine.errors import InvalidInput, Problem, unreadable
from whitecap.engine.recorded import TABLES
from whitecap.sim.machine.places import require_free, whole
from whitecap.sim.recording.arrays import array_of
from whitecap.sim.recording.recorded_table import RecordedTable, TableInMemory, columns_of

MANIFEST = "manifest.json"
SCENARIO = "scenario.yaml"

INTERRUPTED = "interrupted"
"""True in the manifest of a run that ended before `PLANNED`; otherwise not there."""

PLANNED = "planned_duration_ms"


def _schema(**columns: pa.DataType) -> pa.Schema:
    """Columns by their types; that of a name ending in `_` is nullable, and named without it."""
    return pa.schema(
        [pa.field(n.rstrip("_"), t, nullable=n.endswith("_")) for n, t in columns.items()]
    )


_I64, _I32, _F64, _TEXT, _FLAG = pa.int64(), pa.int32(), pa.float64(), pa.string(), pa.bool_()

SCHEMAS: dict[str, pa.Schema] = {
    "transactions": _schema(
        transaction_id=_I64, job_id=_I64, rerun_number=_I32, writer=_TEXT, writer_group=_TEXT,
        command=_TEXT, statement=_TEXT, app_id_=_TEXT, batch_id_=_I64, read_version=_I64,
        submitted_at_ms=_F64, snapshot_at_ms_=_F64, commit_started_at_ms_=_F64, ended_at_ms_=_F64,
        outcome=_TEXT, committed_version_=_I64, exception_=_TEXT, error_class_=_TEXT, rule_=_TEXT,
        winning_version_=_I64, evidence_=_TEXT, message_=_TEXT, isolation_level_=_TEXT,
        is_blind_append_=_FLAG, attempts=_I32, compute_ms=_F64, rows_inserted=_I64,
        files_added=_I32, files_removed=_I32, bytes_written=_I64, given_up=_FLAG,
    ),
    "attempts": _schema(
        transaction_id=_I64, attempt_number=_I32, version=_I64, sent_at_ms=_F64,
        effect_at_ms_=_F64, reply_at_ms_=_F64, result=_TEXT,
    ),
    "commits": _schema(
        version=_I64, transaction_id_=_I64, committed_at_ms=_F64, operation_=_TEXT,
        files_added=_I32, files_removed=_I32, live_files=_I64, size_bytes=_I64,
    ),
    "writers": _schema(
        writer=_TEXT, writer_group=_TEXT, command=_TEXT, arrival=_TEXT, jobs_due=_I64,
        jobs_not_begun=_I64,
    ),
    "requests": _schema(
        transaction_id=_I64, kind=_TEXT, key=_TEXT, sent_at_ms=_F64, effect_at_ms_=_F64,
        reply_at_ms_=_F64, result=_TEXT, size_bytes=_I64,
    ),
}  # fmt: skip
"""Every table with its columns, in order."""

_PART = {"table_name": _TEXT, "statement_number": _I32, "ends_job": _FLAG}

TELLING_APART: dict[str, pa.Schema] = {
    "transactions": _schema(**_PART),
    "commits": _schema(table_name=_TEXT),
    "writers": _schema(**_PART),
}
"""Further columns, in recordings of several tables, or of jobs of several statements.

Versions are those of a table. `statement_number` is which statement of its job a transaction runs,
from 1 on; `ends_job` says whether that is the last. The manifest then names the `TABLES`.
"""


def schema_of(name: str, tells_apart: bool = False) -> pa.Schema:
    """The columns of a table of a recording."""
    more = TELLING_APART.get(name, ()) if tells_apart else ()
    return pa.schema([*SCHEMAS[name], *more])


TABLES_OF_EVERY_RUN = ("transactions", "attempts", "commits", "writers")


@dataclass(frozen=True)
class Recording:
    """One run: its manifest, its scenario's text, and the rows of its tables."""

    manifest: Mapping[str, Any]
    scenario: str
    rows: Mapping[str, RecordedTable]

    @classmethod
    def of(cls, manifest: Mapping[str, Any], scenario: str, tables: Mapping[str, pa.Table]) -> Self:
        """A recording whose tables are in memory."""
        return cls(
            manifest, scenario, {name: TableInMemory(table) for name, table in tables.items()}
        )

    @cached_property
    def tables(self) -> dict[str, pa.Table]:
        """All tables, whole. Those of a long run take much memory; `columns` takes less."""
        return {name: rows.read() for name, rows in self.rows.items()}

    def columns(self, columns: Mapping[str, Sequence[str]]) -> dict[str, pa.Table]:
        """Some columns of some tables."""
        return columns_of(self.rows, columns)

    @property
    def transactions(self) -> pa.Table:
        """One row per transaction, in order of submission."""
        return self.rows["transactions"].read()

    @property
    def attempts(self) -> pa.Table:
        """One row per put-if-absent of a commit file."""
        return self.rows["attempts"].read()

    @property
    def commits(self) -> pa.Table:
        """One row per version of the log, the initial ones included."""
        return self.rows["commits"].read()

    @property
    def writers(self) -> pa.Table:
        """One row per writer: the jobs that fell due in the run, and those not begun at its end."""
        return self.rows["writers"].read()

    @property
    def requests(self) -> pa.Table | None:
        """One row per request to the store, where these were recorded."""
        return self.rows["requests"].read() if "requests" in self.rows else None


def table_of(name: str, rows: Iterable[tuple[Any, ...]], tells_apart: bool = False) -> pa.Table:
    """A table from its rows, values in the order of the schema."""
    schema = schema_of(name, tells_apart)
    columns = list(zip(*rows, strict=True)) or [()] * len(schema)
    arrays = [array_of(values, field.type) for values, field in zip(columns, schema, strict=True)]
    return pa.Table.from_arrays(arrays, schema=schema)


def require_free_for_run(directory: Path, *, overwrite: bool = False) -> None:
    """Raises `InvalidInput` unless a run can be written there, over another if `overwrite`."""
    require_free(directory, "a run", is_run_directory, overwrite=overwrite)


def write_recording(recording: Recording, directory: Path, *, overwrite: bool = False) -> Recording:
    """Write a run's directory, whole or not at all. Returns it with the final manifest.

    Raises `InvalidInput` as `require_free_for_run`; nothing is written then.
    """
    require_free_for_run(directory, overwrite=overwrite)
    with whole(directory, last=MANIFEST) as beside:
        return _write_files(recording, beside)


def read_recording(directory: Path) -> Recording:
    """Read and verify a run's directory.

    Raises `InvalidInput` with everything that is wrong: not a run's directory, another format,
    files that are missing, damaged or not as the manifest says.
    """
    manifest = _read_manifest(directory)
    problems: list[Problem] = []
    tables = {}
    for name, expected in manifest["tables"].items():
        columns = schema_of(name, TABLES in manifest).names
        table = _read_table(directory / f"{name}.parquet", columns, expected, problems)
        if table is not None:
            tables[name] = table
    problems += [
        Problem(str(directory), f"has no {n}")
        for n in TABLES_OF_EVERY_RUN
        if n not in manifest["tables"]
    ]
    scenario = directory / SCENARIO
    if not scenario.is_file():
        problems.append(Problem(str(scenario), "is missing"))
    if problems:
        raise InvalidInput(problems)
    return Recording.of(manifest, scenario.read_text(encoding="utf-8"), tables)


def is_run_directory(directory: Path) -> bool:
    """Whether a run was written there."""
    return (directory / MANIFEST).is_file()


def _write_files(recording: Recording, directory: Path) -> Recording:
    (directory / SCENARIO).write_text(recording.scenario, encoding="utf-8")
    written = {}
    for name, table in recording.rows.items():
        path = directory / f"{name}.parquet"
        written[name] = {"rows": table.write(path), "sha256": _digest(path)}
    manifest = {**recording.manifest, "tables": written}
    text = json.dumps(manifest, indent=1, sort_keys=True, ensure_ascii=False)
    (directory / MANIFEST).write_text(text + "\n", encoding="utf-8")
    return dataclasses.replace(recording, manifest=manifest)


_OF_DIRECTORY = structs.replace(
    MANIFEST_KIND,
    shape={**MANIFEST_KIND.shape, "tables": Each({"rows": int, "sha256": str})},
)
"""The manifest of a run that has a directory of its own, whose files it knows."""


def _read_manifest(directory: Path) -> dict[str, Any]:
    path = directory / MANIFEST
    if not path.is_file():
        reason = f"is not a run's directory: it has no {MANIFEST}"
        raise InvalidInput([Problem(str(directory), reason)])
    try:
        manifest = _OF_DIRECTORY.read(path.read_bytes(), str(path))
    except OSError as error:
        raise unreadable(path, error) from None
    if unknown := set(manifest["tables"]) - set(SCHEMAS):
        raise InvalidInput([Problem(str(path), f"names unknown tables {sorted(unknown)}")])
    return manifest


def _read_table(
    path: Path, columns: Sequence[str], expected: Mapping[str, Any], problems: list[Problem]
) -> pa.Table | None:
    if not path.is_file():
        problems.append(Problem(str(path), "is missing"))
        return None
    if _digest(path) != expected["sha256"]:
        problems.append(Problem(str(path), "is damaged: its SHA-256 is not the manifest's"))
        return None
    try:
        table = pq.read_table(path)
    except (pa.ArrowException, OSError) as error:
        problems.append(Problem(str(path), f"is damaged: {error}"))
        return None
    if table.schema.names != columns or table.num_rows != expected["rows"]:
        problems.append(Problem(str(path), "does not hold the columns and rows of its manifest"))
        return None
    return table


def _digest(path: Path) -> str:
    with path.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()
