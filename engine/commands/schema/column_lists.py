"""What the commands on columns share: a table's columns found, put in order, shown, committed.

Nothing is read but the metadata.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec.structs import replace

from whitecap.engine.conflicts.operation import Operation
from whitecap.engine.errors import DeltaError, UnsupportedFeature
from whitecap.engine.log import properties
from whitecap.engine.log.schema import Field, Schema, log_name, schema_string
from whitecap.engine.outcomes import Outcome
from whitecap.engine.refusals import column_errors
from whitecap.engine.sql.parsing.table_statements import Position
from whitecap.engine.storage.requests import Steps
from whitecap.engine.transaction.transaction import Transaction
from whitecap.engine.values.widening import may_widen


def top_level_field(schema: Schema, name: str) -> Field | None:
    """The column, if there is one. Raises `UnsupportedFeature` for a field of a struct."""
    if "." in name:
        raise UnsupportedFeature(f"changing {name}: fields inside structs are not modelled")
    return schema.get(name)


def check_known(schema: Schema, names: Sequence[str]) -> None:
    """Raises `DeltaError` for the first name that the table has not."""
    for name in names:
        if top_level_field(schema, name) is None:
            raise column_errors.no_such_column(name, schema.names)


def place_among(
    position: Position | None,
    columns: Sequence[Field],
    default: int,
    refusal: Callable[[str, Sequence[str]], DeltaError] = column_errors.no_such_column,
) -> int:
    """Where a column goes that the statement puts first, or after another; else the default.

    Raises what `refusal` makes of an unknown column and those that there are.
    """
    if position is None:
        return default
    if position.after is None:
        return 0
    names = [column.name.lower() for column in columns]
    if position.after.lower() not in names:
        raise refusal(position.after, [column.name for column in columns])
    return names.index(position.after.lower()) + 1


def allows_widening(before: str, after: str, txn: Transaction) -> bool:
    """Whether the table lets a column that has rows change its type so."""
    if not properties.TYPE_WIDENING.of(txn.metadata.configuration):
        return False
    widened = txn.dialect.widened_types
    return may_widen(before, after) if widened is None else (before, after) in widened


def shown_column(column: Field) -> dict[str, object]:
    """The column as the parameters of an operation have it."""
    return {
        "name": column.name,
        "type": log_name(column.type),
        "nullable": column.nullable,
        "metadata": dict(column.metadata),
    }


def schema_text(columns: Sequence[Field]) -> str:
    """The columns as the log has a schema."""
    return schema_string(Schema(tuple(columns)))


def commit_columns(
    txn: Transaction,
    columns: Sequence[Field],
    operation: Operation,
    partition_columns: list[str] | None = None,
    configuration: dict[str, str] | None = None,
) -> Steps[Outcome]:
    """Commit the columns as the table's; partitioning and properties where they follow."""
    txn.update_metadata(
        replace(
            txn.metadata,
            schema_string=schema_text(columns),
            partition_columns=partition_columns or txn.metadata.partition_columns,
            configuration=configuration or txn.metadata.configuration,
        )
    )
    return (yield from txn.commit([], operation))
