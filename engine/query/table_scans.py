"""The tables of a query: which rows of which are read, and what of that is tracked.

Source: PrepareDeltaScan.scala (scans of the table that is written are tracked with the filters that
the optimizer pushes down to them; others, and time travel, are pinned and never tracked),
OptimizeMetadataOnlyDeltaQuery.scala.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain

from msgspec import Struct
from msgspec.structs import replace
from sqlglot import exp

from whitecap.engine.errors import DeltaError, InvalidInput, UnsupportedFeature
from whitecap.engine.log.actions import AddFile
from whitecap.engine.log.schema import Schema
from whitecap.engine.log.snapshot import Snapshot
from whitecap.engine.log.statistics import record_count
from whitecap.engine.query.asked_conditions import AskedConditions, PartitionAnswers
from whitecap.engine.query.partition_filters import with_partition_filters
from whitecap.engine.query.planner import Planner
from whitecap.engine.query.pushdown.column_types import ColumnsOf
from whitecap.engine.query.pushdown.conditions import UNTYPED, Pushing, conditions_on
from whitecap.engine.query.pushdown.limits import limit_on
from whitecap.engine.query.pushdown.relations import selecting
from whitecap.engine.query.query_checks import renamed
from whitecap.engine.query.row_reads import track_limited_rows, track_rows
from whitecap.engine.query.rows import Rows
from whitecap.engine.query.scan_tasks import scan_tasks
from whitecap.engine.remembered import Plans, once_for_each
from whitecap.engine.row_level.data_files import FileRows
from whitecap.engine.session.table import Table, Tables, table_named
from whitecap.engine.settings import Widening
from whitecap.engine.sql.expressions.columns import columns_outside_queries, unqualified
from whitecap.engine.sql.expressions.scope import Scope, letters_of
from whitecap.engine.sql.expressions.terms import Parameters
from whitecap.engine.sql.functions.function_nodes import function_name
from whitecap.engine.sql.parsing.common_tables import is_asked_for, named_as
from whitecap.engine.sql.parsing.query_reading import table_name, where_of
from whitecap.engine.sql.parsing.statements import PlainRead, Select, TableName
from whitecap.engine.sql.predicates.normal_form import conjuncts_of
from whitecap.engine.sql.predicates.not_null import never_null
from whitecap.engine.sql.predicates.predicate import TRUE, Predicate
from whitecap.engine.sql.predicates.propagation import propagated
from whitecap.engine.storage.requests import Row, Steps
from whitecap.engine.transaction.transaction import Transaction

_FROM_STATISTICS = ("count", "min", "max")


class TableScan(Struct, frozen=True):
    """One table of a query at its place in the tree, and the conditions on it alone.

    `asking` are those that ask queries. `limit`: how many rows are asked for at most. `plain`: it
    has all conditions, and the query takes the rows of this table one by one. `is_left_out`:
    nothing selects from where it stands.
    """

    node: exp.Table
    name: TableName
    conditions: tuple[Predicate, ...] = ()
    asking: tuple[exp.Expr, ...] = ()
    limit: int | None = None
    is_left_out: bool = False
    plain: PlainRead | None = None

    def predicates(self, table: Table, schema: Schema, parameters: Parameters) -> list[Predicate]:
        """The conditions that the table's own columns decide.

        Raises `InvalidInput` for a query's whole condition that is none.
        """
        if self.plain is not None:
            condition = self.plain.condition
            if condition is None:
                return []
            condition.check(schema, table.session)
            condition = condition.in_typed_form(schema, table.session, in_filter=True)
            return list(condition.with_parameters(parameters).conjuncts())
        return [
            part.with_parameters(parameters).in_typed_form(schema, table.session, in_filter=True)
            for part in self._own_conditions(schema)
        ]

    def _own_conditions(self, schema: Schema) -> list[Predicate]:
        """Those that the table's own columns decide, by the names that these have in the table."""
        names = {name.lower() for name in schema.names}
        aliases = self.node.alias_column_names
        conditions = _renamed(self.conditions, aliases, schema) if aliases else self.conditions
        return [part for part in conditions if part.columns <= names]

    def stops_early(self, txn: Transaction) -> bool:
        """Whether a limit counts: all conditions are the table's own, and on partitions."""
        if self.plain is not None:
            return True
        own, select = self._own_conditions(txn.snapshot.schema), selecting(self.node)
        where = None if select is None else where_of(select)
        conjuncts = [] if where is None else conjuncts_of(where)
        is_whole = len(own) == len(conjuncts)
        return is_whole and all(part.is_over(txn.metadata.partition_columns) for part in own)

    @property
    def turn(self) -> tuple[bool, int]:
        """When its rows are read: after those of the queries that its conditions ask."""
        return bool(self.asking), -sum(1 for _ in _selects_around(self.node))


