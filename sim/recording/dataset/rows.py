"""From a run to rows of the dataset and back, and a hash of rows that no file format enters."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
from msgspec import Struct

from whitecap.engine.errors import InvalidInput, Problem
from whitecap.engine.recorded import TABLES, RunName
from whitecap.sim.recording.dataset.layout import FAILURES, FILE, KEY, OWN, RUNS, STREAM, TABLE
from whitecap.sim.recording.recording import TABLES_OF_EVERY_RUN, Recording, schema_of

ROWS_OF_A_GROUP = 20_000
"""So many rows, and at most one run more, wait to be written together: a row group has every
column of all tables, and one for each run of an events cell took a fifth of the run's own time."""


class Ran(Struct, frozen=True):
    """One run that was made: its recording, or its failure by column; `seconds` of computing."""

    name: RunName
    recording: Recording | None
    failure: Mapping[str, Any] | None
    seconds: float

    def tables(self) -> dict[str, pa.Table]:
        """Its rows by table, as files hold them; no table without any."""
        if self.recording is None:
            own = {FAILURES: pa.Table.from_pylist([dict(self.failure or {})], OWN[FAILURES])}
        else:
            own = {**self.recording.tables, RUNS: self._summary(self.recording)}
        return {table: _keyed(self.name, rows) for table, rows in own.items() if rows.num_rows}

    def stream(self) -> pa.RecordBatch:
        """All its rows, each with its table's name."""
        named = [
            rows.append_column(STREAM.field(TABLE), pa.repeat(table, rows.num_rows))
            for table, rows in self.tables().items()
        ]
        (batch,) = pa.concat_tables(named).combine_chunks().to_batches()
        return batch

    def _summary(self, recording: Recording) -> pa.Table:
        tables = {
            name: {"rows": table.num_rows, "rows_sha256": rows_sha256(table)}
            for name, table in recording.tables.items()
        }
        manifest = json.dumps({**recording.manifest, "tables": tables}, sort_keys=True)
        row = {"manifest": manifest, "scenario": recording.scenario, "seconds": self.seconds}
        return pa.Table.from_pylist([row], OWN[RUNS])


def _keyed(name: RunName, rows: pa.Table) -> pa.Table:
    cell, replication = name
    count = rows.num_rows
    columns = {
        "cell": pa.repeat(pa.scalar(cell, pa.string()), count),
        "replication": pa.repeat(pa.scalar(replication, pa.int32()), count),
        "row": pa.array(np.arange(count)),
        **{column: rows[column] for column in rows.schema.names},
    }
    arrays = [
        columns[field.name] if field.name in columns else pa.nulls(count, field.type)
        for field in FILE
    ]
    return pa.Table.from_arrays(arrays, schema=FILE)


def in_row_groups(runs: Iterable[Ran]) -> Iterator[tuple[str, pa.Table]]:
    """The rows of runs by table, those of short runs together: see `ROWS_OF_A_GROUP`."""
    waiting: dict[str, list[pa.Table]] = {}
    for ran in runs:
        for table, rows in ran.tables().items():
            group = waiting.setdefault(table, [])
            group.append(rows)
            if sum(each.num_rows for each in group) >= ROWS_OF_A_GROUP:
                yield table, pa.concat_tables(waiting.pop(table))
    for table, group in waiting.items():
        yield table, pa.concat_tables(group)


def columns_of(table: str, read: Mapping[str, tuple[str, ...]] | None = None) -> list[str]:
    """The columns that a reader of this table asks for, the key among them."""
    own = OWN[table].names if read is None else read[table]
    return [*KEY.names, *own]


def in_order(rows: pa.Table) -> pa.Table:
    """Rows by run and place, as nothing in Spark or Parquet promises them."""
    return rows.sort_by([(name, "ascending") for name in KEY.names])


def by_run(rows: pa.Table) -> dict[RunName, pa.Table]:
    """Rows that are in order, run by run, without the key."""
    if not rows.num_rows:
        return {}
    firsts = _firsts(rows)
    keys = rows.select(["cell", "replication"]).take(firsts).to_pylist()
    own = rows.drop_columns(KEY.names)
    return {
        (key["cell"], key["replication"]): own.slice(first, end - first)
        for key, first, end in zip(keys, firsts, [*firsts[1:], rows.num_rows], strict=True)
    }


