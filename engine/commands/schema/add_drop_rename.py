"""ALTER TABLE ADD, DROP and RENAME COLUMN: which columns a table has, and under which names.

Source: alterDeltaTableCommands.scala (the commands on columns), SchemaUtils.scala.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from msgspec.structs import replace

from whitecap.engine.column_names import ColumnPath, paths_text
from whitecap.engine.commands.schema.column_lists import (
    check_known,
    commit_columns,
    place_among,
    shown_column,
    top_level_field,
)
from whitecap.engine.commands.schema.constraints import check_nothing_depends_on
from whitecap.engine.conflicts.operation import Operation
from whitecap.engine.log import properties
from whitecap.engine.log.clustering import clustering_columns
from whitecap.engine.log.column_keys import CURRENT_DEFAULT
from whitecap.engine.log.columns.mapping import is_mapped
from whitecap.engine.log.schema import Field, Schema, parse_ddl
from whitecap.engine.outcomes import NothingToCommit, Outcome
from whitecap.engine.refusals import column_errors, property_errors
from whitecap.engine.session.table import Table
from whitecap.engine.sql.parsing.table_statements import AddColumns, DropColumns, RenameColumn
from whitecap.engine.storage.requests import Steps
from whitecap.engine.transaction.transaction import Transaction
from whitecap.engine.writing.beginning import begin


def add_columns(table: Table, statement: AddColumns) -> Steps[Outcome]:
    """ALTER TABLE ADD COLUMNS. Raises `DeltaError` if a column exists."""
    txn = yield from begin(table)
    new = parse_ddl(statement.ddl)
    columns = list(txn.snapshot.schema.fields)
    shown: list[dict[str, object]] = []
    for column, position in zip(new, statement.positions, strict=True):
        if any(column.name.lower() == existing.name.lower() for existing in columns):
            raise column_errors.column_exists(column.name)
        if not column.nullable:
            raise column_errors.not_null_in_added_column()
        if CURRENT_DEFAULT in column.metadata:
            raise column_errors.default_in_added_column()
        at = place_among(position, columns, len(columns), column_errors.added_after_unknown)
        columns.insert(at, column)
        placement = {"position": str(position)} if position else {}
        shown.append({"column": shown_column(column), **placement})
    operation = Operation("ADD COLUMNS", {"columns": shown})
    return (yield from commit_columns(txn, columns, operation))


def drop_columns(table: Table, statement: DropColumns) -> Steps[Outcome]:
    """ALTER TABLE DROP COLUMNS: needs column mapping, for the files keep the column."""
    txn = yield from begin(table)
    schema = txn.snapshot.schema
    if not statement.if_exists:
        check_known(schema, statement.columns)
    if not any(top_level_field(schema, name) for name in statement.columns):
        return NothingToCommit(txn.read_version)
    if not is_mapped(txn.metadata):
        raise column_errors.drop_without_mapping()
    dropped = [
        existing.name for name in statement.columns if (existing := top_level_field(schema, name))
    ]
    kept = _without(schema, dropped)
    _check_droppable(txn, dropped)
    operation = Operation("DROP COLUMNS", {"columns": dropped})
    configuration = _with_statistics_of(
        txn.metadata.configuration, lambda path: None if path[0] in dropped else path
    )
    return (yield from commit_columns(txn, kept, operation, configuration=configuration))


def _without(schema: Schema, names: Sequence[str]) -> list[Field]:
    """The other columns. Raises `DeltaError` for a name that comes twice, and if none is left.

    Source: SchemaUtils.scala (dropColumn), which takes them out one by one.
    """
    kept = list(schema.fields)
    for name in names:
        at = next((i for i, column in enumerate(kept) if column.name == name), None)
        if at is None:
            raise property_errors.column_not_in_schema(name)
        if len(kept) == 1:
            raise column_errors.only_column_dropped(name)
        del kept[at]
    return kept


def _check_droppable(txn: Transaction, names: Sequence[str]) -> None:
    partitions = [name for name in txn.metadata.partition_columns if name in names]
    if partitions:
        raise column_errors.drop_partition_column(partitions)
    clustered = [name for name in clustering_columns(txn.snapshot) if name in names]
    if clustered:
        raise column_errors.drop_clustering_column(clustered)
    for name in names:
        check_nothing_depends_on(name, txn.metadata)


def rename_column(table: Table, statement: RenameColumn) -> Steps[Outcome]:
    """ALTER TABLE RENAME COLUMN: needs column mapping; a partition column may be renamed too."""
    txn = yield from begin(table)
    schema = txn.snapshot.schema
    check_known(schema, [statement.column])
    old = schema.fields[schema.index(statement.column)].name
    new = statement.new_name
    if top_level_field(schema, new) is not None:  # also the column itself, in another case
        raise column_errors.column_exists(new)
    check_nothing_depends_on(old, txn.metadata)
    if not is_mapped(txn.metadata):
        raise column_errors.rename_without_mapping()
    columns = [replace(c, name=new) if c.name == old else c for c in schema]
    partitions = [new if name == old else name for name in txn.metadata.partition_columns]
    operation = Operation("RENAME COLUMN", {"oldColumnPath": old, "newColumnPath": new})
    configuration = _with_statistics_of(
        txn.metadata.configuration,
        lambda path: (new, *path[1:]) if path[0] == old else path,
    )
    return (yield from commit_columns(txn, columns, operation, partitions, configuration))


def _with_statistics_of(
    configuration: Mapping[str, str], changed: Callable[[ColumnPath], ColumnPath | None]
) -> dict[str, str]:
    """The properties where the columns that are named to have statistics change, or go.

    Source: StatisticsCollection.scala (renameDeltaStatsColumn, dropDeltaStatsColumns).
    """
    named = properties.STATISTICS_COLUMNS
    if named.key not in configuration:
        return dict(configuration)
    paths = (changed(path) for path in named.of(configuration))
    return {**configuration, named.key: paths_text(path for path in paths if path is not None)}
