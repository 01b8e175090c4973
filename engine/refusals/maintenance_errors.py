"""What Delta refuses in commands that maintain a table: OPTIMIZE, RESTORE, VACUUM.

Source: DeltaErrors.scala, delta-error-classes.json.
"""

from __future__ import annotations

from collections.abc import Sequence

from whitecap.engine.errors import DeltaError
from whitecap.engine.refusals.kinds import analysis, requirement


def clustering_with_predicates(where: str) -> DeltaError:
    text = "OPTIMIZE command for Delta table with clustering doesn't support partition predicates."
    return analysis(
        "DELTA_CLUSTERING_WITH_PARTITION_PREDICATE",
        f"{text} Please remove the predicates: {where}.",
        "DeltaUnsupportedOperationException",
    )


def clustering_with_zorder(columns: Sequence[str]) -> DeltaError:
    text = "OPTIMIZE command for Delta table with clustering cannot specify ZORDER BY. Please"
    return analysis(
        "DELTA_CLUSTERING_WITH_ZORDER_BY", f"{text} remove ZORDER BY ({', '.join(columns)})."
    )


def not_a_partition_column(name: str, columns: Sequence[str]) -> DeltaError:
    text = f"Predicate references non-partition column '{name}'. Only the partition columns may be"
    return analysis(
        "DELTA_NON_PARTITION_COLUMN_REFERENCE", f"{text} referenced: [{', '.join(columns)}]"
    )


def zorder_on_partition_column(column: str) -> DeltaError:
    text = f"{column} is a partition column. Z-Ordering can only be performed on data columns"
    return DeltaError.of_class(
        "DeltaIllegalArgumentException",
        "DELTA_ZORDERING_ON_PARTITION_COLUMN",
        text,
    )


def zorder_on_unknown_column(column: str) -> DeltaError:
    return analysis(
        "DELTA_ZORDERING_COLUMN_DOES_NOT_EXIST",
        f"Z-Ordering column {column} does not exist in data schema.",
        "DeltaIllegalArgumentException",
    )


def zorder_without_statistics(columns: Sequence[str]) -> DeltaError:
    return analysis(
        "DELTA_ZORDERING_ON_COLUMN_WITHOUT_STATS",
        f"Z-Ordering on [{', '.join(columns)}] will be ineffective, because we currently do not"
        " collect stats for these columns. You can disable this check by setting\n"
        "SET spark.databricks.delta.optimize.zorder.checkStatsCollection.enabled = false",
    )


def rows_without_an_order() -> DeltaError:
    """What a job of OPTIMIZE ends with where Spark cannot sort by a column."""
    return DeltaError("SparkException", None, "Exception thrown in awaitResult: ")


def full_without_clustering() -> DeltaError:
    return analysis(
        "DELTA_OPTIMIZE_FULL_NOT_SUPPORTED",
        "OPTIMIZE FULL is only supported for clustered tables with non-empty clustering columns.",
        "DeltaUnsupportedOperationException",
    )


def no_version_to_restore(version: int, newest: int) -> DeltaError:
    return analysis(
        "DELTA_CANNOT_RESTORE_TABLE_VERSION",
        f"Cannot restore table to version {version}. Available versions: [0, {newest}].",
    )


def restore_before_the_table(asked: str, earliest: str) -> DeltaError:
    return analysis(
        "DELTA_CANNOT_RESTORE_TIMESTAMP_EARLIER",
        f"Cannot restore table to timestamp ({asked}) as it is before the earliest version"
        f" available. Please use a timestamp after ({earliest}).",
    )


def restore_after_the_newest(asked: str, newest: str) -> DeltaError:
    return analysis(
        "DELTA_CANNOT_RESTORE_TIMESTAMP_GREATER",
        f"Cannot restore table to timestamp ({asked}) as it is after the latest version"
        f" available. Please use a timestamp before ({newest})",
    )


def restore_misses_files(version: int, paths: Sequence[str]) -> DeltaError:
    text = f"Not all files from version {version} are available in file system. Missed files"
    return DeltaError(
        "IllegalArgumentException", None, f"{text} (top 100 files): {', '.join(paths[:100])}."
    )


def retention_too_short(hours: int) -> DeltaError:
    return analysis(
        "DELTA_VACUUM_RETENTION_PERIOD_TOO_SHORT",
        "The specified VACUUM retention period is too low and may corrupt this Delta table if any"
        " writes are in progress.\n\nIf no operations (insert, upsert, delete, optimize) are"
        " running, you can disable this safety check by setting:\n"
        "delta.retentionDurationCheck.enabled = false\n\n"
        f"Otherwise, use a retention period of at least {hours} hours.",
        "DeltaIllegalArgumentException",
    )


def retention_too_low(hours: int) -> DeltaError:
    """The same before it had an error class."""
    return requirement(
        "Are you sure you would like to vacuum files with such a low retention period? If you are"
        f' not sure, please use a value not less than "{hours} hours".'
    )


def travel_beyond_retention(hours: int) -> DeltaError:
    return analysis(
        "DELTA_UNSUPPORTED_TIME_TRAVEL_BEYOND_DELETED_FILE_RETENTION_DURATION",
        f"Cannot time travel beyond delta.deletedFileRetentionDuration ({hours} HOURS) set on the"
        " table.",
    )
