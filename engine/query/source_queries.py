"""From the query of a statement to its source: literals, parameters, other tables, its own table.

All queries go one way: tables that need no transaction are pinned, the target itself is read by the
transaction and tracked, then the query is planned on the rows of its tables.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct, field

from whitecap.engine.query.inline_tables import literal_rows
from whitecap.engine.query.planner import Planner
from whitecap.engine.query.rows import Rows
from whitecap.engine.query.sources import Source
from whitecap.engine.query.table_scans import own_rows, pinned_rows, reads_own
from whitecap.engine.session.table import Table, Tables, table_named
from whitecap.engine.sql.expressions.scope import Scope
from whitecap.engine.sql.expressions.terms import Parameters
from whitecap.engine.sql.parsing.statements import Query, Select, TableName, Values, whole_table
from whitecap.engine.storage.requests import Steps
from whitecap.engine.transaction.transaction import Transaction
from whitecap.engine.values.types import Session


class OwnRead(Struct, frozen=True):
    """A query that reads the table it writes, with the rows of all other tables that it reads."""

    query: Select
    pinned: Mapping[int, Rows] = field(default_factory=dict)


def source_of(
    query: Query | TableName,
    target: TableName,
    tables: Tables,
    parameters: Parameters,
    session: Session,
) -> Steps[Source | OwnRead]:
    """The rows of a query; an `OwnRead`, for a transaction to finish, if it reads the target."""
    if isinstance(query, Values):
        names, types, rows = literal_rows(query, parameters, session)
        tasks = table_named(tables, target.name).settings.values_tasks
        return Source(names, types, [rows]).spread(tasks)
    select = whole_table(query) if isinstance(query, TableName) else query
    pinned = yield from pinned_rows(select, target, tables, parameters)
    if reads_own(select, target):
        yield from table_named(tables, target.name).log.analyze()
        return OwnRead(select, pinned)
    return _evaluated(select, pinned, parameters, session)


def in_transaction(
    source: Source | OwnRead, table: Table, txn: Transaction, parameters: Parameters
) -> Steps[Source]:
    """The rows of a source; an `OwnRead` now reads the snapshot of the transaction, tracked."""
    if isinstance(source, Source):
        return source
    yield from txn.read_state()
    rows = yield from own_rows(source.query, source.pinned, table, txn, parameters)
    return _evaluated(source.query, rows, parameters, table.session)


def _evaluated(
    query: Select, tables: Mapping[int, Rows], parameters: Parameters, session: Session
) -> Source:
    """What the query gives, with the rows of its tables."""
    nowhere = Scope((), session)
    plans = [
        Planner(part, parameters, session).plan(query.node, nowhere)
        for part in _parts(query, tables)
    ]
    tasks = [list(plan.of(())) for plan in plans]
    if query.plain is not None and query.plain.limit is not None:
        tasks = [[row for rows in tasks for row in rows][: query.plain.limit]]
    first = plans[0]
    return Source(query.columns or first.names, first.types, tasks, first.letters)


def _parts(query: Select, tables: Mapping[int, Rows]) -> Sequence[Mapping[int, Rows]]:
    """The rows of a query's tables, task by task; all at once where rows must meet."""
    if query.plain is None:
        return [tables]
    ((place, table),) = tables.items()
    return [{place: table.part(rows)} for rows in table.tasks or [[]]]
