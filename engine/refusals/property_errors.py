"""What Delta and Spark refuse about table properties: one function each.

Source: DeltaErrors.scala, delta-error-classes.json; Spark's QueryParsingErrors.scala.
"""

from __future__ import annotations

from collections.abc import Sequence

from whitecap.engine.errors import DeltaError
from whitecap.engine.refusals.feature_errors import refused_feature
from whitecap.engine.refusals.kinds import analysis


def reserved_property(key: str, instead: str) -> DeltaError:
    text = f"The feature is not supported: {key} is a reserved table property, {instead}."
    return analysis("UNSUPPORTED_FEATURE.SET_TABLE_PROPERTY", text, "ParseException")


def duplicate_property(key: str) -> DeltaError:
    return analysis("DUPLICATE_KEY", f"Found duplicate keys `{key}`.", "ParseException")


def unknown_property(key: str) -> DeltaError:
    return analysis(
        "DELTA_UNKNOWN_CONFIGURATION",
        f"Unknown configuration was specified: {key}\nTo disable this check, set"
        " spark.databricks.delta.allowArbitraryProperties.enabled=true in the Spark session"
        " configuration.",
    )


def not_for_users(key: str) -> DeltaError:
    return analysis(
        "DELTA_CANNOT_MODIFY_TABLE_PROPERTY",
        f"The Delta table configuration {key} cannot be specified by the user.",
        "DeltaUnsupportedOperationException",
    )


def unknown_feature_property(key: str) -> DeltaError:
    return refused_feature(
        "DELTA_UNSUPPORTED_FEATURES_IN_CONFIG",
        "Table features configured in the following Spark configs or Delta table properties are"
        f" not recognized by this version of Delta Lake: {key}.",
    )


def feature_status(feature: str, status: str) -> DeltaError:
    return refused_feature(
        "DELTA_UNSUPPORTED_FEATURE_STATUS",
        f'Expecting the status for table feature {feature} to be "supported", but got "{status}".',
    )


def clustering_by_property(command: str) -> DeltaError:
    """Of CREATE and of ALTER: to the latter, too, Delta says to make the table anew."""
    where = "TBLPROPERTIES" if command == "CREATE" else f"{command} TABLE SET TBLPROPERTIES"
    return analysis(
        f"DELTA_{command}_TABLE_SET_CLUSTERING_TABLE_FEATURE_NOT_ALLOWED",
        f"Cannot enable clustering table feature using {where}. Please use CREATE OR REPLACE TABLE"
        " CLUSTER BY to create a Delta table with clustering.",
    )


def unsupported_change(reason: str) -> DeltaError:
    text = f"Unsupported table change: {reason}"
    return analysis("UNSUPPORTED_TABLE_CHANGE", text, "SparkException")


def invalid_interval(text: str) -> DeltaError:
    return analysis(
        "DELTA_INVALID_INTERVAL",
        f"{text} is not a valid INTERVAL.",
        "DeltaIllegalArgumentException",
    )


def unknown_mapping_mode(mode: str) -> DeltaError:
    text = f"The column mapping mode `{mode}` is not supported for this Delta version. Please"
    return DeltaError(
        "ColumnMappingUnsupportedException", None, f"{text} upgrade if you want to use this mode."
    )


def names_that_need_mapping(names: Sequence[str]) -> DeltaError:
    return analysis(
        "DELTA_INVALID_COLUMN_NAMES_WHEN_REMOVING_COLUMN_MAPPING",
        "Found invalid character(s) among ' ,;{}()\\n\\t=' in the column names of your schema.\n"
        f"Invalid column names: {', '.join(names)}.\nColumn mapping cannot be removed when there"
        " are invalid characters in the column names.\nPlease rename the columns to remove the"
        " invalid characters and execute this command again.",
    )


def column_not_in_schema(name: str) -> DeltaError:
    return analysis("DELTA_COLUMN_NOT_FOUND_IN_SCHEMA", f"Couldn't find column {name}.")


