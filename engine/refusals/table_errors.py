"""What Delta refuses about a table as it is made, named, clustered, constrained or read.

Source: DeltaErrors.scala, delta-error-classes.json.
"""

from __future__ import annotations

from collections.abc import Sequence

from whitecap.engine.errors import DeltaError
from whitecap.engine.refusals.kinds import analysis


def no_such_table(name: str) -> DeltaError:
    return analysis("DELTA_TABLE_NOT_FOUND", f"Delta table {name} does not exist.")


def table_exists(name: str) -> DeltaError:
    return analysis(
        "TABLE_OR_VIEW_ALREADY_EXISTS",
        f"Cannot create table or view `default`.`{name}` because it already exists.\nChoose a"
        " different name, drop or replace the existing object, or add the IF NOT EXISTS clause to"
        " tolerate pre-existing objects.",
        "TableAlreadyExistsException",
    )


def table_exists_for_clone(name: str) -> DeltaError:
    return analysis("DELTA_TABLE_ALREADY_EXISTS", f"Table {name} already exists.")


def no_table_to_replace(name: str) -> DeltaError:
    text = f"The table or view `default`.`{name}` cannot be found."
    return analysis("TABLE_OR_VIEW_NOT_FOUND", text, "CannotReplaceMissingTableException")


def all_columns_partition() -> DeltaError:
    text = "Cannot use all columns for partition columns."
    return analysis("ALL_PARTITION_COLUMNS_NOT_ALLOWED", text, "AnalysisException")


def no_such_partition_column(name: str) -> DeltaError:
    text = f"Couldn't find column {name}."
    return DeltaError("AnalysisException", "_LEGACY_ERROR_TEMP_3060", text)


def partitioned_twice(name: str) -> DeltaError:
    text = f"Found duplicate column(s) in the partitioning: {name}"
    return DeltaError("AnalysisException", "_LEGACY_ERROR_TEMP_3058", text)


def partitioned_by_identity(name: str) -> DeltaError:
    text = f"PARTITIONED BY IDENTITY column {name} is not supported."
    return analysis("DELTA_IDENTITY_COLUMNS_PARTITION_NOT_SUPPORTED", text)


def cluster_by_unknown(name: str) -> DeltaError:
    error_class = "UNSUPPORTED_FEATURE.PARTITION_WITH_NESTED_COLUMN_IS_UNSUPPORTED"
    return analysis(error_class, f"Invalid partitioning: {name}", "ExtendedAnalysisException")


def clustered_twice(name: str) -> DeltaError:
    text = f"Found duplicate column(s): `{name}`. The duplicate was found in CLUSTER BY."
    return analysis("DELTA_DUPLICATE_COLUMNS_FOUND.CLUSTER_BY", text)


def too_many_cluster_columns(count: int, most: int) -> DeltaError:
    text = f"CLUSTER BY supports up to {most} clustering columns, but the table has {count}"
    text += " clustering columns. Please remove the extra clustering columns."
    return analysis("DELTA_CLUSTER_BY_INVALID_NUM_COLUMNS", text)


def only_void_columns() -> DeltaError:
    error_class = "DELTA_CANNOT_WRITE_EMPTY_SCHEMA.TABLE_ALL_VOID_COLUMNS"
    return analysis(
        error_class,
        "The Delta table is not writable because parts of the schema are not supported.\n"
        "Reason: All columns in the table schema have VOID type.",
    )


def show_no_partitions(table: str) -> DeltaError:
    text = f"SHOW PARTITIONS is not allowed on a table that is not partitioned: {table}"
    return analysis("DELTA_SHOW_PARTITION_IN_NON_PARTITIONED_TABLE", text)


def schema_not_provided() -> DeltaError:
    text = (
        "Table schema is not provided. Please provide the schema (column definition) of the table"
    )
    return analysis("DELTA_SCHEMA_NOT_PROVIDED", text + " when using REPLACE table.")


def use_add_constraint() -> DeltaError:
    text = "Please use ALTER TABLE ADD CONSTRAINT to add CHECK constraints."
    return analysis("DELTA_ADD_CONSTRAINTS", text)


def constraint_exists(name: str, old: str) -> DeltaError:
    text = f"Constraint '{name}' already exists. Please delete the old constraint first. Old"
    return analysis("DELTA_CONSTRAINT_ALREADY_EXISTS", f"{text} constraint: {old}")


def no_such_constraint(name: str, table: str) -> DeltaError:
    text = f"Cannot drop nonexistent constraint {name} from table `default`.`{table}`. To avoid"
    text += " throwing an error, provide the parameter IF EXISTS or set the SQL session"
    text += " configuration spark.databricks.delta.constraints.assumesDropIfExists.enabled to true."
    return analysis("DELTA_CONSTRAINT_DOES_NOT_EXIST", text)


def constraint_violated_by_table(rows: int, table: str, condition: str) -> DeltaError:
    text = f"{rows} rows in {table} violate the new CHECK constraint ({condition})"
    return analysis("DELTA_NEW_CHECK_CONSTRAINT_VIOLATION", text)


def clustering_by_type(columns: Sequence[tuple[str, str]]) -> DeltaError:
    shown = ", ".join(f"{name} : {kind.upper()}" for name, kind in columns)
    return analysis(
        "DELTA_CLUSTERING_COLUMNS_DATATYPE_NOT_SUPPORTED",
        f"CLUSTER BY is not supported because the following column(s): {shown} don't support data"
        " skipping.",
    )


def clustering_without_statistics(columns: Sequence[str]) -> DeltaError:
    return analysis(
        "DELTA_CLUSTERING_COLUMN_MISSING_STATS",
        "Clustering requires clustering columns to have stats. Couldn't find clustering column(s)"
        f" '{', '.join(columns)}' in stats schema.",
    )


def cluster_partitioned_table() -> DeltaError:
    text = "ALTER TABLE CLUSTER BY cannot be applied to a partitioned table."
    return analysis("DELTA_ALTER_TABLE_CLUSTER_BY_ON_PARTITIONED_TABLE_NOT_ALLOWED", text)


def partition_clustered_table() -> DeltaError:
    text = "Replacing a clustered Delta table with a partitioned table is not allowed."
    return analysis("DELTA_CLUSTERING_REPLACE_TABLE_WITH_PARTITIONED_TABLE", text)


def clone_into_table_with_files() -> DeltaError:
    text = "The clone destination table is non-empty. Please TRUNCATE or DELETE FROM the table"
    text += " before running CLONE."
    return analysis("DELTA_UNSUPPORTED_NON_EMPTY_CLONE", text, "DeltaIllegalStateException")


def no_version_to_read(version: int, newest: int) -> DeltaError:
    return analysis(
        "DELTA_VERSION_NOT_FOUND",
        f"Cannot time travel Delta table to version {version}. Available versions: [0, {newest}].",
        "VersionNotFoundException",
    )


FILE_IS_GONE = "FAILED_READ_FILE.FILE_NOT_EXIST"


def file_is_gone(path: str) -> DeltaError:
    text = f"Encountered error while reading file {path}. File does not exist."
    return DeltaError.of_class("SparkException", FILE_IS_GONE, text)
