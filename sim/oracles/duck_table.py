"""A table in DuckDB on which statements are run: not one line of the engine's own row code."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import pyarrow as pa

from whitecap.engine.errors import InvalidInput
from whitecap.engine.log.schema import Schema
from whitecap.engine.storage.disk.parquet import arrow_type
from whitecap.engine.storage.requests import Row
from whitecap.sim.oracles.row_changes import RowMultiset, plain_row
from whitecap.sim.oracles.statements.parsing import NotTranslated
from whitecap.sim.oracles.statements.text import CHANGES, TARGET, VERSION, Appended, Translated

REMEMBERED = "remembered"
"""The table as it was before a statement."""

ALL_CHANGES, WEIGHT = "all_changes", "whitecap_weight"
"""The changed rows of all versions; how often a row came in its version, negative: how often it
went."""

_DIFFERENCE = (
    f"SELECT sum(side) AS times, * EXCLUDE (side) FROM (SELECT 1 AS side, * FROM {TARGET}"
    f" UNION ALL SELECT -1 AS side, * FROM {REMEMBERED}) GROUP BY ALL HAVING sum(side) <> 0"
)
"""Rows with how often more they are there; one aggregate, where EXCEPT ALL numbers all rows."""

Sum = tuple[int, int]
"""How many rows, and the sum of their hashes of 64 bits: equal tables have equal sums, and others
but once in 2^64."""


def duckdb_is_there() -> bool:
    """Whether DuckDB is installed: `pip install whitecap[oracles]`."""
    try:
        import duckdb  # noqa: F401
    except ImportError:
        return False
    return True


@lru_cache(maxsize=1)
def _database() -> Any:
    """One for all tables of a process: to open one costs more than many statements.

    Tables of some thousand rows: more threads would cost more than they bring.
    """
    import duckdb

    return duckdb.connect(config={"threads": 1})


@dataclass(slots=True)
class DuckTable:
    """One table, in memory, in the columns of a schema. Raises `NotTranslated` where it fails."""

    schema: Schema
    _types: list[pa.DataType] = field(init=False)
    _connection: Any = field(init=False)

    def __post_init__(self) -> None:
        # A connection of its own: temporary tables are its alone.
        self._connection = _database().cursor()
        self._connection.execute("SET TimeZone = 'UTC'")
        self.takes(self.schema)

    def takes(self, schema: Schema) -> None:
        """The table has these columns from now on, and no rows."""
        self.schema = schema
        try:
            self._types = [arrow_type(column.type) for column in schema]
        except (InvalidInput, KeyError, ValueError) as error:
            raise NotTranslated(f"columns of a type that is not known here: {error}") from error
        self.load(Counter())

    def load(self, rows: RowMultiset) -> None:
        """The table holds these rows."""
        self._create(TARGET, rows.elements())

    def remember(self) -> None:
        """What is done from now on is what `done` tells."""
        self._execute(f"CREATE OR REPLACE TEMP TABLE {REMEMBERED} AS SELECT * FROM {TARGET}")

    def done(self) -> tuple[RowMultiset, RowMultiset]:
        """The rows that went and those that came since they were remembered."""
        held = self._execute(_DIFFERENCE).to_arrow_table()
        gone: RowMultiset = Counter()
        new: RowMultiset = Counter()
        if held.num_rows:
            count, *columns = [column.to_pylist() for column in held.columns]
            for times, *row in zip(count, *columns, strict=True):
                (new if times > 0 else gone)[plain_row(row)] += abs(int(times))
        return gone, new

    def apply(self, meaning: Translated | Appended) -> None:
        """Run one statement."""
        if isinstance(meaning, Appended):
            self._append(meaning)
            return
        for text in meaning.texts:
            self._execute(text)

    def bring(self, version: int) -> None:
        """Bring the rows of a version that was learnt."""
        self._execute(
            f"INSERT INTO {TARGET} SELECT {self._columns()} FROM {ALL_CHANGES}, "
            f"unnest(range({WEIGHT})) WHERE {VERSION} = {version}"
        )

    def sum(self) -> Sum:
        """Of the rows that the table holds."""
        columns = self._columns()
        (held,) = self._execute(
            f"SELECT count(*), coalesce(sum(hash({columns})::HUGEINT), 0) FROM {TARGET}"
        ).fetchall()
        return int(held[0]), int(held[1])

    def learn(self, changes: Sequence[tuple[int, int, Row]]) -> dict[int, Sum]:
        """Take in all changed rows, each with version and weight; answers by how much each version
        changes the sum of the table."""
        further = {
            VERSION: [version for version, _, _ in changes],
            WEIGHT: [weight for _, weight, _ in changes],
        }
        self._create(ALL_CHANGES, (row for _, _, row in changes), further)
        sums = self._execute(
            f"SELECT {VERSION}, sum({WEIGHT}), sum({WEIGHT} * hash({self._columns()})::HUGEINT) "
            f"FROM {ALL_CHANGES} GROUP BY {VERSION}"
        )
        return {version: (int(rows), int(total)) for version, rows, total in sums.fetchall()}

    def matched(self, matches: str, first: int, last: int) -> set[int]:
        """Versions, of these, with changed rows that a question of a statement selects."""
        if not matches:
            return set()
        among = (
            f"WITH {CHANGES} AS (SELECT * EXCLUDE ({WEIGHT}) "
            f"FROM {ALL_CHANGES} WHERE {VERSION} BETWEEN {first} AND {last})"
        )
        return {version for (version,) in self._execute(f"{among} {matches}").fetchall()}

    def _columns(self) -> str:
        return ", ".join(f'"{name}"' for name in self.schema.names) or "0"

    def _append(self, batch: Appended) -> None:
        names = self._columns()
        marks = ", ".join("?" for _ in self.schema.names)
        values: list[Any] = []
        for row in batch.rows:
            given = {name.lower(): value for name, value in row.items()}
            if unknown := given.keys() - {name.lower() for name in self.schema.names}:
                raise NotTranslated(f"a batch with further columns: {', '.join(sorted(unknown))}")
            values += [given.get(name.lower()) for name in self.schema.names]
        if values:
            rows = ", ".join(f"({marks})" for _ in batch.rows)
            self._execute(f"INSERT INTO {TARGET} ({names}) VALUES {rows}", values)

    def _create(
        self, name: str, rows: Iterable[Row], further: Mapping[str, list[int]] | None = None
    ) -> None:
        columns = list(zip(*rows, strict=True)) or [()] * len(self._types)
        try:
            arrays = [pa.array(c, t) for c, t in zip(columns, self._types, strict=True)]
        except (pa.ArrowException, TypeError, ValueError) as error:
            raise NotTranslated(f"values that DuckDB does not take: {error}") from error
        further = {} if further is None else further
        names = [*further, *self.schema.names]
        arrays = [*(pa.array(numbers, pa.int64()) for numbers in further.values()), *arrays]
        self._connection.register("given", pa.Table.from_arrays(arrays, names=names))
        self._execute(f"CREATE OR REPLACE TEMP TABLE {name} AS SELECT * FROM given")
        self._connection.unregister("given")

    def _execute(self, text: str, values: list[Any] | None = None) -> Any:
        import duckdb

        try:
            return self._connection.execute(text, values)
        except duckdb.Error as error:
            reason = str(error).splitlines()[0]
            raise NotTranslated(f"DuckDB does not run it: {reason}") from error
