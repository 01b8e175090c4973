"""Rows that a statement brings along: literal values, parameters, other tables, its own table.

Source: a scan of the table that the transaction writes is a tracked read (PrepareDeltaScan.scala);
other tables, and time travel, are pinned before the transaction starts and never tracked.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from whitecap.engine.errors import InvalidInput, Problem
from whitecap.engine.log.actions import AddFile
from whitecap.engine.log.schema import Schema
from whitecap.engine.log.snapshot import Snapshot
from whitecap.engine.log.statistics import record_count
from whitecap.engine.query.inline_tables import evaluated_early
from whitecap.engine.query.parameter_rows import check_widths, rows_of_parameter, value_names
from whitecap.engine.query.partition_filters import with_partition_filters
from whitecap.engine.query.relational_sources import evaluated, own_rows, pinned_rows, reads_own
from whitecap.engine.query.row_reads import track_limited_rows, track_rows
from whitecap.engine.query.scan_tasks import scan_tasks
from whitecap.engine.query.select_parts import Rows, item_name
from whitecap.engine.query.sources import Source, projection
from whitecap.engine.row_level.data_files import FileRows
from whitecap.engine.session.table import Table, Tables, table_named
from whitecap.engine.sql.expressions.scope import UNRESOLVED, Relation, Scope
from whitecap.engine.sql.expressions.spark_text import DIALECT
from whitecap.engine.sql.expressions.terms import Parameters, Term, column, convert
from whitecap.engine.sql.functions.nodes import is_random
from whitecap.engine.sql.parsing.statements import Query, Relational, Select, TableName, Values
from whitecap.engine.sql.predicates.compiler import compile_term
from whitecap.engine.sql.predicates.predicate import TRUE, Predicate
from whitecap.engine.storage.requests import Row, Steps
from whitecap.engine.transaction.transaction import Transaction
from whitecap.engine.values.coercion import inline_type
from whitecap.engine.values.types import Session


@dataclass(frozen=True, slots=True)
class OwnRead:
    """A query that reads the written table, and the rows of what else it reads."""

    query: Query | TableName
    pinned: Mapping[int, Rows] = field(default_factory=dict)


def table_of(query: Query | TableName) -> TableName | None:
    """The table that a query reads, if it reads one."""
    if isinstance(query, TableName):
        return query
    return query.table if isinstance(query, Select) else None


def reads_own_table(query: Query | TableName, target: TableName) -> bool:
    """Whether a query reads the newest version of the table that is written."""
    if isinstance(query, Relational):
        return reads_own(query, target)
    table = table_of(query)
    return table is not None and table.version is None and _same(table, target)


def _same(one: TableName, other: TableName) -> bool:
    return one.name.lower() == other.name.lower()


def source_of(
    query: Query | TableName,
    target: TableName,
    tables: Tables,
    parameters: Parameters,
    session: Session,
) -> Steps[Source | OwnRead]:
    """What a query gives, or what is left to do in a transaction if it reads the target itself."""
    if isinstance(query, Relational):
        rows = yield from pinned_rows(query, target, tables)
        if reads_own_table(query, target):
            yield from table_named(tables, target.name).log.analyze()
            return OwnRead(query, rows)
        return evaluated(query, rows, parameters, session)
    if reads_own_table(query, target):
        yield from table_named(tables, target.name).log.analyze()
        return OwnRead(query)
    table_name = table_of(query)
    if table_name is None:
        tasks = table_named(tables, target.name).settings.values_tasks
        return values_source(query, parameters, session).spread(tasks)
    table = table_named(tables, table_name.name)
    snapshot = yield from table.at_root(_pinned(table, table_name))
    condition = query.condition if isinstance(query, Select) else None
    if condition is not None:
        condition.check(snapshot.schema, table.session)
        condition = condition.with_parameters(parameters)
    files = [f for f in snapshot.all_files() if _in_partition(f, condition, snapshot, table)]
    steps = table.data_files.read(files, snapshot.schema)
    file_rows = yield from table.at_root(steps)
    return select_source(query, table_name, snapshot.schema, file_rows, parameters, table.session)


def _pinned(table: Table, name: TableName) -> Steps[Snapshot]:
    version = name.version
    snapshot = yield from (table.latest() if version is None else table.as_of(version))
    yield from table.log.read_state(snapshot)
    return snapshot


def _in_partition(
    file: AddFile, condition: Predicate | None, snapshot: Snapshot, table: Table
) -> bool:
    parts = () if condition is None else condition.conjuncts()
    schema = snapshot.partition_schema
    return all(
        part.evaluate_partition(file.partition_values or {}, schema, table.settings) is True
        for part in parts
        if part.is_over(snapshot.partition_columns) and part.columns
    )


def in_transaction(
    source: Source | OwnRead, table: Table, txn: Transaction, parameters: Parameters
) -> Steps[Source]:
    """The source itself; a query on the written table reads the transaction's snapshot, tracked."""
    if isinstance(source, Source):
        return source
    yield from txn.read_state()
    query = source.query
    if isinstance(query, Relational):
        rows = yield from own_rows(query, source.pinned, table, txn, parameters)
        return evaluated(query, rows, parameters, table.session)
    schema = txn.snapshot.schema
    if isinstance(query, Select) and query.condition is not None:
        query.condition.check(schema, table.session)
    files = _tracked_files(query, table, txn, parameters)
    file_rows = yield from table.data_files.read(files, schema)
    name = table_of(query)
    assert name is not None
    return select_source(query, name, schema, file_rows, parameters, table.session)