@once_for_each
def scans_of(query: Select) -> tuple[TableScan, ...]:
    """The tables of a query, other than those that it names itself, before any has been read."""
    if query.plain is not None:
        source: exp.Table = query.node.args["from_"].this
        plain = query.plain
        return (TableScan(source, plain.table, limit=plain.limit, plain=plain),)
    tables = [
        node
        for node in query.node.find_all(exp.Table)
        if named_as(node) is None and not isinstance(node.this, exp.Func)
    ]
    return tuple(_scan_of(table, UNTYPED) for table in tables)


def _scan_of(node: exp.Table, pushing: Pushing) -> TableScan:
    conditions = list(conditions_on(node, pushing))
    asking = tuple(part for part in conditions if part.find(exp.Query) is not None)
    own = (part for part in conditions if part.find(exp.Query) is None)
    predicates = tuple(Predicate.of_node(unqualified(part)) for part in own)
    if node.alias_column_names:
        asking = ()  # they are by the names of the alias
    limit, is_left_out = limit_on(node), not is_asked_for(node)
    return TableScan(node, table_name(node), predicates, asking, limit, is_left_out)


def _renamed(
    conditions: Iterable[Predicate], aliases: Sequence[str], schema: Schema
) -> Iterator[Predicate]:
    """Conditions by a table's own names instead of those that its alias gives its columns."""
    names = dict(zip(map(str.lower, aliases), schema.names, strict=False))
    for part in conditions:
        holder = exp.Paren(this=part.node.copy())
        for column in columns_outside_queries(holder):
            column.replace(exp.column(names.get(column.name.lower(), "")))
        yield Predicate.of_node(holder.this)


def reads_own(query: Select, target: TableName) -> bool:
    """Whether a query reads the newest version of the table that is written."""
    return any(_is_own(scan.name, target) for scan in scans_of(query))


def _is_own(name: TableName, target: TableName) -> bool:
    return name.version is None and name.place == target.place


def pinned_rows(
    query: Select, target: TableName, tables: Tables, parameters: Parameters
) -> Steps[dict[int, Rows]]:
    """The rows of the tables that need no transaction, by their places in the tree."""
    rows: dict[int, Rows] = {}
    for scan in scans_of(query):
        if not _is_own(scan.name, target):
            table = table_named(tables, scan.name.name)
            steps = _pinned_rows(scan, table, parameters)
            rows[id(scan.node)] = yield from table.at_root(steps)
    return rows


def own_rows(
    query: Select,
    pinned: Mapping[int, Rows],
    table: Table,
    txn: Transaction,
    parameters: Parameters,
) -> Steps[dict[int, Rows]]:
    """The rows of all tables: what was pinned, and tracked scans of the table that is written."""
    schema, planner = txn.snapshot.schema, Planner(dict(pinned), parameters, table.session)
    rows = dict(pinned)
    for scan in sorted(_own_scans(query, planner, schema), key=lambda scan: scan.turn):
        files = _tracked_files(query, scan, table, txn, replace(planner, tables=rows, common={}))
        rows[id(scan.node)] = yield from _rows_of(scan, files, table, schema)
    return rows


_OWN_SCANS = Plans()


def _own_scans(query: Select, planner: Planner, schema: Schema) -> Sequence[TableScan]:
    """The scans of the table that is written, with what follows from the types of all columns.

    The planner has the rows of all other tables.
    """
    own = [scan for scan in scans_of(query) if id(scan.node) not in planner.tables]
    if query.plain is not None:
        return own

    def typed() -> list[TableScan]:
        pushing = Pushing(_columns_of(query, planner, schema))
        return [_scan_of(scan.node, pushing) for scan in own]

    types = [(rows.names, rows.types) for rows in planner.tables.values()]
    of_parameters = map(type, planner.parameters.values())
    key = (*types, *of_parameters, schema.names, schema.types, planner.session)
    return _OWN_SCANS.of(query, key, typed)


def _columns_of(query: Select, planner: Planner, schema: Schema) -> ColumnsOf:
    """What queries and tables of a statement have for columns; of those that fail, none."""
    unread = Rows(schema.names, schema.types, lambda _outer: [])
    tables = {**{id(scan.node): unread for scan in scans_of(query)}, **planner.tables}
    typing, nowhere = replace(planner, tables=tables, common={}), Scope((), planner.session)
    columns: dict[int, Mapping[str, str]] = {}

    def columns_of(node: exp.Expr) -> Mapping[str, str]:
        if id(node) not in columns:
            columns[id(node)] = planned(node)
        return columns[id(node)]

    def planned(node: exp.Expr) -> Mapping[str, str]:
        try:
            rows = typing.relation(node, nowhere)
            names = renamed(rows.names, node.alias_column_names, node.alias)
        except (DeltaError, InvalidInput, UnsupportedFeature):
            return {}  # told where the query is run
        return dict(zip(map(str.lower, names), rows.types, strict=True))

    return columns_of


