"""Runs statement cases on this engine: two SQL commands racing on tables of rows.

The tables are built commit by commit as the case says. The current statement then runs until its
first attempt to write a commit file; there it waits while the winners run to their end.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from datetime import date
from typing import Any

import msgspec

from engine.commands import SharedTable, Table, Tables, run_statement
from engine.conformance.case import CaseResult, DataFile, StatementCase, TableOf
from engine.conformance.compare import failed, judge, skipped
from engine.dialects import dialect_named
from engine.errors import DeltaError, UnsupportedFeature
from engine.log.commit_file import version_of_key
from engine.log.schema import Schema, ddl, parse_ddl
from engine.outcomes import Aborted, Committed, NothingToCommit, Outcome
from engine.sql.parsing import parse_statement
from engine.sql.rendering import sql_literal
from engine.sql.types import from_python
from engine.storage.memory import MemoryStore, Store, run
from engine.storage.requests import PutIfAbsent, PutResult, Request, Response, Row, Steps
from engine.transaction.operation import MANUAL_UPDATE

_ISOLATION = "delta.isolationLevel"
VALUES_TASKS = 2
"""The racing statements run as on a session with several cores, which all write a VALUES list."""


def run_case(case: StatementCase) -> CaseResult:
    """Run one case; skipped if it needs what is not modelled."""
    try:
        return _run(case)
    except UnsupportedFeature as lack:
        return skipped(case, str(lack))


def _run(case: StatementCase) -> CaseResult:
    store = MemoryStore()
    dialect = dialect_named(case.dialect)
    settings = dialect.settings_of(case.settings)
    shared = {name: SharedTable() for name in case.tables}

    def client(values_tasks: int = VALUES_TASKS) -> Tables:
        session = dataclasses.replace(settings, values_tasks=values_tasks)
        return {
            name: Table(name, shared[name], session, dialect, root=f"{name}/")
            for name in case.tables
        }

    for name, table in case.tables.items():
        versions = build(client(values_tasks=1)[name], table, store)
        if versions != table.versions:
            return failed(case, "versions", table.versions, versions)
    found: dict[str, Any] = {}
    current = _run_until_commit(run_statement(parse_statement(case.current), client()), store)
    if current.is_waiting:
        winners = [outcome_of(text, client(), store) for text in case.winners]
        found["winner"] = winners if isinstance(case.winner, list) else winners[0]
        current.finish()
    found |= current.described()
    found["rows"] = list(live_rows(client()["target"], store))
    return judge(case, found)


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
        rows = ", ".join(f"({_values(row)})" for row in _rows_of(file, schema))
        insert = parse_statement(f"INSERT INTO {table.name} VALUES {rows}")
        run(run_statement(insert, {table.name: table}), store)
    if properties != wanted.properties:
        run(table.at_root(_set_raw(table, wanted.properties)), store)
    return run(table.at_root(table.log.update()), store).version + 1


def _is_refused(key: str, value: str) -> bool:
    return key == _ISOLATION and value != "Serializable"


def _create(name: str, wanted: TableOf, properties: Mapping[str, str]) -> str:
    text = f"CREATE TABLE {name} ({ddl(parse_ddl(wanted.schema))}) USING delta"
    if wanted.partition_columns:
        text += f" PARTITIONED BY ({', '.join(wanted.partition_columns)})"
    if properties:
        pairs = ", ".join(f"'{key}' = '{value}'" for key, value in properties.items())
        text += f" TBLPROPERTIES ({pairs})"
    return text


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


def outcome_of(text: str, tables: Tables, store: MemoryStore) -> str:
    """Run a statement to its end; how it ended, in one word."""
    ending = _run_until_commit(run_statement(parse_statement(text), tables), store)
    ending.finish()
    return str(ending.described()["current"])


class _Ending:
    """A statement that waits before its first commit attempt, or has ended."""

    def __init__(self, steps: Steps[Outcome], store: MemoryStore) -> None:
        self._steps = steps
        self._store = store
        self._answer: Any = None
        self._outcome: Outcome | None = None
        self._error: DeltaError | None = None
        self._created: list[str] = []
        self.is_waiting = False

    def advance(self, stop_at_commit: bool) -> None:
        """Answer requests; stop before a commit file is written if so wanted."""
        try:
            request = self._steps.send(self._answer)
            while not (stop_at_commit and isinstance(request, PutIfAbsent)):
                request = self._steps.send(self._answered(request))
            self._pending, self.is_waiting = request, True
        except StopIteration as end:
            self._outcome = end.value
        except DeltaError as error:
            self._error = error

    def finish(self) -> None:
        """Go on to the end, if it waits."""
        if self.is_waiting:
            self._answer = self._answered(self._pending)
            self.is_waiting = False
            self.advance(stop_at_commit=False)

    def _answered(self, request: Request) -> Response:
        answer = self._store.answer(request)
        if isinstance(request, PutIfAbsent) and answer is PutResult.CREATED:
            self._created.append(request.key)
        return answer

    def described(self) -> dict[str, Any]:
        """The keys of a case's expectations that the ending settles."""
        if self._error is not None:
            error = self._error
            return {
                "current": error.exception,
                "error_class": error.error_class,
                "message": error.message,
            }
        match self._outcome:
            case Committed(_, commit_info):
                first = version_of_key(self._created[0].partition("/")[2])
                return {
                    "current": "committed",
                    "version": first,  # VACUUM commits twice
                    "isolation_level": commit_info.isolation_level,
                    "is_blind_append": commit_info.is_blind_append,
                }
            case Aborted(verdict):
                return {
                    "current": verdict.exception.value,
                    "error_class": verdict.error_class,
                    "message": verdict.message,
                }
            case NothingToCommit():
                return {"current": "nothing_to_commit"}
        return {"current": "unknown"}


def _run_until_commit(steps: Steps[Outcome], store: MemoryStore) -> _Ending:
    ending = _Ending(steps, store)
    ending.advance(stop_at_commit=True)
    return ending


def live_rows(table: Table, store: Store) -> Iterable[dict[str, Any]]:
    """The table's rows as a reader sees them, values as in a case file."""
    snapshot = run(table.at_root(table.log.update()), store)
    steps = table.data_files.read(snapshot.all_files(), snapshot.schema)
    for one in run(table.at_root(steps), store):
        for _, row in one:
            yield {n: _plain(v) for n, v in zip(snapshot.schema.names, row, strict=True)}


def _plain(value: Any) -> Any:
    return value.isoformat() if isinstance(value, date) else value
