"""What Delta refuses about table features: one function each.

Source: DeltaErrors.scala, delta-error-classes.json.
"""

from __future__ import annotations

from collections.abc import Sequence

from whitecap.engine.errors import DeltaError, RefusedAtCommit
from whitecap.engine.log.properties import LOG_RETENTION_MS


def not_in_protocol(feature: str) -> DeltaError:
    return refused_feature(
        "DELTA_FEATURE_DROP_FEATURE_NOT_PRESENT",
        f"Cannot drop {feature} from this table because it is not currently present in the table's"
        " protocol.",
    )


def unknown(feature: str) -> DeltaError:
    return refused_feature(
        "DELTA_FEATURE_DROP_UNSUPPORTED_CLIENT_FEATURE",
        f"Cannot drop {feature} because it is not supported by this Delta version.",
    )


def readers_features_alone() -> DeltaError:
    return refused_feature(
        "DELTA_READ_FEATURE_PROTOCOL_REQUIRES_WRITE",
        "Unable to upgrade only the reader protocol version to use table features. Writer protocol"
        " version must be at least 7 to proceed. Refer to https://docs.delta.io/latest/index.html"
        " for more information on table protocol versions.",
    )


def is_needed(feature: str, others: Sequence[str]) -> DeltaError:
    return refused_feature(
        "DELTA_FEATURE_DROP_DEPENDENT_FEATURE",
        f"Cannot drop table feature `{feature}` because some other features ({', '.join(others)})"
        f" in this table depends on `{feature}`.\nConsider dropping them first before dropping"
        " this feature.",
    )


def not_removable(feature: str) -> DeltaError:
    return refused_feature(
        "DELTA_FEATURE_DROP_NONREMOVABLE_FEATURE",
        f"Cannot drop {feature} because dropping this feature is not supported.",
    )


def without_history() -> DeltaError:
    return refused_feature(
        "DELTA_FEATURE_DROP_HISTORY_TRUNCATION_NOT_ALLOWED",
        "The particular feature does not require history truncation.",
    )


def with_history() -> DeltaError:
    return refused_feature(
        "DELTA_FEATURE_CAN_ONLY_DROP_CHECKPOINT_PROTECTION_WITH_HISTORY_TRUNCATION",
        "Could not drop the Checkpoint Protection feature.\nThis feature can only be dropped by"
        " truncating history.\nPlease try again with the TRUNCATE HISTORY option:\n\n"
        "    ALTER TABLE table_name DROP FEATURE checkpointProtection TRUNCATE HISTORY",
    )


def wait_for_retention(feature: str, log_retention: str, truncate_retention: str) -> DeltaError:
    """The retentions as intervals, such as `30 days`."""
    return refused_feature(
        "DELTA_FEATURE_DROP_WAIT_FOR_RETENTION_PERIOD",
        f"Dropping {feature} was partially successful.\n\nThe feature is now no longer used in the"
        " current version of the table. However, the feature\nis still present in historical"
        " versions of the table. The table feature cannot be dropped\nfrom the table protocol until"
        " these historical versions have expired.\n\nTo drop the table feature from the protocol,"
        " please wait for the historical versions to\nexpire, and then repeat this command. The"
        " retention period for historical versions is\ncurrently configured as"
        f" {LOG_RETENTION_MS.key}={log_retention}.\n\nAlternatively, please wait for the TRUNCATE"
        f" HISTORY retention period to expire ({truncate_retention})\nand then run:\n"
        "    ALTER TABLE table_name DROP FEATURE feature_name TRUNCATE HISTORY",
    )


def in_history(feature: str) -> DeltaError:
    return refused_feature(
        "DELTA_FEATURE_DROP_HISTORICAL_VERSIONS_EXIST",
        f"Cannot drop {feature} because the Delta log contains historical versions that use the"
        " feature.",
    )


def protected_for_now(truncate_retention: str) -> DeltaError:
    """The retention as an interval, such as `24 hours`."""
    return refused_feature(
        "DELTA_FEATURE_DROP_CHECKPOINT_PROTECTION_WAIT_FOR_RETENTION_PERIOD",
        "The operation did not succeed because there are still traces of dropped features \nin the"
        " table history. CheckpointProtection cannot be dropped until these historical\nversions"
        " have expired.\n\nTo drop CheckpointProtection, please wait for the historical versions"
        " to\nexpire, and then repeat this command. The retention period for historical versions"
        f" is\ncurrently configured to {truncate_retention}.",
    )


def kept_by_constraints(names: Sequence[str]) -> DeltaError:
    error_class = "DELTA_CANNOT_DROP_CHECK_CONSTRAINT_FEATURE"
    shown = ", ".join(f"`{name}`" for name in names)
    text = "Cannot drop the CHECK constraints table feature.\nThe following constraints must be"
    text += f" dropped first: {shown}."
    return DeltaError.of_class("DeltaAnalysisException", error_class, text)


def defaults_not_enabled() -> DeltaError:
    error_class = "WRONG_COLUMN_DEFAULTS_FOR_DELTA_FEATURE_NOT_ENABLED"
    text = "Failed to execute ALTER TABLE command because it assigned a column DEFAULT value,\nbut"
    text += " the corresponding table feature was not enabled. Please retry the command again\n"
    text += "after executing ALTER TABLE tableName SET\n"
    text += "TBLPROPERTIES('delta.feature.allowColumnDefaults' = 'supported')."
    return RefusedAtCommit.of_class("DeltaAnalysisException", error_class, text)


def refused_feature(error_class: str, text: str) -> DeltaError:
    """What is refused about a table feature."""
    return DeltaError.of_class("DeltaTableFeatureException", error_class, text)
