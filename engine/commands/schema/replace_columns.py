"""ALTER TABLE REPLACE COLUMNS: the columns of a table, listed anew.

Source: alterDeltaTableCommands.scala (AlterTableReplaceColumnsDeltaCommand).
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from whitecap.engine.commands.schema.column_lists import (
    allows_widening,
    commit_columns,
    schema_text,
    shown_column,
)
from whitecap.engine.commands.schema.constraints import (
    constraints_on,
    generated_from,
)
from whitecap.engine.conflicts.operation import Operation
from whitecap.engine.errors import UnsupportedFeature
from whitecap.engine.log.clustering import clustering_columns
from whitecap.engine.log.columns.identity import identity_of
from whitecap.engine.log.columns.mapping import is_mapped
from whitecap.engine.log.columns.type_changes import (
    declared_type,
    text_limit,
    widened,
)
from whitecap.engine.log.schema import Field, Schema, parse_ddl
from whitecap.engine.outcomes import Outcome
from whitecap.engine.refusals import column_errors
from whitecap.engine.session.table import Table
from whitecap.engine.sql.parsing.table_statements import ReplaceColumns
from whitecap.engine.storage.requests import Steps
from whitecap.engine.transaction.transaction import Transaction
from whitecap.engine.writing.beginning import begin
from whitecap.engine.writing.generation import check_expressions


def replace_columns(table: Table, statement: ReplaceColumns) -> Steps[Outcome]:
    """ALTER TABLE REPLACE COLUMNS: other comments, another order, and new columns.

    Under column mapping columns may also go.
    """
    txn = yield from begin(table)
    schema, wanted = txn.snapshot.schema, parse_ddl(statement.ddl)
    if any(identity_of(column) for column in schema):
        raise column_errors.identity_columns_replaced()
    columns = [_replaced(schema.get(column.name), column) for column in wanted]
    for column in schema:
        new = wanted.get(column.name)
        if new is None:
            _check_may_go(column.name, columns, txn)
        else:
            _check_replaced(column, new, txn)
    check_expressions(Schema(tuple(columns)), table.session)
    operation = Operation("REPLACE COLUMNS", {"columns": [shown_column(c) for c in wanted]})
    return (yield from commit_columns(txn, columns, operation))


def _check_may_go(name: str, columns: Sequence[Field], txn: Transaction) -> None:
    """Raises `DeltaError` for a column that has to stay, or may have got another name.

    Raises `UnsupportedFeature` for one that Delta lets go and the table cannot be without.
    """
    is_ambiguous = any(txn.snapshot.schema.get(column.name) is None for column in columns)
    if is_ambiguous or not is_mapped(txn.metadata):
        raise column_errors.column_left_out(name)
    without = replace(txn.metadata, schema_string=schema_text(columns))
    if generated_from(name, without):
        raise column_errors.generated_from_nothing()
    if name in clustering_columns(txn.snapshot) or constraints_on(name, txn.metadata):
        raise UnsupportedFeature(f"REPLACE COLUMNS without {name}, which clusters or is checked")


def _check_replaced(old: Field, new: Field, txn: Transaction) -> None:
    """Raises `DeltaError` for another type: Spark looks at ALTER COLUMN alone, Delta at this.

    A limit of texts counts as another type, whatever it was.
    """
    if text_limit(new) is not None:
        raise column_errors.replaced_by_another_type(old.name, old.type, declared_type(new))
    if old.type != new.type and not allows_widening(old.type, new.type, txn):
        raise column_errors.replaced_by_another_type(old.name, old.type, new.type)


def _replaced(old: Field | None, new: Field) -> Field:
    if old is None:
        return new
    kept = old if old.type == new.type else widened(old, new.type)
    metadata = {**kept.metadata, **new.metadata}
    return replace(kept, nullable=new.nullable, metadata=metadata)
