"""Writes that change the table's schema: mergeSchema, overwriteSchema, MERGE with evolution.

Source: ImplicitMetadataOperation.scala (updateMetadata, checkDependentExpressions),
SchemaMergingUtils.scala, DeltaInsertCastSupport.scala (a column that may be widened takes the type
of what is written), ResolveDeltaMergeInto.scala.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from whitecap.engine.commands.schema.column_lists import allows_widening
from whitecap.engine.commands.schema.constraints import constraints_on, generated_from
from whitecap.engine.errors import InvalidInput, Problem
from whitecap.engine.log.columns.type_changes import widened
from whitecap.engine.log.schema import Field, Schema, schema_of_metadata, schema_string
from whitecap.engine.query.sources import Source
from whitecap.engine.refusals import column_errors, write_errors
from whitecap.engine.sql.parsing.statements import Act, Insert, Match, Merge
from whitecap.engine.transaction.transaction import Transaction
from whitecap.engine.values.types import Session
from whitecap.engine.writing.generation import check_expressions
from whitecap.engine.writing.inserting import check_names


def evolve_for_insert(
    statement: Insert, txn: Transaction, source: Source, session: Session
) -> None:
    """Change the transaction's metadata where the write asks for it and its columns need it."""
    if statement.overwrite and statement.is_set("overwriteSchema"):
        _overwrite(txn, source)
        return
    if statement.is_set("mergeSchema") or txn.settings.schema_auto_merge:
        check_names(statement, schema_of_metadata(txn.metadata))
        evolve(txn, _written_columns(statement, txn, source), session)


def evolve_for_merge(statement: Merge, txn: Transaction, source: Source, session: Session) -> bool:
    """The same for a MERGE; whether its source may then lack columns of the table.

    The source's columns count that some clause assigns by name. Raises `InvalidInput` for a name
    that no evolution makes: with the table's before it, or of a clause without a row of the source.
    """
    if not (statement.schema_evolution or txn.settings.schema_auto_merge):
        return False
    _check_assigned(statement, schema_of_metadata(txn.metadata))
    columns = _columns_of(source)
    assigned: set[str] = set()
    for clause in statement.clauses:
        if clause.match is Match.NOT_MATCHED_BY_SOURCE or clause.act is Act.DELETE:
            continue
        names = source.names if clause.assignments is None else [n for n, _ in clause.assignments]
        assigned |= {name.lower() for name in names}
    evolve(txn, [column for column in columns if column.name.lower() in assigned], session)
    return True


_NOT_YET = {
    False: "no such column before the schema evolves; a new one is named without the table",
    True: "no such column before the schema evolves, which it does for what a source has",
}
"""What is wrong with a column, by whether its clause is NOT MATCHED BY SOURCE."""


def _check_assigned(statement: Merge, schema: Schema) -> None:
    for clause in statement.clauses:
        by_source = clause.match is Match.NOT_MATCHED_BY_SOURCE
        own = [name for name, _ in clause.assignments or ()] if by_source else clause.qualified
        for name in own:
            if schema.get(name) is None:
                refused_as = write_errors.MERGE_UNRESOLVED
                raise InvalidInput([Problem(name, _NOT_YET[by_source], refused_as=refused_as)])


def evolve(txn: Transaction, columns: Sequence[Field], session: Session) -> None:
    """Widen the table's columns to these, and add at the end those that it lacks."""
    schema = schema_of_metadata(txn.metadata)
    wider = {}
    for column in columns:
        existing = schema.get(column.name)
        if existing is not None and allows_widening(existing.type, column.type, txn):
            _check_dependents(existing, column.type, txn)
            wider[existing.name] = widened(existing, column.type)
    changed = [wider.get(field.name, field) for field in schema]
    new = Schema((*changed, *(c for c in columns if schema.get(c.name) is None)))
    if new == schema:
        return
    if wider:
        check_expressions(new, session)
    txn.update_metadata(replace(txn.metadata, schema_string=schema_string(new)))


def _check_dependents(column: Field, wider: str, txn: Transaction) -> None:
    """Raises `DeltaError` for a wider column that a constraint or a generated column speaks of."""
    constraints = constraints_on(column.name, txn.metadata)
    if constraints:
        raise column_errors.constraint_of_another_type(column.name, column.type, wider, constraints)
    generated = generated_from(column.name, txn.metadata)
    if generated:
        raise column_errors.generated_from_another_type(column.name, column.type, wider, generated)


def _columns_of(source: Source) -> list[Field]:
    return [Field(name, kind) for name, kind in zip(source.names, source.types, strict=True)]


def _written_columns(statement: Insert, txn: Transaction, source: Source) -> list[Field]:
    """The source's columns under the names that they are written to.

    By position, those beyond the table's last column keep their own names. Raises `DeltaError` for
    one of these that is there before.
    """
    columns = _columns_of(source)
    if statement.by_name:
        return columns
    static = {name.lower() for name, value in statement.partition if value is not None}
    schema = schema_of_metadata(txn.metadata)
    order = statement.columns or schema.names
    names = [name for name in order if name.lower() not in static]
    if statement.columns:
        columns = columns[: len(names)]
    named = zip(columns, names, strict=False)
    beyond = columns[len(names) :]
    filled = [*schema.names, *(column.name for column in beyond)]
    if len({name.lower() for name in filled}) < len(filled):
        raise write_errors.given_twice(filled)
    return [*(replace(column, name=name) for column, name in named), *beyond]


def _overwrite(txn: Transaction, source: Source) -> None:
    """The source's columns become the table's, without partitions: SQL cannot name any."""
    if "void" in source.types:
        raise column_errors.schema_mismatch()
    text = schema_string(Schema(tuple(_columns_of(source))))
    if text == txn.metadata.schema_string and not txn.metadata.partition_columns:
        return
    txn.update_metadata(replace(txn.metadata, schema_string=text, partition_columns=[]))