def _tracked_files(
    query: Query | TableName, table: Table, txn: Transaction, parameters: Parameters
) -> list[AddFile]:
    select = query if isinstance(query, Select) else None
    condition = None if select is None else select.condition
    parts = () if condition is None else condition.with_parameters(parameters).conjuncts()
    if not txn.settings.stats_skipping:
        txn.read_whole_table()  # PrepareDeltaScan is off, and nothing else tells what is read
        return list(txn.snapshot.all_files())
    if select is None or select.limit is None:
        track_rows(table, txn, parts)
        filters = with_partition_filters(parts, txn)
        return list(txn.filter_files(filters) if filters else txn.filter_all_files())
    track_limited_rows(txn)
    if all(part.is_over(txn.metadata.partition_columns) for part in parts):
        return _files_for_limit(txn, parts, select.limit)
    return list(txn.filter_files(with_partition_filters(parts, txn)))


def _files_for_limit(txn: Transaction, parts: Sequence[Predicate], limit: int) -> list[AddFile]:
    """Only as many files as hold `limit` rows. Source: DataSkippingReader.pruneFilesByLimit."""
    chosen: list[AddFile] = []
    rows = 0
    for file in _untracked(txn).filter_files(parts):
        if rows >= limit:
            break
        chosen.append(file)
        rows += record_count(file.stats) or 0
    txn.filter_files_for_limit(chosen, parts)
    return chosen


def _untracked(txn: Transaction) -> Transaction:
    """A transaction on the same snapshot whose reads nobody asks for."""
    return Transaction(txn.table_log, txn.snapshot, txn.txn_id, txn.settings, txn.dialect)


def select_source(
    query: Query | TableName,
    name: TableName,
    schema: Schema,
    file_rows: Sequence[FileRows],
    parameters: Parameters,
    session: Session,
) -> Source:
    """A table's rows: all of them, or those and the columns that a SELECT asks for."""
    tasks = tasks_of(file_rows)
    files = tuple(one.file for one in file_rows)
    if not isinstance(query, Select):
        return Source(schema.names, schema.types, tasks, files)
    scope = Scope((Relation.of(schema, *name.names),), session)
    names, terms = select_terms(query, scope, schema)
    terms = [term.known(parameters) for term in terms]
    keep = (query.condition or TRUE).with_parameters(parameters).bind(schema, session)
    project = projection(terms, parameters, len(schema))
    chosen = [[project(row) for row in rows if keep(row) is True] for rows in tasks]
    if query.limit is not None:
        chosen = [[row for rows in chosen for row in rows][: query.limit]]
    return Source(names, tuple(term.type for term in terms), chosen, files)


