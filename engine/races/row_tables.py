"""Tables of rows to race on: as files describe them, built in a store, read back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from whitecap.engine.commands import Table, run_beyond_sql, run_statement
from whitecap.engine.conflicts.operation import MANUAL_UPDATE
from whitecap.engine.isolation import ISOLATION_PROPERTY
from whitecap.engine.log.schema import Schema, parse_ddl
from whitecap.engine.outcomes import Outcome
from whitecap.engine.sql.expressions.rendering import quoted, sql_literal
from whitecap.engine.sql.parsing.parse import parse_statement
from whitecap.engine.storage.memory import MemoryStore, Store, run
from whitecap.engine.storage.requests import Row, Steps
from whitecap.engine.values.casts import from_python
from whitecap.engine.writing.generation import given_columns


class Strict(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A part of a case file: an unknown key is an error, never ignored."""


class DataFile(Strict, frozen=True):
    """One data file of a table: its partition's values and its rows."""

    partition_values: dict[str, Any]
    rows: list[dict[str, Any]]


class TableOf(Strict, frozen=True):
    """A table before the race; `versions` is the number of commits that it then has."""

    schema: str
    partition_columns: list[str]
    properties: dict[str, str]
    files: list[DataFile]
    versions: int


def build(table: Table, wanted: TableOf, store: MemoryStore) -> int:
    """Create a table with a commit for its schema and one for each file; returns how many.

    An isolation level that SQL refuses to set is put into the log by one more commit of metadata.
    """
    refused = {k: v for k, v in wanted.properties.items() if _is_refused(k, v)}
    properties = {k: v for k, v in wanted.properties.items() if k not in refused}
    create = parse_statement(_create(table.name, wanted, properties))
    run(run_beyond_sql(create, {table.name: table}), store)
    schema = parse_ddl(wanted.schema)
    for file in wanted.files:
        insert = parse_statement(_insert(table.name, file, schema))
        run(run_statement(insert, {table.name: table}), store)
    if refused:
        run(table.at_root(_set_raw(table, refused)), store)
    return run(table.at_root(table.log.update()), store).version + 1


def _is_refused(key: str, value: str) -> bool:
    return key == ISOLATION_PROPERTY and value != "Serializable"


def _create(name: str, wanted: TableOf, properties: Mapping[str, str]) -> str:
    text = f"CREATE TABLE {name} ({wanted.schema}) USING delta"
    if wanted.partition_columns:
        text += f" PARTITIONED BY ({', '.join(wanted.partition_columns)})"
    if properties:
        pairs = ", ".join(f"'{key}' = {quoted(value)}" for key, value in properties.items())
        text += f" TBLPROPERTIES ({pairs})"
    return text


def _insert(name: str, file: DataFile, schema: Schema) -> str:
    """The INSERT of a file's rows; columns that Delta makes itself are left to it."""
    given = given_columns(schema, file.rows)
    listed = "" if len(given) == len(schema) else f" ({', '.join(given.names)})"
    rows = ", ".join(f"({_values(row)})" for row in _rows_of(file, given))
    return f"INSERT INTO {name}{listed} VALUES {rows}"


def _rows_of(file: DataFile, schema: Schema) -> Iterable[Row]:
    for row in file.rows:
        yield tuple(from_python(row.get(f.name), f.type) for f in schema)


def _values(row: Row) -> str:
    return ", ".join(sql_literal(value) for value in row)


def _set_raw(table: Table, properties: Mapping[str, str]) -> Steps[Outcome]:
    txn = yield from table.start()
    configuration = {**txn.metadata.configuration, **properties}
    metadata = replace(txn.metadata, configuration=configuration)
    return (yield from txn.commit([metadata], MANUAL_UPDATE))


def live_rows(table: Table, store: Store) -> Iterable[dict[str, Any]]:
    """The table's rows as a reader sees them, values as in a case file."""
    snapshot = run(table.at_root(table.log.update()), store)
    steps = table.data_files.read(snapshot.all_files(), snapshot.schema)
    for file_rows in run(table.at_root(steps), store):
        for _, row in file_rows:
            yield {n: _plain(v) for n, v in zip(snapshot.schema.names, row, strict=True)}


def _plain(value: Any) -> Any:
    return value.isoformat() if isinstance(value, date) else value
