"""What Spark and Delta refuse about changing a column: one function each.

Source: DeltaErrors.scala, delta-error-classes.json; Spark's CheckAnalysis.scala.
"""

from __future__ import annotations

from collections.abc import Sequence

from whitecap.engine.errors import DeltaError
from whitecap.engine.refusals.command_errors import IN_PLAN, analysis


def constraint_on_column(column: str, names: Sequence[str]) -> DeltaError:
    return analysis(
        "DELTA_CONSTRAINT_DEPENDENT_COLUMN_CHANGE",
        f"Cannot alter column {column} because this column is referenced by the following check"
        f" constraint(s):\n{', '.join(names)}",
    )


def generated_from_column(column: str, names: Sequence[str]) -> DeltaError:
    return analysis(
        "DELTA_GENERATED_COLUMNS_DEPENDENT_COLUMN_CHANGE",
        f"Cannot alter column {column} because this column is referenced by the following generated"
        f" column(s):\n{', '.join(names)}",
    )


def constraint_of_another_type(column: str, old: str, new: str, names: Sequence[str]) -> DeltaError:
    return analysis(
        "DELTA_CONSTRAINT_DATA_TYPE_MISMATCH",
        f"Column {column} has data type {old} and cannot be altered to data type {new} because this"
        f" column is referenced by the following check constraint(s):\n{', '.join(names)}",
    )


def generated_from_another_type(
    column: str, old: str, new: str, names: Sequence[str]
) -> DeltaError:
    return analysis(
        "DELTA_GENERATED_COLUMNS_DATA_TYPE_MISMATCH",
        f"Column {column} has data type {old} and cannot be altered to data type {new} because this"
        f" column is referenced by the following generated column(s):\n{', '.join(names)}",
    )


def impossible_column_change(column: str, old: str, new: str) -> DeltaError:
    text = f"ALTER TABLE CHANGE COLUMN is not supported for changing column {column} from {old}"
    return analysis("DELTA_UNSUPPORTED_ALTER_TABLE_CHANGE_COL_OP", f"{text} to {new}")


def replaced_by_another_type(column: str, old: str, new: str) -> DeltaError:
    return analysis(
        "DELTA_UNSUPPORTED_ALTER_TABLE_REPLACE_COL_OP",
        "Unsupported ALTER TABLE REPLACE COLUMNS operation. Reason: [DELTA_CANNOT_CHANGE_DATA_TYPE]"
        f" Cannot change data type: changing data type of {column} from {old} to {new}",
    )


def narrower_column(column: str, old: str, new: str) -> DeltaError:
    text = "ALTER TABLE ALTER/CHANGE COLUMN is not supported for changing"
    text = f"{text} column {column} with type {old} to {column} with type {new}."
    return analysis("NOT_SUPPORTED_CHANGE_COLUMN", text, IN_PLAN)


def only_column_dropped(column: str) -> DeltaError:
    text = f"Cannot drop column from a schema with a single column. Schema:\n{column}"
    return analysis("DELTA_DROP_COLUMN_ON_SINGLE_FIELD_SCHEMA", text)


def added_after_unknown(name: str, columns: Sequence[str]) -> DeltaError:
    text = f"No such struct field `{name}` in {', '.join(f'`{column}`' for column in columns)}."
    return analysis("FIELD_NOT_FOUND", text, "AnalysisException")


def identity_column_altered() -> DeltaError:
    text = "ALTER TABLE ALTER COLUMN is not supported for IDENTITY columns."
    return analysis("DELTA_IDENTITY_COLUMNS_ALTER_COLUMN_NOT_SUPPORTED", text)


def identity_columns_replaced() -> DeltaError:
    text = "ALTER TABLE REPLACE COLUMNS is not supported for table with IDENTITY columns."
    return analysis("DELTA_IDENTITY_COLUMNS_REPLACE_COLUMN_NOT_SUPPORTED", text)


def generated_from_nothing() -> DeltaError:
    text = "A generated column cannot use a non-existent column or another generated column."
    return analysis("DELTA_INVALID_GENERATED_COLUMN_REFERENCES", text)


def column_made_not_null(column: str) -> DeltaError:
    text = f"Cannot change nullable column to non-nullable: {column}."
    return DeltaError(IN_PLAN, "_LEGACY_ERROR_TEMP_2330", text)
