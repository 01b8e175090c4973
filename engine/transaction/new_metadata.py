"""Completing the metadata that a command sets, before it becomes an action.

Source: `OptimisticTransaction.scala: updateMetadataInternal`; `DeltaConfig.scala:
mergeGlobalConfigs`; `MaterializedRowTrackingColumn.scala: updateMaterializedColumnName`.
"""

from __future__ import annotations

import msgspec

from engine.log import properties
from engine.log.actions import Metadata, Protocol
from engine.log.features import (
    DEFAULT_PROTOCOL,
    protocol_of_new_table,
    supports,
    upgraded_for,
    without_protocol_properties,
)
from engine.settings import Settings

_ROW_TRACKING_COLUMNS = {
    properties.ROW_ID_COLUMN: "_row-id-col-",
    properties.ROW_COMMIT_VERSION_COLUMN: "_row-commit-version-col-",
}


def with_session_defaults(metadata: Metadata, settings: Settings) -> Metadata:
    """New tables get the session's default properties where they set none themselves."""
    configuration = {**settings.property_defaults, **metadata.configuration}
    return msgspec.structs.replace(metadata, configuration=configuration)


def protocol_with(metadata: Metadata, protocol: Protocol | None, creates_table: bool) -> Protocol:
    """The protocol that the metadata needs on top of what there is."""
    if creates_table:
        return protocol_of_new_table(metadata)
    return upgraded_for(protocol or DEFAULT_PROTOCOL, metadata)


def as_stored(
    metadata: Metadata, protocol: Protocol, old: Metadata | None, unique: str
) -> Metadata:
    """The metadata as the log keeps it: no protocol properties, row id columns named.

    `unique` makes the names unique: Delta takes a fresh UUID, here it is the transaction's id.
    """
    stored = without_protocol_properties(metadata)
    if not supports(protocol, "rowTracking"):
        return stored
    kept = {} if old is None else old.configuration
    names = {
        key: kept.get(key, prefix + unique)
        for key, prefix in _ROW_TRACKING_COLUMNS.items()
        if key not in stored.configuration
    }
    return msgspec.structs.replace(stored, configuration={**stored.configuration, **names})
