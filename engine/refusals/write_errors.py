"""What Delta and Spark refuse about rows that are written, picked or replaced.

Source: DeltaErrors.scala, delta-error-classes.json; Spark's QueryCompilationErrors.scala.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from whitecap.engine.errors import DeltaError
from whitecap.engine.refusals.kinds import IN_PLAN, analysis

MERGE_UNRESOLVED = "DeltaAnalysisException", "DELTA_MERGE_UNRESOLVED_EXPRESSION"
"""How Delta refuses a name in MERGE; PySpark 4.2 has no words for it and shows INTERNAL_ERROR."""


NO_FILTER = "AnalysisException", "_LEGACY_ERROR_TEMP_1109"
"""How Spark refuses to replace by what is no condition."""


METADATA_MISMATCH = "DELTA_METADATA_MISMATCH"


def non_deterministic(condition: str) -> DeltaError:
    return analysis(
        "INVALID_NON_DETERMINISTIC_EXPRESSIONS",
        f"The operator expects a deterministic expression, but the actual expression is"
        f' "({condition})".',
        IN_PLAN,
    )


def task_failed(cause: DeltaError) -> DeltaError:
    text = f"Task failed while writing rows: {cause.message}"
    return analysis("TASK_WRITE_FAILED", text, "SparkException")


def unexpected_row() -> DeltaError:
    """For a joined row of a MERGE that no clause is made for."""
    text = "Unexpected row: did not match any merge clause"
    return analysis("USER_RAISED_EXCEPTION", text, "SparkRuntimeException")


def column_set_twice(column: str) -> DeltaError:
    text = f"There is a conflict from these SET columns: [`{column}`, `{column}`]."
    return analysis("DELTA_CONFLICT_SET_COLUMN", text)


def default_inside() -> DeltaError:
    text = "A DEFAULT keyword in a MERGE, INSERT, UPDATE, or SET VARIABLE command could not be"
    return analysis(
        "DEFAULT_PLACEMENT_INVALID",
        f"{text} directly assigned to a target column.",
        "AnalysisException",
    )


def insert_overflow(from_type: str, to_type: str, column: str) -> DeltaError:
    return analysis(
        "CAST_OVERFLOW_IN_TABLE_INSERT",
        f'Fail to assign a value of "{from_type.upper()}" type to the "{to_type.upper()}" type'
        f" column or variable `{column}` due to an overflow.",
        "SparkArithmeticException",
    )


def write_overflow(from_type: str, to_type: str, column: str) -> DeltaError:
    return analysis(
        "DELTA_CAST_OVERFLOW_IN_TABLE_WRITE",
        f'Failed to write a value of "{from_type.upper()}" type into the "{to_type.upper()}" type'
        f" column `{column}` due to an overflow.",
        "DeltaArithmeticException",
    )


def half_an_application() -> DeltaError:
    return analysis(
        "DELTA_INVALID_IDEMPOTENT_WRITES_OPTIONS",
        "Invalid options for idempotent Dataframe writes: both txnAppId and txnVersion are needed.",
        "DeltaIllegalArgumentException",
    )


def illegal_option(name: str, value: str) -> DeltaError:
    text = f"Invalid value '{value}' for option '{name}'."
    return analysis("DELTA_ILLEGAL_OPTION", text, "DeltaIllegalArgumentException")


def wrong_number_of_columns(given: int, wanted: int) -> DeltaError:
    kind = "NOT_ENOUGH_DATA_COLUMNS" if given < wanted else "TOO_MANY_DATA_COLUMNS"
    text = f"Cannot write {given} column(s) where {wanted} are named."
    return analysis(f"INSERT_COLUMN_ARITY_MISMATCH.{kind}", text, "AnalysisException")


def not_enough_columns(table: str, given: int, wanted: int) -> DeltaError:
    """Of a table of Spark's own catalog, in the database that sessions begin with."""
    text = f"Cannot write to 'spark_catalog.default.{table}', not enough data columns; target"
    text += f" table has {wanted}"
    text += f" column(s) but the inserted data has {given} column(s)"
    return analysis("DELTA_INSERT_COLUMN_ARITY_MISMATCH", text)


def given_twice(names: Iterable[str]) -> DeltaError:
    text = f"{_duplicates(names)} The duplicate was found in the data being saved."
    return analysis("DELTA_DUPLICATE_COLUMNS_FOUND.DATA", text)


def _duplicates(names: Iterable[str]) -> str:
    """Source: SchemaMergingUtils.scala (checkColumnNameDuplication)."""
    counts = Counter(name.lower() for name in names)
    twice = ", ".join(name for name, count in counts.items() if count > 1)
    return f"Found duplicate column(s): {twice}."


def static_column_given(names: Iterable[str]) -> DeltaError:
    return analysis(
        "STATIC_PARTITION_COLUMN_IN_INSERT_COLUMN_LIST",
        f"A column of PARTITION with a value is among the query's: {', '.join(names)}.",
        "AnalysisException",
    )


