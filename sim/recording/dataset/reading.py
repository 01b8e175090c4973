"""Something read of every finished run: in this process batch by batch, or by Spark run by run."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct

from whitecap.engine.errors import InvalidInput, Problem
from whitecap.engine.recorded import RunName
from whitecap.sim.recording.dataset.hadoop import dataset
from whitecap.sim.recording.dataset.layout import KEY, OWN, RUNS, TABLE
from whitecap.sim.recording.dataset.place import DatasetPlace
from whitecap.sim.recording.dataset.rows import (
    by_run,
    columns_of,
    in_order,
    recorded_tables,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

R = TypeVar("R")

Reading = Callable[[Mapping[str, Any], Mapping[str, pa.Table]], R]
"""What becomes of a run: a function of its manifest and tables that workers find by its name."""

ColumnsByTable = Mapping[str, tuple[str, ...]]
"""Table of a recording -> the columns that a reading asks for."""


class Read(Struct, Generic[R], frozen=True):
    """What was read of one run, or what is wrong with its rows."""

    name: RunName
    value: R | None
    problems: tuple[Problem, ...] = ()


def values_of(read: Iterable[Read[R]]) -> list[tuple[RunName, R]]:
    """What was read, in the order of cells and replications.

    Raises `InvalidInput` with everything that is wrong.
    """
    every = sorted(read, key=lambda each: each.name)
    if problems := [problem for each in every for problem in each.problems]:
        raise InvalidInput(problems)
    return [(each.name, each.value) for each in every if each.value is not None]


def read_batch(
    place: DatasetPlace, reading: Reading[R], columns: ColumnsByTable, batch: str
) -> list[Read[R]]:
    """Every run of one batch."""
    summaries = by_run(in_order(place.rows(RUNS, [*KEY.names, "manifest"], [batch])))
    tables = {
        name: by_run(in_order(place.rows(name, columns_of(name, columns), [batch])))
        for name in columns
    }
    return [
        _read(str(place), name, reading, summary, _own(name, columns, tables))
        for name, summary in summaries.items()
    ]


def _own(
    name: RunName, columns: ColumnsByTable, tables: Mapping[str, Mapping[RunName, pa.Table]]
) -> dict[str, pa.Table]:
    """A run's rows of each table; no rows of one that has none."""
    return {
        table: runs[name] if name in runs else _nothing(table, columns)
        for table, runs in tables.items()
    }


def _read(
    place: str,
    name: RunName,
    reading: Reading[R],
    summary: pa.Table,
    tables: Mapping[str, pa.Table],
) -> Read[R]:
    manifest = json.loads(summary["manifest"][0].as_py())
    try:
        return Read(name, reading(manifest, recorded_tables(place, name, manifest, tables)))
    except InvalidInput as error:
        return Read(name, None, tuple(error.problems))


def _nothing(table: str, columns: ColumnsByTable) -> pa.Table:
    return pa.schema([OWN[table].field(column) for column in columns[table]]).empty_table()


def read_on_spark(
    session: SparkSession,
    place: DatasetPlace,
    batches: Sequence[str],
    reading: Reading[R],
    columns: ColumnsByTable,
) -> Iterator[Read[R]]:
    """Every run of these batches, each where Spark brings its rows together."""
    asked_for = dict.fromkeys([*KEY.names, TABLE, "manifest"])
    for name in columns:
        asked_for |= dict.fromkeys(columns[name])
    rows = dataset(session, place.uri, batches)
    rows = rows.where(rows[TABLE].isin([RUNS, *columns])).select(*asked_for)
    where = str(place)

    # Spark looks at the annotations; those of a `partial` it does not find.
    def read_group(table: pa.Table) -> pa.Table:
        return _read_group(where, reading, columns, table)

    grouped = rows.groupBy("cell", "replication").applyInArrow(read_group, "found binary")
    return (pickle.loads(row["found"]) for row in grouped.toLocalIterator())


def _read_group(
    place: str, reading: Reading[R], columns: ColumnsByTable, rows: pa.Table
) -> pa.Table:
    """All rows of one run, of all tables."""
    of_table = {
        name: in_order(rows.filter(pc.equal(rows[TABLE], name))) for name in (RUNS, *columns)
    }
    summary = of_table.pop(RUNS)
    name = (rows["cell"][0].as_py(), rows["replication"][0].as_py())
    own = {table: own_rows.select(list(columns[table])) for table, own_rows in of_table.items()}
    read = _read(place, name, reading, summary, own)
    return pa.table({"found": pa.array([pickle.dumps(read)], pa.binary())})
