"""Check 2: a winner that changed the metadata.

Only changes that switch a feature on, in ways that files written without it still satisfy, are
adopted; everything else conflicts, for blind appends too. Source: `ConflictChecker.scala:
attemptToResolveMetadataConflicts`, `checkConfigurationChangesForConflicts`,
`checkSchemaChangesForConflicts`, and `checkNoMetadataUpdates` where that resolution is off.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from whitecap.engine.conflicts.current import CurrentTransaction
from whitecap.engine.conflicts.messages import commit_verdict
from whitecap.engine.conflicts.row_ids import NOT_PRESERVED_TAG
from whitecap.engine.conflicts.winner import ROW_TRACKING_ONLY_TAG, WinningCommit
from whitecap.engine.log import properties
from whitecap.engine.log.actions import Metadata, Protocol
from whitecap.engine.log.column_keys import COLUMN_ID, PHYSICAL_NAME
from whitecap.engine.log.columns.mapping import mode_of
from whitecap.engine.log.features import feature_keys
from whitecap.engine.log.features.protocols import supports
from whitecap.engine.log.schema import Field, schema_of_metadata
from whitecap.engine.outcomes import Verdict
from whitecap.engine.rules import Rule
from whitecap.engine.settings import Settings

COLUMN_MAPPING_KEYS = frozenset(
    {
        COLUMN_ID,
        PHYSICAL_NAME,
        "delta.columnMapping.nested.ids",
        "parquet.field.id",
        "parquet.field.nested.ids",
    }
)
"""Field metadata that column mapping owns. Source: `COLUMN_MAPPING_METADATA_KEYS`."""

UC_TABLE_ID = "io.unitycatalog.tableId"


def check_metadata(
    current: CurrentTransaction, winner: WinningCommit, settings: Settings
) -> CurrentTransaction | Verdict:
    """Adopt the winner's metadata where that is safe, else conflict."""
    if winner.metadata is None:
        return current
    if current.checks.any_metadata_conflicts:
        return _conflict(current, winner, "metadata changed")
    if not settings.resolve_feature_enablement:
        return _without_resolution(current, winner)
    if current.metadata_changed:
        return _conflict(current, winner, "both commits change the metadata")
    if winner.updates_identity_only:
        return current
    objection = _objection(current, winner.metadata)
    if objection is not None:
        return _conflict(current, winner, objection)
    return _adopted(current, winner.metadata)


def _without_resolution(
    current: CurrentTransaction, winner: WinningCommit
) -> CurrentTransaction | Verdict:
    """Source: `checkNoMetadataUpdates`, `RowTracking.canResolveMetadataUpdateConflict`."""
    assert winner.metadata is not None
    if current.metadata_changed:
        return _conflict(current, winner, "both commits change the metadata")
    enables_row_tracking = winner.is_tagged(ROW_TRACKING_ONLY_TAG)
    if enables_row_tracking and supports(current.protocol, feature_keys.ROW_TRACKING):
        return _tagged(replace(current, metadata=winner.metadata))
    if winner.updates_identity_only:
        return current
    return _conflict(current, winner, "metadata changed")


def _conflict(current: CurrentTransaction, winner: WinningCommit, evidence: str) -> Verdict:
    return commit_verdict(Rule.METADATA, current, winner, evidence)


def _adopted(current: CurrentTransaction, metadata: Metadata) -> CurrentTransaction:
    """In memory only: the commit carries no Metadata action for it."""
    changes = ConfigurationChanges.between(current.metadata, metadata)
    enables = changes.set_to.get(properties.ROW_TRACKING.key, "false").lower() == "true"
    current = replace(current, metadata=metadata)
    return _tagged(current) if enables else current


def _tagged(current: CurrentTransaction) -> CurrentTransaction:
    """Rows written before row tracking was on have no stable ids.

    Source: `RowTracking.addRowTrackingNotPreservedTag`.
    """
    tags = {**(current.commit_info.tags or {}), **NOT_PRESERVED_TAG}
    return current.with_commit_info(tags=tags)


def _objection(current: CurrentTransaction, new: Metadata) -> str | None:
    """Why the winner's metadata cannot be adopted, `None` if it can."""
    old = current.metadata
    differing = _differing_fields(old, new)
    others = differing - {"configuration", "schemaString"}
    if others:
        return f"changed: {', '.join(sorted(others))}"
    if "configuration" in differing:
        objection = _configuration_objection(old, new, current.protocol)
        if objection is not None:
            return objection
    if "schemaString" in differing and not _only_maps_columns(old, new):
        return "changed: schemaString"
    return None


