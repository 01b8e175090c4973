"""How the runs of a sweep lie in one Parquet dataset.

    recordings/batch=<number>-<word>/table=<name>/*.parquet    rows, each with its run's key
    recordings/batch=<number>-<word>/_SUCCESS                  the batch is whole

A batch counts once its `_SUCCESS` is there, as Spark writes it last; what else lies there is of a
batch under way or of one that was broken off. The tables of a recording stand beside `runs` (one
row per finished run: manifest, scenario, time) and `failures` (one per run that ended in an error).
All files have the same columns, so that Spark writes every table in one pass over the runs: what
is not a table's own is null there, which takes no room in Parquet.
"""

from __future__ import annotations

import re

import pyarrow as pa

from whitecap.sim.recording.recording import TABLES_OF_EVERY_RUN, schema_of

RECORDINGS = "recordings"
WHOLE_MARK = "_SUCCESS"
RUNS, FAILURES = "runs", "failures"

BATCH, TABLE = "batch", "table"
"""What the folders are named by."""

_TEXT = pa.string()

KEY = pa.schema([("cell", _TEXT), ("replication", pa.int32()), ("row", pa.int64())])
"""Of which run a row is, and its place in the run's table."""

OWN: dict[str, pa.Schema] = {
    **{name: schema_of(name, tells_apart=True) for name in TABLES_OF_EVERY_RUN},
    RUNS: pa.schema([("manifest", _TEXT), ("scenario", _TEXT), ("seconds", pa.float64())]),
    FAILURES: pa.schema(
        [("error", _TEXT), ("text", _TEXT), ("traceback", _TEXT), ("is_bad_input", pa.bool_())]
    ),
}
"""Table -> its columns after the key, those included that only runs of several
tables have. `seconds` are of computing, on whatever machine it was."""

_COLUMNS = {column.name: column.type for schema in OWN.values() for column in schema}

FILE = pa.schema([*KEY, *(pa.field(name, kind) for name, kind in _COLUMNS.items())])
"""What every file holds."""

STREAM = FILE.append(pa.field(TABLE, _TEXT))
"""Rows of all tables in one stream, each with its table's name."""

_BATCH_FOLDER = re.compile(rf"{BATCH}=(\d+)-\w+")


def batch_number(folder: str) -> int | None:
    """The number in the name of a batch's folder; `None` if it is none."""
    named = _BATCH_FOLDER.fullmatch(folder)
    return int(named[1]) if named else None


def batch_folder(number: int, word: str) -> str:
    """The folder of a batch; `word` keeps apart what two sweeps begin under one number."""
    return f"{BATCH}={number:05d}-{word}"
