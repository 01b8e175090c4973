"""What Spark and Delta refuse about columns: added, changed, dropped, or filled by the table alone.

Source: DeltaErrors.scala, delta-error-classes.json; Spark's CheckAnalysis.scala,
QueryCompilationErrors.scala.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from whitecap.engine.errors import DeltaError
from whitecap.engine.refusals.kinds import IN_PLAN, analysis

_MAPPING_ADVICE = (
    "\nPlease enable Column Mapping on your Delta table with mapping mode 'name'.\n"
    "You can use one of the following commands.\n\n"
    "ALTER TABLE table_name SET TBLPROPERTIES ('delta.columnMapping.mode' = 'name')\n\n"
    "Note, if your table is not on the required protocol version it will be upgraded.\n"
    "Column mapping requires at least protocol (2, 5)\n"
)
"""Source: DeltaErrors.scala (columnMappingAdviceMessage)."""


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


def column_exists(name: str) -> DeltaError:
    text = f"Cannot add column, because `{name}` already exists."
    return analysis("FIELD_ALREADY_EXISTS", text, IN_PLAN)


def no_such_column(
    name: str, columns: Iterable[str], exception: str = "AnalysisException"
) -> DeltaError:
    text = f"A column with name `{name}` cannot be resolved. Did you mean one of the following?"
    return analysis(
        "UNRESOLVED_COLUMN.WITH_SUGGESTION", f"{text} [{', '.join(columns)}]", exception
    )


def not_null_in_added_column() -> DeltaError:
    text = "Operation not allowed: NOT NULL in ALTER TABLE ADD COLUMNS is not supported for Delta."
    return analysis("DELTA_OPERATION_NOT_ALLOWED", text)


def drop_without_mapping() -> DeltaError:
    return analysis(
        "DELTA_UNSUPPORTED_DROP_COLUMN",
        f"DROP COLUMN is not supported for your Delta table. {_MAPPING_ADVICE}",
    )


def rename_without_mapping() -> DeltaError:
    return analysis(
        "DELTA_UNSUPPORTED_RENAME_COLUMN",
        f"Column rename is not supported for your Delta table. {_MAPPING_ADVICE}",
    )


def drop_partition_column(names: Sequence[str]) -> DeltaError:
    text = f"Dropping partition columns ({', '.join(names)}) is not allowed."
    return analysis("DELTA_UNSUPPORTED_DROP_PARTITION_COLUMN", text)


def drop_clustering_column(names: Sequence[str]) -> DeltaError:
    text = f"Dropping clustering columns ({', '.join(names)}) is not allowed."
    return analysis("DELTA_UNSUPPORTED_DROP_CLUSTERING_COLUMN", text)


def schema_mismatch() -> DeltaError:
    text = "A schema mismatch detected when writing to the Delta table."
    return DeltaError("AnalysisException", "DELTA_METADATA_MISMATCH", text)


def identity_given(column: str) -> DeltaError:
    text = f"Providing values for GENERATED ALWAYS AS IDENTITY column {column} is not supported."
    return analysis("DELTA_IDENTITY_COLUMNS_EXPLICIT_INSERT_NOT_SUPPORTED", text)


def identity_updated(column: str) -> DeltaError:
    text = f"UPDATE on IDENTITY column {column} is not supported."
    return analysis("DELTA_IDENTITY_COLUMNS_UPDATE_NOT_SUPPORTED", text)


def no_identity_to_sync() -> DeltaError:
    text = "ALTER TABLE ALTER COLUMN SYNC IDENTITY cannot be called on non IDENTITY columns."
    return analysis("DELTA_IDENTITY_COLUMNS_ALTER_NON_IDENTITY_COLUMN", text)


def default_in_added_column() -> DeltaError:
    return analysis(
        "WRONG_COLUMN_DEFAULTS_FOR_DELTA_ALTER_TABLE_ADD_COLUMN_NOT_SUPPORTED",
        "Failed to execute the command because DEFAULT values are not supported when adding new"
        " columns to previously existing Delta tables.",
    )


def column_left_out(name: str) -> DeltaError:
    text = f"Unsupported ALTER TABLE REPLACE COLUMNS operation. Reason: dropping column(s) [{name}]"
    return analysis("DELTA_UNSUPPORTED_ALTER_TABLE_REPLACE_COL_OP", text)