def read_twice(names: Iterable[str]) -> DeltaError:
    text = f"{_duplicates(names)} The duplicate was found in the schema of the data being read."
    return analysis("DELTA_DUPLICATE_COLUMNS_FOUND.READ_SCHEMA", text)


def partition_of_another_column(name: str) -> DeltaError:
    text = f"PARTITION clause cannot contain the non-partition column: `{name}`."
    return analysis("NON_PARTITION_COLUMN", text, "AnalysisException")


def merge_column_twice(name: str) -> DeltaError:
    text = f"Duplicate column names in INSERT clause: {name}."
    return analysis("DELTA_DUPLICATE_COLUMNS_ON_INSERT", text)


def no_overwrite_by_subquery() -> DeltaError:
    text = "The feature is not supported: INSERT OVERWRITE with a subquery condition."
    return analysis("UNSUPPORTED_FEATURE.OVERWRITE_BY_SUBQUERY", text, IN_PLAN)


def required_column(name: str) -> DeltaError:
    return analysis("DELTA_INSERT_COLUMN_MISMATCH", f"Column {name} is not specified in INSERT")


def generated_type(column: str, kind: str, wanted: str) -> DeltaError:
    text = f"The expression type of the generated column {column} is {kind.upper()}, but the column"
    return analysis(
        "DELTA_GENERATED_COLUMNS_EXPR_TYPE_MISMATCH", f"{text} type is {wanted.upper()}."
    )


def generated_at_random(column: str, expression: str) -> DeltaError:
    text = f"Cannot create generated column {column} with generation expression {expression}"
    return analysis(
        "UNSUPPORTED_EXPRESSION_GENERATED_COLUMN",
        f"{text} because generation expression is not deterministic.",
        "AnalysisException",
    )


def generated_by_unsupported(expression: str) -> DeltaError:
    text = f"{expression} cannot be used in a generated column"
    return analysis("DELTA_UNSUPPORTED_EXPRESSION_GENERATED_COLUMN", text)


def identity_type(kind: str) -> DeltaError:
    text = f"DataType {kind} is not supported for IDENTITY columns."
    error_class = "DELTA_IDENTITY_COLUMNS_UNSUPPORTED_DATA_TYPE"
    return analysis(error_class, text, "DeltaUnsupportedOperationException")


def only_partition_columns() -> DeltaError:
    text = "Data written into Delta needs to contain at least one non-partitioned column."
    return analysis("DELTA_NON_PARTITION_COLUMN_ABSENT", text)


def too_many_columns() -> DeltaError:
    text = "A metadata mismatch was detected when writing to the Delta table."
    return analysis(METADATA_MISMATCH, text, "DeltaAnalysisExceptionWithSubErrors")


def missing_column(name: str, columns: Iterable[str]) -> DeltaError:
    text = f"Cannot find {name} in table columns: {', '.join(columns)}"
    return analysis("DELTA_MISSING_COLUMN", text)


def fields_not_merged(name: str) -> DeltaError:
    text = f"Failed to merge fields '{name}' and '{name}'"
    return analysis("DELTA_FAILED_TO_MERGE_FIELDS", text)


def void_in_stream() -> DeltaError:
    text = "Delta doesn't accept NullTypes in the schema for streaming writes."
    return analysis("DELTA_NULL_SCHEMA_IN_STREAMING_WRITE", text)


def no_partition_column(name: str, columns: Iterable[str]) -> DeltaError:
    text = f"Partition column `{name}` not found in schema [{', '.join(columns)}]"
    return analysis("DELTA_PARTITION_COLUMN_NOT_FOUND", text)


def column_not_null(name: str) -> DeltaError:
    text = f"Column {name}, which has a NOT NULL constraint, is missing from the data"
    return analysis(
        "DELTA_MISSING_NOT_NULL_COLUMN_VALUE",
        f"{text} being written into the table.",
        "DeltaInvariantViolationException",
    )


def column_named_twice(name: str) -> DeltaError:
    text = f"The column `{name}` already exists. Choose another name or rename the existing column."
    return analysis("COLUMN_ALREADY_EXISTS", text, "AnalysisException")


def no_overwrite_by(condition: str) -> DeltaError:
    text = f"Table does not support overwrite by expression: {condition}"
    return DeltaError("SparkException", "_LEGACY_ERROR_TEMP_2245", text)


def not_translated(condition: str) -> DeltaError:
    exception, error_class = NO_FILTER
    text = f"Exec update failed: cannot translate expression to source filter: {condition}"
    return DeltaError(exception, error_class, text)


def no_overwrite_by_list(condition: str) -> DeltaError:
    """Seen on Delta Lake 4.4.0: of decimals, or with a NULL, it ends the optimizer."""
    text = f"The Spark SQL phase optimization failed with an internal error: {condition}"
    return DeltaError.of_class("SparkException", "INTERNAL_ERROR", text)


