"""What a commit is refused with for the table's protocol and the features in it.

Source: `DeltaErrors.scala` and the templates of `error/delta-error-classes.json`.
"""

from __future__ import annotations

from collections.abc import Sequence

from whitecap.engine.errors import DeltaError
from whitecap.engine.log.actions import Protocol
from whitecap.engine.refusals.kinds import assertion

_PARTY = {"read": "reader", "write": "writer"}


def protocol_changed_twice() -> DeltaError:
    return assertion(
        "Cannot change the protocol more than once in a transaction. More than one protocol change"
        " in a transaction is likely due to an explicitly specified Protocol action and an implicit"
        " protocol upgrade triggered by a table property."
    )


def protocol_downgrade(old: Protocol, new: Protocol) -> DeltaError:
    return DeltaError.of_class(
        "ProtocolDowngradeException",
        "DELTA_INVALID_PROTOCOL_DOWNGRADE",
        f"Protocol version cannot be downgraded from ({_versions(old)}) to ({_versions(new)})",
    )


def invalid_protocol_version(table: str, protocol: Protocol, version: str) -> DeltaError:
    return DeltaError.of_class(
        "InvalidProtocolVersionException",
        "DELTA_INVALID_PROTOCOL_VERSION",
        f'Unsupported Delta protocol version: table "{table}" requires reader version'
        f" {protocol.min_reader_version} and writer version {protocol.min_writer_version}, but"
        f' Delta Lake "{version}" supports reader versions 1, 2, 3 and writer versions 1, 2, 3, 4,'
        " 5, 6, 7. Please upgrade to a newer release.",
    )


def features_need_asking(unsupported: Sequence[str], supported: Sequence[str]) -> DeltaError:
    return DeltaError.of_class(
        "DeltaTableFeatureException",
        "DELTA_FEATURES_REQUIRE_MANUAL_ENABLEMENT",
        "Your table schema requires manually enablement of the following table feature(s):"
        f" {', '.join(unsupported)}.\n\nTo do this, run the following command for each of features"
        " listed above:\n  ALTER TABLE table_name SET TBLPROPERTIES ('delta.feature.feature_name' ="
        ' \'supported\')\nReplace "table_name" and "feature_name" with real values.\n\nCurrent'
        f" supported feature(s): {', '.join(supported)}.",
    )


def unsupported_features(
    table: str, features: Sequence[str], version: str, kind: str
) -> DeltaError:
    """`kind` is "read" or "write"."""
    return DeltaError.of_class(
        "DeltaUnsupportedTableFeatureException",
        f"DELTA_UNSUPPORTED_FEATURES_FOR_{kind.upper()}",
        f'Unsupported Delta {kind} feature: table "{table}" requires {_PARTY[kind]} table'
        f' feature(s) that are unsupported by Delta Lake "{version}": {", ".join(features)}.',
    )


def features_beyond_engine(dialect: str, names: Sequence[str]) -> DeltaError:
    """The table needs what an engine other than Delta's own cannot write.

    Source: `errors.rs: TransactionError::UnsupportedTableFeatures` of delta-rs.
    """
    text = f"Unsupported table features required: [{', '.join(names)}]: {dialect} cannot write it"
    return DeltaError("CommitFailedError", None, text)


def feature_drop_revalidation(conflicting_commit: str) -> DeltaError:
    return DeltaError.of_class(
        "DeltaTableFeatureException",
        "DELTA_FEATURE_DROP_CONFLICT_REVALIDATION_FAIL",
        "Cannot drop feature because a concurrent transaction modified the table.\nPlease try the"
        f" operation again.\n{conflicting_commit}",
    )


def _versions(protocol: Protocol) -> str:
    shown = f"{protocol.min_reader_version},{protocol.min_writer_version}"
    if protocol.reader_features is None and protocol.writer_features is None:
        return shown
    return f"{shown},{_names(protocol.reader_features)},{_names(protocol.writer_features)}"


def _names(features: Sequence[str] | None) -> str:
    return "None" if features is None else "[" + ",".join(sorted(features)) + "]"