def tasks_of(file_rows: Sequence[FileRows]) -> list[list[Row]]:
    """The live rows of files, by the task that reads them."""
    by_path = {one.file.path: one for one in file_rows}
    return [
        [row for file in task for row in by_path[file.path].live_rows()]
        for task in scan_tasks([one.file for one in file_rows])
    ]


def select_terms(
    query: Select, scope: Scope, schema: Schema | None
) -> tuple[tuple[str, ...], list[Term]]:
    """Names and terms of a SELECT list, stars spread."""
    names: list[str] = []
    terms: list[Term] = []
    for item in query.items:
        if isinstance(item, exp.Star):
            fields = () if schema is None else schema.fields
            names += [f.name for f in fields]
            terms += [column(at, f.type) for at, f in enumerate(fields)]
        else:
            names.append(item_name(item))
            terms.append(compile_term(item.unalias(), scope))
    if query.columns:
        names = list(query.columns)
    return tuple(names), terms


def values_source(query: Query | TableName, parameters: Parameters, session: Session) -> Source:
    """Literal rows, or the rows of a parameter."""
    scope = Scope((), session)
    if isinstance(query, Select):
        names, terms = select_terms(query, scope, None)
        terms = [term.known(parameters) for term in terms]
        row = tuple(term.bind(parameters).evaluate(()) for term in terms)
        return Source(names, tuple(term.type for term in terms), [[row]])
    assert isinstance(query, Values)
    if query.rows_parameter is not None:
        kinds, known = rows_of_parameter(query.rows_parameter, parameters, query.columns)
        return Source(value_names(query.columns, len(kinds)), kinds, [known])
    table = [[_inline(node, scope, parameters) for node in row] for row in query.rows]
    check_widths(table)
    with evaluated_early((node for row in query.rows for node in row), scope):
        rows = [tuple(term.bind(parameters).evaluate(()) for term in row) for row in table]
        types = tuple(_column_type(table, at) for at in range(len(table[0])))
        typed = _in_types(table, rows, types, session)
    return Source(value_names(query.columns, len(types)), types, [typed])


_NOT_EVALUATED = (
    "AnalysisException",
    "INVALID_INLINE_TABLE.CANNOT_EVALUATE_EXPRESSION_IN_INLINE_TABLE",
)


def _inline(node: exp.Expr, scope: Scope, parameters: Parameters) -> Term:
    """A value in VALUES, which knows no columns."""
    if is_random(node):
        text = "differs from call to call"
        raise InvalidInput([Problem(node.sql(DIALECT), text, refused_as=_NOT_EVALUATED)])
    try:
        return compile_term(node, scope).known(parameters)
    except InvalidInput as error:
        first, *others = error.problems
        if first.refused_as != UNRESOLVED:
            raise
        refused_as = UNRESOLVED[0], "UNRESOLVED_COLUMN.WITHOUT_SUGGESTION"
        told = dataclasses.replace(first, refused_as=refused_as)
        raise InvalidInput([told, *others]) from error


def _column_type(table: list[list[Term]], at: int) -> str:
    found = "void"
    for terms in table:
        found = inline_type(found, terms[at].type)
    return found


def _in_types(
    table: list[list[Term]], rows: list[Row], types: tuple[str, ...], session: Session
) -> list[Row]:
    if all(term.type == kind for terms in table for term, kind in zip(terms, types, strict=True)):
        return rows
    return [
        tuple(
            value if term.type == kind else convert(term, kind, session).bind({}).evaluate(())
            for term, kind, value in zip(terms, types, row, strict=True)
        )
        for terms, row in zip(table, rows, strict=True)
    ]
