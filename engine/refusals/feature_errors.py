"""What Delta refuses about table features: one function each.

Source: DeltaErrors.scala, delta-error-classes.json.
"""

from __future__ import annotations

from collections.abc import Sequence

from whitecap.engine.errors import DeltaError, RefusedAtCommit


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
        " version must be at least 7 to proceed.",
    )


def is_needed(feature: str, others: Sequence[str]) -> DeltaError:
    return refused_feature(
        "DELTA_FEATURE_DROP_DEPENDENT_FEATURE",
        f"Cannot drop table feature `{feature}` because some other features ({', '.join(others)})"
        " in this table depends on it.",
    )


def not_removable(feature: str) -> DeltaError:
    return refused_feature(
        "DELTA_FEATURE_DROP_NONREMOVABLE_FEATURE",
        f"Cannot drop {feature} because dropping this feature is not supported.",
    )


def without_history(feature: str) -> DeltaError:
    return refused_feature(
        "DELTA_FEATURE_DROP_HISTORY_TRUNCATION_NOT_ALLOWED",
        f"The particular feature {feature} does not require history truncation.",
    )


def with_history(feature: str) -> DeltaError:
    return refused_feature(
        "DELTA_FEATURE_CAN_ONLY_DROP_CHECKPOINT_PROTECTION_WITH_HISTORY_TRUNCATION",
        f"{feature} can only be dropped by TRUNCATE HISTORY.",
    )


def wait_for_retention(feature: str) -> DeltaError:
    return refused_feature(
        "DELTA_FEATURE_DROP_WAIT_FOR_RETENTION_PERIOD",
        f"Dropping {feature} was partially successful.\n\nThe feature is now no longer used in the"
        " current version of the table. However, the feature\nis still present in historical"
        " versions of the table.",
    )


def in_history(feature: str) -> DeltaError:
    return refused_feature(
        "DELTA_FEATURE_DROP_HISTORICAL_VERSIONS_EXIST",
        f"Cannot drop {feature} because the Delta log contains historical versions that use the"
        " feature.",
    )


def protected_for_now() -> DeltaError:
    return refused_feature(
        "DELTA_FEATURE_DROP_CHECKPOINT_PROTECTION_WAIT_FOR_RETENTION_PERIOD",
        "The operation did not succeed because there are still traces of dropped features in the"
        " table history.",
    )


def kept_by_constraints(names: Sequence[str]) -> DeltaError:
    error_class = "DELTA_CANNOT_DROP_CHECK_CONSTRAINT_FEATURE"
    text = f"Cannot drop the CHECK constraints table feature: {', '.join(names)}"
    return DeltaError.of_class("DeltaAnalysisException", error_class, text)


def defaults_not_enabled() -> DeltaError:
    error_class = "WRONG_COLUMN_DEFAULTS_FOR_DELTA_FEATURE_NOT_ENABLED"
    text = "Failed to execute ALTER TABLE command because it assigned a column DEFAULT value, but"
    text += " the corresponding table feature was not enabled."
    return RefusedAtCommit.of_class("DeltaAnalysisException", error_class, text)


def refused_feature(error_class: str, text: str) -> DeltaError:
    """What is refused about a table feature."""
    return DeltaError.of_class("DeltaTableFeatureException", error_class, text)