def merge_not_deterministic(what: str, condition: str) -> DeltaError:
    return analysis(
        "DELTA_NON_DETERMINISTIC_FUNCTION_NOT_SUPPORTED",
        f"Non-deterministic functions are not supported in the {what} of MERGE operation"
        f" (condition = ({condition})).",
    )


def default_too_long(letters: int) -> DeltaError:
    text = f"Exceeds char/varchar length limitation: {letters}."
    return analysis("EXCEED_LIMIT_LENGTH", text, "SparkRuntimeException")


def merge_unresolved(name: str, clause: str, columns: Iterable[str]) -> DeltaError:
    """Of INSERT * and UPDATE *, which need every column."""
    exception, error_class = MERGE_UNRESOLVED
    text = f"Cannot resolve {name} in {clause} clause given columns {', '.join(columns)}."
    return analysis(error_class, text, exception)


def merge_lost_column(name: str) -> DeltaError:
    """Of a CHAR column: what shows it filled up is taken off the target, and its name with it."""
    return analysis(
        "DELTA_MERGE_RESOLVED_ATTRIBUTE_MISSING_FROM_INPUT",
        f"Resolved attribute(s) {name} missing from the columns of the MERGE's target.",
    )


def records_lost(operation: str, added: int, removed: int) -> DeltaError:
    """Source: DeltaErrors.scala: numRecordsMismatch."""
    return DeltaError.of_class(
        "DeltaIllegalStateException",
        "DELTA_NUM_RECORDS_MISMATCH",
        f"Failed to validate the number of records in {operation}.\n"
        f"Added {added} records and removed {removed} records.\nThis is a bug.",
    )


def no_default(column: str) -> DeltaError:
    """Source: Spark's ResolveDefaultColumnsUtil (getDefaultValueExprOrNullLit)."""
    return analysis(
        "NO_DEFAULT_COLUMN_VALUE_AVAILABLE",
        f"{column} is NOT NULL and has no default that DEFAULT could stand for.",
        "AnalysisException",
    )


def several_sources_match() -> DeltaError:
    return analysis(
        "DELTA_MULTIPLE_SOURCE_ROW_MATCHING_TARGET_ROW_IN_MERGE",
        "Several source rows match one target row.",
        "DeltaUnsupportedOperationException",
    )


def join_failed(cause: DeltaError) -> DeltaError:
    """What fails while rows are joined reaches Delta through a thread that joins them."""
    return DeltaError("ExecutionException", None, cause.message)


def several_rows_for_a_value() -> DeltaError:
    return analysis(
        "SCALAR_SUBQUERY_TOO_MANY_ROWS",
        "More than one row returned by a subquery used as an expression.",
        "SparkException",
    )


def replaced_condition_mismatch(condition: str) -> DeltaError:
    text = "Written data does not conform to partial table overwrite condition or constraint"
    text += f" '{condition}'."
    return analysis("DELTA_REPLACE_WHERE_MISMATCH", text)


def replace_where_in_dynamic_mode() -> DeltaError:
    text = "A 'replaceWhere' expression and 'partitionOverwriteMode'='dynamic' cannot both be set"
    text += " in the DataFrameWriter options."
    return DeltaError.of_class(
        "DeltaIllegalArgumentException",
        "DELTA_REPLACE_WHERE_WITH_DYNAMIC_PARTITION_OVERWRITE",
        text,
    )


def overwrite_schema_in_dynamic_mode() -> DeltaError:
    text = "'overwriteSchema' cannot be used in dynamic partition overwrite mode."
    return DeltaError.of_class(
        "DeltaIllegalArgumentException",
        "DELTA_OVERWRITE_SCHEMA_WITH_DYNAMIC_PARTITION_OVERWRITE",
        text,
    )


def replaced_filter_without_data_change(filters: str) -> DeltaError:
    text = "'replaceWhere' cannot be used with data filters when 'dataChange' is set to false."
    return analysis(
        "DELTA_REPLACE_WHERE_WITH_FILTER_DATA_CHANGE_UNSET", f"{text} Filters: {filters}"
    )


def subquery(operation: str, condition: str) -> DeltaError:
    text = f"Subqueries are not supported in the {operation} (condition = ({condition}))."
    return analysis("DELTA_UNSUPPORTED_SUBQUERY", text)


def subquery_over_partitions() -> DeltaError:
    text = "Subquery is not supported in partition predicates."
    return analysis("DELTA_UNSUPPORTED_SUBQUERY_IN_PARTITION_PREDICATES", text)


def truncate_partition() -> DeltaError:
    return analysis(
        "DELTA_TRUNCATE_TABLE_PARTITION_NOT_SUPPORTED",
        "Operation not allowed: TRUNCATE TABLE on Delta tables does not support partition"
        " predicates; use DELETE to delete specific partitions or rows.",
    )
