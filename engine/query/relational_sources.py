"""The tables of a relational query: which rows of which are read, and what of that is tracked.

Source: PrepareDeltaScan.scala (scans of the table that is written are tracked with the filters that
the optimizer pushes down to them; others are pinned), OptimizeMetadataOnlyDeltaQuery.scala.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from whitecap.engine.log.schema import Schema
from whitecap.engine.query.partition_filters import with_partition_filters
from whitecap.engine.query.relational import Planner
from whitecap.engine.query.row_reads import track_rows
from whitecap.engine.query.select_parts import Rows
from whitecap.engine.query.sources import Source
from whitecap.engine.row_level.data_files import FileRows
from whitecap.engine.session.table import Table, Tables, table_named
from whitecap.engine.sql.expressions.columns import unqualified
from whitecap.engine.sql.expressions.scope import Scope
from whitecap.engine.sql.expressions.terms import Parameters
from whitecap.engine.sql.functions.nodes import function_name
from whitecap.engine.sql.parsing.statements import Relational, TableName
from whitecap.engine.sql.parsing.tree_reading import table_name
from whitecap.engine.sql.predicates.normal_form import conjuncts_of
from whitecap.engine.sql.predicates.predicate import Predicate
from whitecap.engine.storage.requests import Row, Steps
from whitecap.engine.transaction.transaction import Transaction
from whitecap.engine.values.types import Session

_FROM_STATISTICS = ("count", "min", "max")


@dataclass(frozen=True, slots=True)
class TableScan:
    """One table of a query, where it stands in the tree, and the conditions on it alone."""

    node: exp.Table
    name: TableName
    conditions: tuple[exp.Expr, ...]

    def predicates(self, schema: Schema, parameters: Parameters) -> list[Predicate]:
        """The conditions that the table's own columns decide."""
        names = {name.lower() for name in schema.names}
        known = (
            node
            for node in self.conditions
            if all(column.name.lower() in names for column in node.find_all(exp.Column))
        )
        return [Predicate.of_node(unqualified(node), parameters) for node in known]


def scans_of(query: Relational) -> list[TableScan]:
    """The tables of a query, other than those that it names itself."""
    own = {cte.alias.lower() for cte in query.node.find_all(exp.CTE)}
    tables = [
        node
        for node in query.node.find_all(exp.Table)
        if node.name.lower() not in own and not isinstance(node.this, exp.Func)
    ]
    return [TableScan(node, table_name(node), tuple(_conditions(node))) for node in tables]


def reads_own(query: Relational, target: TableName) -> bool:
    """Whether a query reads the newest version of the table that is written."""
    return any(_is_own(scan.name, target) for scan in scans_of(query))


def _is_own(name: TableName, target: TableName) -> bool:
    return name.version is None and name.name.lower() == target.name.lower()


def pinned_rows(query: Relational, target: TableName, tables: Tables) -> Steps[dict[int, Rows]]:
    """The rows of the tables that need no transaction, by their places in the tree."""
    rows: dict[int, Rows] = {}
    for scan in scans_of(query):
        if not _is_own(scan.name, target):
            table = table_named(tables, scan.name.name)
            rows[id(scan.node)] = yield from table.at_root(_pinned_rows(scan, table))
    return rows


def own_rows(
    query: Relational,
    pinned: Mapping[int, Rows],
    table: Table,
    txn: Transaction,
    parameters: Parameters,
) -> Steps[dict[int, Rows]]:
    """The rows of all tables: what was pinned, and tracked scans of the table that is written."""
    rows = dict(pinned)
    for scan in scans_of(query):
        if id(scan.node) not in rows:
            rows[id(scan.node)] = yield from _own_rows(query, scan, table, txn, parameters)
    return rows


def evaluated(
    query: Relational, rows: Mapping[int, Rows], parameters: Parameters, session: Session
) -> Source:
    """What the query gives, with the rows of its tables."""
    planned = Planner(rows, parameters, session).plan(query.node, Scope((), session))
    names = query.columns or planned.names
    return Source(names, planned.types, [list(planned.of(()))])


def _pinned_rows(scan: TableScan, table: Table) -> Steps[Rows]:
    version = scan.name.version
    snapshot = yield from (table.latest() if version is None else table.as_of(version))
    yield from table.log.read_state(snapshot)
    found = yield from table.data_files.read(snapshot.all_files(), snapshot.schema)
    return _rows(snapshot.schema, found)


def _own_rows(
    query: Relational, scan: TableScan, table: Table, txn: Transaction, parameters: Parameters
) -> Steps[Rows]:
    schema = txn.snapshot.schema
    predicates = scan.predicates(schema, parameters)
    if not txn.settings.stats_skipping:
        txn.read_whole_table()
        return _rows(schema, (yield from table.data_files.read(txn.snapshot.all_files(), schema)))
    track_rows(table, txn, predicates)
    filters = with_partition_filters(predicates, txn)
    files = list(txn.filter_files(filters) if filters else txn.filter_all_files())
    if _is_answered_by_statistics(query, predicates):
        txn.filter_all_files()
    found = yield from table.data_files.read(files, schema)
    return _rows(schema, found)


def _is_answered_by_statistics(query: Relational, predicates: Sequence[Predicate]) -> bool:
    """Whether only counts, minima and maxima of the whole table are asked for."""
    node = query.node
    plain = {"expressions", "from_", "kind", "hint"}
    if predicates or any(value and key not in plain for key, value in node.args.items()):
        return False
    items = (item.unalias() for item in node.expressions)
    return all(
        isinstance(item, exp.AggFunc) and function_name(item) in _FROM_STATISTICS for item in items
    )


def _rows(schema: Schema, file_rows: Sequence[FileRows]) -> Rows:
    rows: list[Row] = [row for one in file_rows for row in one.live_rows()]
    return Rows(schema.names, schema.types, lambda _outer: rows)


def _conditions(node: exp.Table) -> Iterator[exp.Expr]:
    """The conditions around a table that concern it alone, so that its scan may use them."""
    select = node.find_ancestor(exp.Select)
    if select is None or node.find_ancestor(exp.Subquery, exp.Select) is not select:
        return
    joins = [join for join in select.args.get("joins") or () if isinstance(join, exp.Join)]
    alone = not joins
    where = select.args.get("where")
    join = next((join for join in joins if join.this is node), None)
    outer = any((join.side or "") in ("RIGHT", "FULL") for join in joins)
    if where is not None and not outer and (join is None or not join.side):
        yield from (c for c in conjuncts_of(where.this) if _concerns(c, node, alone))
    if join is not None and join.args.get("on") is not None and join.side in ("", "LEFT"):
        yield from (c for c in conjuncts_of(join.args["on"]) if _concerns(c, node, False))


def _concerns(condition: exp.Expr, table: exp.Table, alone: bool) -> bool:
    """Whether a condition speaks of the table's columns, and of nothing else."""
    if condition.find(exp.Query) is not None:
        return False
    name = table.alias_or_name.lower()
    columns = list(condition.find_all(exp.Column))
    qualified = all(c.table.lower() == name or (alone and not c.table) for c in columns)
    return bool(columns) and qualified