def _firsts(rows: pa.Table) -> list[int]:
    """Where the rows of each run begin: Arrow promises no order of the groups it finds."""
    cells = rows["cell"].combine_chunks().dictionary_encode().indices.to_numpy()
    replications = rows["replication"].to_numpy()
    changes = (np.diff(cells) != 0) | (np.diff(replications) != 0)
    return [0, *(np.flatnonzero(changes) + 1).tolist()]


def recorded_tables(
    place: str, name: RunName, manifest: Mapping[str, Any], tables: Mapping[str, pa.Table]
) -> dict[str, pa.Table]:
    """The tables of a run (or some columns of them) with the types of a recording, and without
    columns that it has not; one of which there is no row is empty.

    Raises `InvalidInput`: there are not as many rows as the manifest says.
    """
    recorded, problems = {}, []
    for table, rows in tables.items():
        expected = manifest["tables"][table]["rows"]
        if rows.num_rows != expected:
            text = f"has {rows.num_rows} {table} of cell {name[0]}, replication {name[1]}"
            problems.append(Problem(place, f"{text}; recorded were {expected}"))
        own = schema_of(table, tells_apart=TABLES in manifest)
        schema = pa.schema([own.field(c) for c in rows.schema.names if c in own.names])
        recorded[table] = pa.table(
            [rows[c].cast(schema.field(c).type) for c in schema.names], schema=schema
        )
    if problems:
        raise InvalidInput(problems)
    return recorded


def whole_recording(
    place: str, name: RunName, summary: pa.Table, tables: Mapping[str, pa.Table]
) -> Recording:
    """One run with all its rows, held to the hashes of its manifest.

    Raises `InvalidInput`: rows are missing, or others than were recorded.
    """
    row = summary.to_pylist()[0]
    manifest = json.loads(row["manifest"])
    recorded = recorded_tables(place, name, manifest, {t: tables[t] for t in TABLES_OF_EVERY_RUN})
    changed = [
        Problem(place, f"has other {table} of cell {name[0]}, replication {name[1]} than recorded")
        for table, rows in recorded.items()
        if rows_sha256(rows) != manifest["tables"][table]["rows_sha256"]
    ]
    if changed:
        raise InvalidInput(changed)
    return Recording.of(manifest, row["scenario"], recorded)


EVERYTHING = {name: tuple(OWN[name].names) for name in TABLES_OF_EVERY_RUN}
"""Every table of a run with all its columns."""


def hashes_of(_: Mapping[str, Any], tables: Mapping[str, pa.Table]) -> dict[str, str]:
    """Of each table of a run the hash of its rows."""
    return {name: rows_sha256(rows) for name, rows in tables.items()}


def rows_sha256(table: pa.Table) -> str:
    """SHA-256 over columns, types and values in their order: the same wherever the rows lie."""
    digest = hashlib.sha256()
    for column_field in table.schema:
        column = table[column_field.name].combine_chunks()
        digest.update(f"{column_field.name} {column.type} {len(column)}\n".encode())
        digest.update(np.packbits(column.is_valid().to_numpy(zero_copy_only=False)).tobytes())
        for part in _values(column):
            digest.update(part)
    return digest.hexdigest()


def _values(column: pa.Array) -> Iterator[Any]:
    """Values as bytes, with zero or nothing where there is none."""
    if not pa.types.is_string(column.type):
        zero = pa.scalar(0).cast(column.type)
        yield np.ascontiguousarray(column.fill_null(zero).to_numpy(zero_copy_only=False))
        return
    filled = column.fill_null("")
    _, offsets, text = filled.buffers()
    ends = np.frombuffer(offsets, np.int32)[filled.offset : filled.offset + len(filled) + 1]
    yield np.diff(ends)
    if text is not None and len(ends):
        yield memoryview(text)[ends[0] : ends[-1]]
