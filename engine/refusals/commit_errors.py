"""What Delta refuses in the actions of a commit, and the metadata among them.

Source: `DeltaErrors.scala` and the templates of `error/delta-error-classes.json`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from whitecap.engine.errors import DeltaError
from whitecap.engine.refusals.kinds import assertion

RETRIES_EXCEEDED = "DELTA_MAX_COMMIT_RETRIES_EXCEEDED"


def metadata_changed_twice() -> DeltaError:
    return assertion("Cannot change the metadata more than once in a transaction.")


def already_committed() -> DeltaError:
    return assertion("Transaction already committed.")


def set_transaction_version_conflict(app_id: str, first: int, second: int) -> DeltaError:
    return DeltaError(
        "IllegalArgumentException",
        None,
        f"Two SetTransaction actions within the same transaction have the same appId {app_id} but"
        f" different versions {first} and {second}.",
    )


def metadata_absent() -> DeltaError:
    return DeltaError.of_class(
        "DeltaIllegalStateException",
        "DELTA_METADATA_ABSENT",
        "Couldn't find Metadata while committing the first version of the Delta table.",
    )


def partition_column_change(operation: str, old: Sequence[str], new: Sequence[str]) -> DeltaError:
    return DeltaError.of_class(
        "DeltaAnalysisException",
        "DELTA_UNSUPPORTED_PARTITION_COLUMN_CHANGE",
        f"Cannot change partition columns during {operation} operation"
        f" (old: {', '.join(old)}, new: {', '.join(new)}).",
    )


def partitioning_mismatch(actual: Iterable[str], expected: Iterable[str]) -> DeltaError:
    return DeltaError.of_class(
        "DeltaIllegalStateException",
        "DELTA_INVALID_PARTITIONING_SCHEMA",
        "\nThe AddFile contains partitioning schema different from the table's partitioning"
        f" schema\nexpected: {_listed(expected)}\nactual: {_listed(actual)}\nTo disable this check"
        ' set spark.databricks.delta.commitValidation.enabled to "false"',
    )


def duplicate_columns(names: Sequence[str]) -> DeltaError:
    return DeltaError.of_class(
        "DeltaAnalysisException",
        "DELTA_DUPLICATE_COLUMNS_FOUND.METADATA_UPDATE",
        f"Found duplicate column(s): {', '.join(names)}. The duplicate was found in the metadata"
        " update.",
    )


def invalid_column_names(names: Sequence[str]) -> DeltaError:
    return DeltaError.of_class(
        "DeltaAnalysisException",
        "DELTA_INVALID_CHARACTERS_IN_COLUMN_NAMES",
        "Found invalid character(s) among ' ,;{}()\\n\\t=' in the column names of your schema.\n"
        f"Invalid column names: {', '.join(names)}.\nPlease use other characters and try again.\n"
        "Alternatively, enable Column Mapping to keep using these characters.",
    )


def invalid_partition_column_name() -> DeltaError:
    return DeltaError.of_class(
        "DeltaAnalysisException",
        "DELTA_INVALID_PARTITION_COLUMN_NAME",
        'Found partition columns having invalid character(s) among " ,;{}()\n\t=". Please change'
        " the name to your partition columns.",
    )


def field_not_found(name: str, names: Sequence[str]) -> DeltaError:
    return DeltaError.of_class(
        "SparkIllegalArgumentException",
        "FIELD_NOT_FOUND",
        f"No such struct field `{name}` in {', '.join(f'`{field}`' for field in names)}."
        " SQLSTATE: 42704",
    )


def feed_columns_on_write(names: Sequence[str]) -> DeltaError:
    return DeltaError.of_class(
        "DeltaIllegalStateException",
        "RESERVED_CDC_COLUMNS_ON_WRITE",
        f"\nThe write contains reserved columns [{','.join(names)}] that are used\ninternally as"
        " metadata for Change Data Feed. To write to the table either rename/drop\nthese columns or"
        " disable Change Data Feed on the table by setting\ndelta.enableChangeDataFeed to false.",
    )


def feed_columns_in_table(names: Sequence[str]) -> DeltaError:
    return DeltaError.of_class(
        "DeltaIllegalStateException",
        "DELTA_TABLE_ALREADY_CONTAINS_CDC_COLUMNS",
        "\nUnable to enable Change Data Capture on the table. The table already contains\nreserved"
        f" columns [{','.join(names)}] that will\nbe used internally as metadata for the table's"
        " Change Data Feed. To enable\nChange Data Feed on the table rename/drop these columns.\n",
    )


def feed_of_mapped_columns(operation: str) -> DeltaError:
    return DeltaError.of_class(
        "DeltaUnsupportedOperationException",
        "DELTA_BLOCK_COLUMN_MAPPING_AND_CDC_OPERATION",
        f'Operation "{operation}" is not allowed when the table has enabled change data feed (CDF)'
        " and has undergone schema changes using DROP COLUMN or RENAME COLUMN.",
    )


def incomplete_mapping(missing: str, column: str) -> DeltaError:
    """`missing` is "column ID" or "physical name"; the text says `id` whatever the mode is."""
    text = f"Missing {missing} in column mapping mode `id` in the field: {column}"
    return DeltaError("ColumnMappingException", None, text)


def duplicate_column_id(column_id: int, mode: str) -> DeltaError:
    text = f"Found duplicated column id `{column_id}` in column mapping mode `{mode}` "
    return DeltaError("ColumnMappingException", None, text)


def max_column_id_not_set() -> DeltaError:
    return DeltaError.of_class(
        "DeltaAnalysisException",
        "DELTA_COLUMN_MAPPING_MAX_COLUMN_ID_NOT_SET",
        "The max column id property (delta.columnMapping.maxColumnId) is not set on a column"
        " mapping enabled table.",
    )


def append_only(table: str) -> DeltaError:
    return DeltaError.of_class(
        "DeltaUnsupportedOperationException",
        "DELTA_CANNOT_MODIFY_APPEND_ONLY",
        "This table is configured to only allow appends. If you would like to permit updates or"
        f" deletes, use 'ALTER TABLE {table} SET TBLPROPERTIES (delta.appendOnly=false)'.",
    )


def deletion_vectors_disallowed() -> DeltaError:
    return DeltaError.of_class(
        "DeltaCommandUnsupportedWithDeletionVectorsException",
        "DELTA_ADDING_DELETION_VECTORS_DISALLOWED",
        "The current operation attempted to add a deletion vector to a table that does not permit"
        " the creation of new deletion vectors. Please file a bug report.",
    )


def deletion_vector_without_num_records() -> DeltaError:
    return DeltaError.of_class(
        "DeltaRuntimeException",
        "DELTA_DELETION_VECTOR_MISSING_NUM_RECORDS",
        "It is invalid to commit files with deletion vectors that are missing the numRecords"
        " statistic.",
    )


def deletion_vector_with_tight_bounds() -> DeltaError:
    return DeltaError.of_class(
        "DeltaIllegalStateException",
        "DELTA_ADDING_DELETION_VECTORS_WITH_TIGHT_BOUNDS_DISALLOWED",
        "All operations that add deletion vectors should set the tightBounds column in statistics"
        " to false. Please file a bug report.",
    )


def duplicate_actions(kind: str, file: str, other_file: str) -> DeltaError:
    return DeltaError.of_class(
        "DeltaRuntimeException",
        "DELTA_DUPLICATE_ACTIONS_FOUND",
        f"File operation '{kind}' for path {file} was specified several times.\nIt conflicts with"
        f" {other_file}. \nIt is not valid for multiple file operations with the same"
        " path to exist in a single commit.",
    )


def inconsistent_data_change() -> DeltaError:
    return DeltaError(
        "IllegalStateException",
        None,
        "All FileActions in a single commit must share a consistent dataChange value, but this"
        " commit mixes dataChange = true and dataChange = false actions.",
    )


def user_function_failed(cause: str) -> DeltaError:
    """Spark's wrapping of an error inside a function of the user's, or of Delta's."""
    return DeltaError.of_class(
        "SparkException",
        "FAILED_EXECUTE_UDF",
        f"User defined function failed due to: {cause}",
    )


