"""A table of a real Delta Lake on which statements are run, one after the other, as they stand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import pyarrow as pa

from whitecap.engine.errors import InvalidInput
from whitecap.engine.log.schema import Schema
from whitecap.engine.storage.disk.parquet import arrow_type
from whitecap.engine.storage.requests import Row
from whitecap.sim.oracles.row_changes import RowMultiset, plain_row
from whitecap.sim.oracles.statements.parsing import NotTranslated
from whitecap.sim.oracles.statements.text import Appended, table_written
from whitecap.sim.replay.real.rows import frame_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


DATABASE = "whitecap_oracle"
"""Where the tables have their names: those of whose session it is stay as they are."""


@contextmanager
def spark_table(spark: SparkSession) -> Iterator[SparkTable]:
    """A table in a directory, with names in a database, that are there as long as it is needed."""
    before = spark.catalog.currentDatabase()
    spark.sql(f"CREATE DATABASE {DATABASE}")
    spark.sql(f"USE {DATABASE}")
    try:
        with TemporaryDirectory(prefix="whitecap-oracle-") as scratch:
            yield SparkTable(spark, Path(scratch))
    finally:
        spark.sql(f"USE {before}")
        spark.sql(f"DROP DATABASE {DATABASE} CASCADE")


@dataclass(slots=True)
class SparkTable:
    """One table, below a directory, in the columns and partitions that it was last given.

    Raises `NotTranslated` for what Spark does not run.
    """

    spark: SparkSession
    scratch: Path
    _schema: Schema = field(default_factory=Schema)
    _folder: Path = field(init=False)
    _made: int = 0
    _names: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._folder = self.scratch / "0"

    def load(self, rows: RowMultiset, schema: Schema, partitions: Sequence[str]) -> None:
        """The table holds these rows from now on, and has these columns: a new one is made."""
        self._forget_names()
        self._made += 1
        self._schema, self._folder = schema, self.scratch / str(self._made)
        writer = self._frame(rows.elements()).coalesce(1).write.format("delta")
        writer.partitionBy(*partitions).save(str(self._folder))

    def rows(self) -> RowMultiset:
        """What it holds."""
        held = self.spark.read.format("delta").load(str(self._folder)).toArrow()
        columns = [held.column(name).to_pylist() for name in self._schema.names]
        return Counter(map(plain_row, zip(*columns, strict=True)))

    def run(self, statement: str) -> None:
        """Run a statement, whatever it calls the table that it writes."""
        self._is_called(table_written(statement))
        try:
            self.spark.sql(statement)
        except Exception as error:
            raise NotTranslated(f"Spark does not run it: {_first_line(error)}") from error

    def append(self, rows: RowMultiset) -> None:
        """Bring rows."""
        self._append(self._frame(rows.elements()))

    def append_batch(self, batch: Appended) -> None:
        """Bring the rows of a streaming batch, whose values are as JSON has them."""
        names = {name.lower() for name in self._schema.names}
        if unknown := {name for row in batch.rows for name in row if name.lower() not in names}:
            raise NotTranslated(f"a batch with further columns: {', '.join(sorted(unknown))}")
        ddl = ", ".join(f"`{column.name}` {column.type}" for column in self._schema)
        self._append(frame_of(self.spark, ddl, batch.rows))

    def _is_called(self, name: str) -> None:
        if name not in self._names:
            self.spark.sql(f"CREATE TABLE `{name}` USING delta LOCATION '{self._folder}'")
            self._names.add(name)

    def _forget_names(self) -> None:
        for name in self._names:
            self.spark.sql(f"DROP TABLE `{name}`")
        self._names.clear()

    def _append(self, frame: DataFrame) -> None:
        frame.write.format("delta").mode("append").save(str(self._folder))

    def _frame(self, rows: Iterator[Row]) -> DataFrame:
        columns = list(zip(*rows, strict=True)) or [()] * len(self._schema.names)
        try:
            types = [arrow_type(column.type) for column in self._schema]
            arrays = [pa.array(c, t) for c, t in zip(columns, types, strict=True)]
        except (pa.ArrowException, InvalidInput, KeyError, TypeError, ValueError) as error:
            raise NotTranslated(f"values or types that Spark is not given: {error}") from error
        table = pa.Table.from_arrays(arrays, names=list(self._schema.names))
        return self.spark.createDataFrame(table)


def _first_line(error: Exception) -> str:
    return str(error).strip().splitlines()[0][:200]
