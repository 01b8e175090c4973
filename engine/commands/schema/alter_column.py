"""ALTER TABLE ALTER COLUMN: what a column is that a table has already.

Source: alterDeltaTableCommands.scala (AlterTableChangeColumnDeltaCommand), SchemaUtils.scala.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from whitecap.engine.commands.schema.clustering import check_clustering
from whitecap.engine.commands.schema.column_lists import (
    allows_widening,
    check_known,
    commit_columns,
    place_among,
    schema_text,
    shown_column,
)
from whitecap.engine.commands.schema.constraints import (
    check_nothing_depends_on,
)
from whitecap.engine.conflicts.operation import Operation
from whitecap.engine.log.clustering import clustering_columns
from whitecap.engine.log.column_keys import CURRENT_DEFAULT
from whitecap.engine.log.columns.identity import identity_of
from whitecap.engine.log.columns.type_changes import (
    declared_type,
    widened,
    with_limit_of,
)
from whitecap.engine.log.schema import Field, Schema, parse_ddl
from whitecap.engine.outcomes import NothingToCommit, Outcome
from whitecap.engine.refusals import column_errors
from whitecap.engine.session.table import Table
from whitecap.engine.sql.parsing.table_statements import ChangeColumn
from whitecap.engine.storage.requests import Steps
from whitecap.engine.transaction.transaction import Transaction
from whitecap.engine.values.types import Session
from whitecap.engine.values.widening import is_text_change, may_upcast
from whitecap.engine.writing.beginning import begin
from whitecap.engine.writing.default_checks import check_default
from whitecap.engine.writing.generation import check_expressions


def change_column(table: Table, statement: ChangeColumn) -> Steps[Outcome]:
    """ALTER TABLE ALTER COLUMN: comment, place, nullability, and a wider type where allowed."""
    txn = yield from begin(table)
    schema = txn.snapshot.schema
    check_known(schema, [statement.column])
    old = schema.fields[schema.index(statement.column)]
    new = _changed(old, statement, txn, table.session)
    if new == old and statement.asks_type_alone:
        return NothingToCommit(txn.read_version)
    others = [column for column in schema if column.name != old.name]
    others.insert(_new_place(statement, schema, others), new)
    if statement.position:
        reordered = replace(txn.metadata, schema_string=schema_text(others))
        check_clustering(clustering_columns(txn.snapshot), reordered)
    placement = {"position": str(statement.position)} if statement.position else {}
    operation = Operation("CHANGE COLUMN", {"column": shown_column(new), **placement})
    return (yield from commit_columns(txn, others, operation))


def _new_place(statement: ChangeColumn, schema: Schema, others: Sequence[Field]) -> int:
    """Where a changed column goes among the others; one put after itself stays where it is."""
    position, name = statement.position, statement.column.lower()
    stays = position is not None and position.after is not None and position.after.lower() == name
    return place_among(None if stays else position, others, schema.index(statement.column))


def _changed(old: Field, statement: ChangeColumn, txn: Transaction, session: Session) -> Field:
    new, given = old, _given(old, statement)
    if identity_of(old) is not None:
        _check_identity_kept(old, given, statement)
    if given is not None:
        new = _retyped(old, given, txn, session)
        if "comment" in given.metadata:
            new = _commented(new, str(given.metadata["comment"]))
    if statement.comment is not None:
        new = _commented(new, statement.comment)
    if statement.default is not None:
        new = _defaulting(new, statement.default, session)
    if statement.nullable is not None:
        new = replace(new, nullable=statement.nullable)
    return new


def _given(old: Field, statement: ChangeColumn) -> Field | None:
    """The column as the statement types it. Raises `DeltaError` for what Spark itself refuses."""
    if statement.nullable is False and old.nullable:
        raise column_errors.column_made_not_null(old.name)
    if statement.type is None:
        return None
    given = parse_ddl(f"`{old.name}` {statement.type}").fields[0]
    before, after = declared_type(old), declared_type(given)
    if before != after and not may_upcast(before, after):
        raise column_errors.narrower_column(old.name, before, after)
    return given


def _check_identity_kept(old: Field, given: Field | None, statement: ChangeColumn) -> None:
    """An identity column gets another comment or place, and nothing else."""
    retyped = given is not None and declared_type(given) != declared_type(old)
    if retyped or statement.nullable is not None or statement.default is not None:
        raise column_errors.identity_column_altered()


def _commented(column: Field, comment: str) -> Field:
    return replace(column, metadata={**column.metadata, "comment": comment})


def _defaulting(column: Field, text: str, session: Session) -> Field:
    """With another default, with none if the text is empty."""
    kept = {key: value for key, value in column.metadata.items() if key != CURRENT_DEFAULT}
    if not text:
        return replace(column, metadata=kept)
    check_default(column, text, session)
    return replace(column, metadata={**kept, CURRENT_DEFAULT: text})


def _retyped(old: Field, given: Field, txn: Transaction, session: Session) -> Field:
    """The column with the given type. Raises `DeltaError` for one that its rows cannot have."""
    if declared_type(old) == declared_type(given):
        return old
    _check_possible(old, given, txn)
    new = _of_type(old, given)
    if new.type != old.type:
        check_nothing_depends_on(old.name, txn.metadata)
        check_expressions(Schema((new, *(c for c in txn.snapshot.schema if c != old))), session)
    return new


def _check_possible(old: Field, new: Field, txn: Transaction) -> None:
    """Raises `DeltaError` for a type that Delta does not give a column that has rows."""
    before, after = declared_type(old), declared_type(new)
    if before == after or is_text_change(before, after):
        return
    if not allows_widening(before, after, txn):
        raise column_errors.impossible_column_change(old.name, before, after)


def _of_type(old: Field, new: Field) -> Field:
    """The column with another one's type."""
    return with_limit_of(old, new) if old.type == new.type else widened(old, new.type)