def in_query_too_wide() -> DeltaError:
    """The conflict check asks `value IN (query)` with columns that Spark has added to the query."""
    return DeltaError.of_class(
        "ExtendedAnalysisException",
        "DATATYPE_MISMATCH.IN_SUBQUERY_LENGTH_MISMATCH",
        "The number of columns in the left hand side of an IN subquery does not match the number of"
        " columns in the output of subquery.",
    )


def empty_file(path: str) -> DeltaError:
    return DeltaError(
        "IllegalStateException",
        None,
        f"AddFile {path} references a zero-byte (empty) parquet file",
    )


def null_partition(path: str, column: str) -> DeltaError:
    return DeltaError(
        "IllegalStateException",
        None,
        f"AddFile {path} has null partition value for NOT NULL column '{column}'",
    )


def duplicate_domain(domain: str) -> DeltaError:
    return DeltaError.of_class(
        "DeltaIllegalArgumentException",
        "DELTA_DUPLICATE_DOMAIN_METADATA_INTERNAL_ERROR",
        "Internal error: two DomainMetadata actions within the same transaction have the same"
        f" domain {domain}",
    )


def domains_not_supported(domains: Sequence[str]) -> DeltaError:
    return DeltaError.of_class(
        "DeltaIllegalArgumentException",
        "DELTA_DOMAIN_METADATA_NOT_SUPPORTED",
        f"Detected DomainMetadata action(s) for domains [{','.join(domains)}], but"
        " DomainMetadataTableFeature is not enabled.",
    )