def statistics_of_partition_column(name: str) -> DeltaError:
    return analysis(
        "DELTA_COLUMN_DATA_SKIPPING_NOT_SUPPORTED_PARTITIONED_COLUMN",
        f"Data skipping is not supported for partition column '{name}'.",
        "DeltaIllegalArgumentException",
    )


def statistics_of_type(name: str, kind: str) -> DeltaError:
    return analysis(
        "DELTA_COLUMN_DATA_SKIPPING_NOT_SUPPORTED_TYPE",
        f"Data skipping is not supported for column '{name}' of type {kind}.",
        "DeltaIllegalArgumentException",
    )


def repeated_statistics_columns(names: Sequence[str]) -> DeltaError:
    return analysis(
        "DELTA_DUPLICATE_DATA_SKIPPING_COLUMNS",
        f"Duplicated data skipping columns found: {','.join(names)}.",
        "DeltaIllegalArgumentException",
    )


def uniform_without_compatibility() -> DeltaError:
    return analysis(
        "DELTA_UNIVERSAL_FORMAT_VIOLATION",
        "The validation of Universal Format (iceberg) has failed: Requires IcebergCompat to be"
        " explicitly enabled in order for Universal Format (Iceberg) to be enabled on an existing"
        " table.",
        "DeltaUnsupportedOperationException",
    )


def compatibility_without_mapping(key: str, mode: str) -> DeltaError:
    named = key.removeprefix("delta.enable")
    return analysis(
        "DELTA_ICEBERG_COMPAT_VIOLATION.WRONG_REQUIRED_TABLE_PROPERTY",
        f"The validation of {named} has failed. {named} requires table property"
        f" 'delta.columnMapping.mode' to be set to 'name'. Current value: '{mode}'.",
        "DeltaUnsupportedOperationException",
    )


def vectors_beside_manifests(table: str) -> DeltaError:
    return _property_validation(
        "PERSISTENT_DELETION_VECTORS_WITH_INCREMENTAL_MANIFEST_GENERATION",
        table,
        "Persistent deletion vectors and incremental symlink manifest generation are mutually"
        " exclusive.",
    )


def manifests_beside_vectors(table: str) -> DeltaError:
    return _property_validation(
        "EXISTING_DELETION_VECTORS_WITH_INCREMENTAL_MANIFEST_GENERATION",
        table,
        "Symlink manifest generation is unsupported while deletion vectors are present in the"
        " table.\nIn order to produce a version of the table without deletion vectors, run 'REORG"
        f" TABLE {table} APPLY (PURGE)'.",
    )


def _property_validation(kind: str, table: str, text: str) -> DeltaError:
    return analysis(
        f"DELTA_VIOLATE_TABLE_PROPERTY_VALIDATION_FAILED.{kind}",
        f"The validation of the properties of table {table} has been violated: {text}",
        "DeltaTablePropertyValidationFailedException",
    )


def unknown_level(text: str) -> DeltaError:
    return DeltaError.of_class(
        "DeltaIllegalArgumentException",
        "DELTA_INVALID_ISOLATION_LEVEL",
        f"invalid isolation level '{text}'",
    )


def value_without_meaning(key: str, value: object, reason: object) -> DeltaError:
    return DeltaError("IllegalArgumentException", None, f"{key} cannot be {value!r}: {reason}")


def unknown_formats(key: str, formats: list[str]) -> DeltaError:
    """For formats of other readers that there are not."""
    return DeltaError("IllegalArgumentException", None, f"{key} cannot be {formats}")


def invalid_policy(value: str) -> DeltaError:
    return DeltaError("IllegalArgumentException", None, f"Invalid policy {value}")


def no_row_ids_on_existing_table() -> DeltaError:
    text = "Cannot enable Row IDs on an existing table."
    return DeltaError("UnsupportedOperationException", None, text)