def _pinned_rows(scan: TableScan, table: Table, parameters: Parameters) -> Steps[Rows]:
    version = scan.name.version
    snapshot = yield from (table.latest() if version is None else table.time_travel(version))
    yield from table.log.read_state(snapshot)
    predicates = scan.predicates(table, snapshot.schema, parameters)
    files = [f for f in snapshot.all_files() if _in_partition(f, predicates, snapshot, table)]
    return (yield from _rows_of(scan, files, table, snapshot.schema))


def _in_partition(
    file: AddFile, predicates: Sequence[Predicate], snapshot: Snapshot, table: Table
) -> bool:
    schema = snapshot.partition_schema
    return all(
        part.evaluate_partition(file.partition_values or {}, schema, table.settings) is True
        for part in predicates
        if part.is_over(snapshot.partition_columns) and part.columns
    )


def _tracked_files(
    query: Select, scan: TableScan, table: Table, txn: Transaction, planner: Planner
) -> list[AddFile]:
    conditions = scan.predicates(table, txn.snapshot.schema, planner.parameters)
    heard = propagated(conditions, txn.snapshot.schema, table.session)
    if scan.is_left_out or heard is None:
        return []  # the optimizer leaves the scan out, and nothing is tracked
    predicates = [part for part in heard if part.columns or not part.is_deterministic]
    if not txn.settings.stats_skipping:
        txn.read_whole_table()  # PrepareDeltaScan is off, and nothing else tells what is read
        return list(txn.snapshot.all_files())
    if scan.limit is not None and scan.stops_early(txn):
        return _limited_files(txn, predicates, scan.limit)
    track_rows(table, txn, predicates)
    inferred = [part for node in scan.asking for part in never_null(node)]
    filters = with_partition_filters([*_with_inferred(predicates), *inferred], txn)
    answers = _answers(query, scan, txn, planner)
    files = list(txn.filter_files(filters or (TRUE,), answers=answers.predicates))
    txn.refuse_check(answers.refusal)
    if _is_answered_by_statistics(query, predicates):
        txn.filter_all_files()
    return files


def _answers(
    query: Select, scan: TableScan, txn: Transaction, planner: Planner
) -> PartitionAnswers:
    """What the conditions that ask queries say of partitions."""
    if not scan.asking:
        return PartitionAnswers()
    widens = txn.settings.widen_non_deterministic is Widening.ON
    asked = AskedConditions.of(query.node, planner, widens)
    return asked.answered(scan.asking, txn.metadata.partition_columns)


def _with_inferred(predicates: Sequence[Predicate]) -> list[Predicate]:
    """What compares one column as it is leaves out NULL by itself, other conditions do not."""
    others = (each for each in predicates if len(each.columns) > 1 or not _has_column(each.node))
    return [*predicates, *(part for each in others for part in never_null(each.node))]


def _has_column(node: exp.Expr) -> bool:
    """Whether a column is an operand as it is."""
    return any(isinstance(part.unnest(), exp.Column) for part in node.iter_expressions())


def _limited_files(txn: Transaction, parts: Sequence[Predicate], limit: int) -> list[AddFile]:
    track_limited_rows(txn)
    if all(part.is_over(txn.metadata.partition_columns) for part in parts):
        return _files_for_limit(txn, parts, limit)
    return list(txn.filter_files(with_partition_filters(_with_inferred(parts), txn)))


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
    """A transaction on the same snapshot, whose reads take no part in conflicts."""
    return Transaction(txn.table_log, txn.snapshot, txn.txn_id, txn.settings, txn.dialect)


def _is_answered_by_statistics(query: Select, predicates: Sequence[Predicate]) -> bool:
    """Whether only counts, minima and maxima of the whole table are asked for."""
    node = query.node
    plain = {"expressions", "from_", "kind", "hint"}
    if predicates or any(value and key not in plain for key, value in node.args.items()):
        return False
    items = (item.unalias() for item in node.expressions)
    return all(
        isinstance(item, exp.AggFunc) and function_name(item) in _FROM_STATISTICS for item in items
    )


def _rows_of(
    scan: TableScan, files: Sequence[AddFile], table: Table, schema: Schema
) -> Steps[Rows]:
    file_rows = yield from table.data_files.read(files, schema)
    letters = letters_of(schema)
    if scan.plain is not None:
        tasks = _by_task(file_rows)
        return Rows(schema.names, schema.types, lambda _outer: list(chain(*tasks)), tasks, letters)
    rows: list[Row] = [row for loaded in file_rows for row in loaded.live_rows()]
    return Rows(schema.names, schema.types, lambda _outer: rows, letters=letters)


def _by_task(file_rows: Sequence[FileRows]) -> list[list[Row]]:
    """The live rows of files, by the task that reads them."""
    by_path = {loaded.file.path: loaded for loaded in file_rows}
    return [
        [row for file in task for row in by_path[file.path].live_rows()]
        for task in scan_tasks([loaded.file for loaded in file_rows])
    ]


def _selects_around(node: exp.Expr) -> Iterator[exp.Expr]:
    above = node.find_ancestor(exp.Select)
    while above is not None:
        yield above
        above = above.find_ancestor(exp.Select)
