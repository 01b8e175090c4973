"""Runs statement cases on this engine: SQL commands racing on tables of rows.

The tables are built commit by commit as the case says. The current statement then runs until it
would write a commit file; there it waits while the winners run to their end.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from datetime import date
from typing import Any

import msgspec

from whitecap.engine.commands import SharedTable, Table, Tables, run_statement
from whitecap.engine.conflicts.operation import MANUAL_UPDATE
from whitecap.engine.dialects import dialect_named
from whitecap.engine.errors import InvalidInput, UnsupportedFeature
from whitecap.engine.log.schema import Schema, parse_ddl
from whitecap.engine.outcomes import Outcome
from whitecap.engine.races.conformance.case import CaseResult, DataFile, StatementCase, TableOf
from whitecap.engine.races.conformance.compare import failed, judge, skipped
from whitecap.engine.races.conformance.grammar import check_grammar
from whitecap.engine.races.conformance.read_only import read_only
from whitecap.engine.races.conformance.staged import StagedStatement
from whitecap.engine.settings import Settings
from whitecap.engine.sql.expressions.rendering import quoted, sql_literal
from whitecap.engine.sql.parsing.parse import parse_statement
from whitecap.engine.storage.memory import MemoryStore, Store, counting_clock, run
from whitecap.engine.storage.requests import Row, Steps
from whitecap.engine.values.casts import from_python
from whitecap.engine.writing.generation import given_columns

_ISOLATION = "delta.isolationLevel"
RACING_AT_MS = 1_795_219_200_000
"""When the tables of a case are made: late in 2026, as the cases were observed then."""
VALUES_TASKS = 2
"""The racing statements run as on a session with several cores, which all write a VALUES list."""


def run_case(case: StatementCase) -> CaseResult:
    """Run one case; skipped if it needs what is not modelled."""
    try:
        return _run(case)
    except (InvalidInput, UnsupportedFeature) as lack:
        return skipped(case, str(lack))


def _run(case: StatementCase) -> CaseResult:
    store = MemoryStore(counting_clock(RACING_AT_MS))
    dialect = dialect_named(case.dialect)
    # The case's settings are those of the race; tables are built before it, one file a commit.
    building = dialect.settings_of({})
    racing = dataclasses.replace(dialect.settings_of(case.settings), values_tasks=VALUES_TASKS)
    shared = {name: SharedTable() for name in case.tables}

    def client(session: Settings) -> Tables:
        return {
            name: Table(name, shared[name], session, dialect, root=f"{name}/")
            for name in case.tables
        }

    for name, table in case.tables.items():
        versions = build(client(building)[name], table, store)
        if versions != table.versions:
            return failed(case, "versions", table.versions, versions)

    def stage(text: str, waits_at: int = 1) -> StagedStatement:
        return StagedStatement(_run_text(text, client(racing)), store, waits_at)

    found = _race(case, stage)
    found["rows"] = list(live_rows(client(racing)["target"], store))
    return judge(case, found)


def _run_text(text: str, tables: Tables) -> Steps[Outcome]:
    """A statement from its text on: what Spark's parser refuses is an ending too."""
    reading = read_only(text, tables)
    if reading is not None:
        return (yield from reading)
    statement = parse_statement(text)
    check_grammar(statement, next(iter(tables.values())).dialect)
    return (yield from run_statement(statement, tables))


def _race(case: StatementCase, stage: Callable[..., StagedStatement]) -> dict[str, Any]:
    """The statements from their snapshots to their ends; `stage` runs one up to its commit."""
    found: dict[str, Any] = {}
    current = stage(case.current, case.waits_at)
    if current.is_waiting:
        winners = [_won(each) for each in _staged_winners(case, stage)]
        found["winner"] = winners if isinstance(case.winner, list) else winners[0]
        current.finish()
    found |= current.described()
    if case.rerun:
        found["rerun"] = _won(stage(case.current))
    return found


def _staged_winners(
    case: StatementCase, stage: Callable[..., StagedStatement]
) -> Iterable[StagedStatement]:
    """One after the other has committed, or all before one does."""
    winners = (stage(text) for text in case.winners)
    return list(winners) if case.overlapping else winners


def _won(winner: StagedStatement) -> str:
    """Let a winner go on to its end; how it ended, in one word."""
    winner.finish()
    return str(winner.described()["current"])


def build(table: Table, wanted: TableOf, store: MemoryStore) -> int:
    """Create a table with a commit for its schema and one for each file; returns how many.

    An isolation level that SQL refuses to set is put into the log by one more commit of metadata.
    """
    properties = {k: v for k, v in wanted.properties.items() if not _is_refused(k, v)}
    run(
        run_statement(
            parse_statement(_create(table.name, wanted, properties)), {table.name: table}
        ),
        store,
    )
    schema = parse_ddl(wanted.schema)
    for file in wanted.files:
        insert = parse_statement(_insert(table.name, file, schema))
        run(run_statement(insert, {table.name: table}), store)
    if properties != wanted.properties:
        run(table.at_root(_set_raw(table, wanted.properties)), store)
    return run(table.at_root(table.log.update()), store).version + 1


def _is_refused(key: str, value: str) -> bool:
    return key == _ISOLATION and value != "Serializable"


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
    metadata = msgspec.structs.replace(txn.metadata, configuration=configuration)
    return (yield from txn.commit([metadata], MANUAL_UPDATE))


def live_rows(table: Table, store: Store) -> Iterable[dict[str, Any]]:
    """The table's rows as a reader sees them, values as in a case file."""
    snapshot = run(table.at_root(table.log.update()), store)
    steps = table.data_files.read(snapshot.all_files(), snapshot.schema)
    for one in run(table.at_root(steps), store):
        for _, row in one:
            yield {n: _plain(v) for n, v in zip(snapshot.schema.names, row, strict=True)}


def _plain(value: Any) -> Any:
    return value.isoformat() if isinstance(value, date) else value