def _differing_fields(old: Metadata, new: Metadata) -> frozenset[str]:
    """Names of the metadata fields that differ, as in the log. Source: `diffFieldNames`."""
    return frozenset(
        field.encode_name
        for field in msgspec.structs.fields(Metadata)
        if getattr(old, field.name) != getattr(new, field.name)
    )


class ConfigurationChanges(Struct, frozen=True):
    """How table properties differ between two metadata."""

    removed: frozenset[str]
    added: Mapping[str, str]
    changed: Mapping[str, str]

    @classmethod
    def between(cls, old: Metadata, new: Metadata) -> ConfigurationChanges:
        before, after = old.configuration, new.configuration
        return cls(
            removed=frozenset(before.keys() - after.keys()),
            added={key: value for key, value in after.items() if key not in before},
            changed={
                key: value for key, value in after.items() if key in before and before[key] != value
            },
        )

    @property
    def set_to(self) -> Mapping[str, str]:
        """Every added or changed property with its new value."""
        return {**self.added, **self.changed}


class _Change(Struct, frozen=True):
    """One added or changed property, with what its validity may depend on."""

    value: str
    is_new: bool
    old: Metadata
    new: Metadata
    protocol: Protocol

    @property
    def is_true(self) -> bool:
        return self.value.lower() == "true"


def _enables(feature: str) -> Callable[[_Change], bool]:
    return lambda change: change.is_true and supports(change.protocol, feature)


def _row_tracking_stays_on(change: _Change) -> bool:
    return change.new.configuration.get(properties.ROW_TRACKING.key, "false").lower() == "true"


def _maps_columns(change: _Change) -> bool:
    turned_on = _turns_on_name_mapping(change.old, change.new)
    return turned_on and supports(change.protocol, feature_keys.COLUMN_MAPPING)


def _uses_v2_checkpoints(change: _Change) -> bool:
    return change.value.lower() == "v2" and supports(change.protocol, feature_keys.V2_CHECKPOINT)


def _catalog_may_set(change: _Change) -> bool:
    return change.is_new or not supports(change.protocol, feature_keys.CATALOG_MANAGED)


_ALLOWED: Mapping[str, Callable[[_Change], bool]] = {
    properties.ROW_TRACKING.key: _enables(feature_keys.ROW_TRACKING),
    properties.ROW_ID_COLUMN: _row_tracking_stays_on,
    properties.ROW_COMMIT_VERSION_COLUMN: _row_tracking_stays_on,
    properties.COLUMN_MAPPING_MODE.key: _maps_columns,
    properties.MAX_COLUMN_ID: lambda _: True,
    properties.DELETION_VECTORS.key: _enables(feature_keys.DELETION_VECTORS),
    properties.CHECKPOINT_POLICY.key: _uses_v2_checkpoints,
    properties.IN_COMMIT_TIMESTAMPS.key: _enables(feature_keys.IN_COMMIT_TIMESTAMP),
    properties.ICT_ENABLEMENT_VERSION: lambda change: change.is_new,
    properties.ICT_ENABLEMENT_TIMESTAMP: lambda change: change.is_new,
    UC_TABLE_ID: _catalog_may_set,
}
"""When a property that a winner set does not disturb.

Source: `metadataConfigurationChangeAllowList`.
"""


def _configuration_objection(old: Metadata, new: Metadata, protocol: Protocol) -> str | None:
    changes = ConfigurationChanges.between(old, new)
    if changes.removed:
        return f"unset: {', '.join(sorted(changes.removed))}"
    for key, value in sorted(changes.set_to.items()):
        valid = _ALLOWED.get(key)
        change = _Change(value, key in changes.added, old, new, protocol)
        if valid is None or not valid(change):
            return f"{key}={value}"
    return None


def _turns_on_name_mapping(old: Metadata, new: Metadata) -> bool:
    return mode_of(old) == "none" and mode_of(new) == "name"


def _only_maps_columns(old: Metadata, new: Metadata) -> bool:
    """Whether schemas differ only by what switching column mapping on adds to each column.

    Nested types are compared whole. Source: `checkSchemaChangesForConflicts`.
    """
    before, after = schema_of_metadata(old).fields, schema_of_metadata(new).fields
    if len(before) != len(after) or not _turns_on_name_mapping(old, new):
        return False
    return all(_same_but_for_mapping(*pair) for pair in zip(before, after, strict=True))


def _same_but_for_mapping(field: Field, other: Field) -> bool:
    same = (field.name, field.type, field.nested, field.nullable) == (
        other.name,
        other.type,
        other.nested,
        other.nullable,
    )
    keys = field.metadata.keys() | other.metadata.keys()
    differing = {key for key in keys if _value(field, key) != _value(other, key)}
    return same and differing <= COLUMN_MAPPING_KEYS


_ABSENT = object()


def _value(field: Field, key: str) -> object:
    return field.metadata.get(key, _ABSENT)