def backfill_against_unbackfill() -> DeltaError:
    return DeltaError.of_class(
        "DeltaIllegalStateException",
        "DELTA_ROW_TRACKING_BACKFILL_RUNNING_CONCURRENTLY_WITH_UNBACKFILL",
        "A Row Tracking enablement operation was detected running concurrently with a Row Tracking"
        " disablement. Aborting the disablement operation. Please retry the disablement operation"
        " if necessary when the enablement operation is complete.",
    )


def tracking_and_suspended(enabled: str, suspended: str) -> DeltaError:
    """For a table on which row tracking is both on and suspended."""
    return DeltaError.of_class(
        "DeltaIllegalStateException",
        "DELTA_ROW_TRACKING_ILLEGAL_PROPERTY_COMBINATION",
        f"Illegal table state was detected. Table properties `{enabled}` and `{suspended}` are"
        " both set to true. The issue can be resolved by disabling any of the two table"
        " properties.",
    )


def unexpected_backfill_action() -> DeltaError:
    return DeltaError(
        "IllegalStateException", None, "RowTrackingBackfill commit has an unexpected action"
    )


def commit_retries_exceeded(
    attempts: int, first_version: int, last_version: int, actions: int, spent_ms: int
) -> DeltaError:
    return DeltaError.of_class(
        "DeltaIllegalStateException",
        RETRIES_EXCEEDED,
        f"This commit has failed as it has been tried {attempts} times but did not succeed.\nThis"
        " can be caused by the Delta table being committed continuously by many concurrent\n"
        f"commits.\n\nCommit started at version: {first_version}\nCommit failed at version:"
        f" {last_version}\nNumber of actions attempted to commit: {actions}\nTotal time spent"
        f" attempting this commit: {spent_ms} ms",
    )


def _listed(names: Iterable[str]) -> str:
    return "[" + ", ".join(f"`{name}`" for name in names) + "]"


def no_row_count() -> DeltaError:
    """For a file that is to get row ids."""
    return DeltaError.of_class(
        "DeltaIllegalStateException",
        "DELTA_ROW_ID_ASSIGNMENT_WITHOUT_STATS",
        "Cannot assign row IDs without row count"
        " statistics.\nCollect statistics for the table by running the ANALYZE TABLE"
        " command:\nANALYZE TABLE tableName COMPUTE DELTA STATISTICS",
    )


def watermark_set_by_hand() -> DeltaError:
    return DeltaError(
        "IllegalStateException", None, "Manually setting the Row ID high water mark is not allowed"
    )


def partition_cast_failed(text: str, kind: str, column: str) -> DeltaError:
    return DeltaError.of_class(
        "DeltaRuntimeException",
        "DELTA_PARTITION_COLUMN_CAST_FAILED",
        f"Failed to cast value `{text}` to `{kind}` for partition column `{column}`",
    )
