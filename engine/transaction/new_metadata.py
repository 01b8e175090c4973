"""Completing the metadata that a command sets, before it becomes an action.

Source: `OptimisticTransaction.scala: updateMetadataInternal`; `DeltaConfig.scala:
mergeGlobalConfigs`; `MaterializedRowTrackingColumn.scala: updateMaterializedColumnName`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from whitecap.engine.log import properties
from whitecap.engine.log.actions import Metadata, Protocol
from whitecap.engine.log.column_keys import COLUMN_ID, PHYSICAL_NAME
from whitecap.engine.log.columns.mapping import is_mapped
from whitecap.engine.log.features import feature_keys
from whitecap.engine.log.features.protocols import (
    DEFAULT_PROTOCOL,
    protocol_of_new_table,
    supports,
    upgraded_for,
    without_protocol_properties,
)
from whitecap.engine.log.features.table_features import (
    FEATURES_READER_VERSION,
    FEATURES_WRITER_VERSION,
)
from whitecap.engine.log.schema import Field, Schema, schema_of_metadata, schema_string
from whitecap.engine.refusals import feature_errors
from whitecap.engine.settings import Settings
from whitecap.engine.transaction.metadata_checks import check_joining

_ROW_TRACKING_COLUMNS = {
    properties.ROW_ID_COLUMN: "_row-id-col-",
    properties.ROW_COMMIT_VERSION_COLUMN: "_row-commit-version-col-",
}


def with_session_defaults(metadata: Metadata, settings: Settings) -> Metadata:
    """New tables get the session's default properties where they set none themselves."""
    configuration = {**settings.property_defaults, **metadata.configuration}
    return replace(metadata, configuration=configuration)


def protocol_with(
    metadata: Metadata,
    protocol: Protocol | None,
    creates_table: bool,
    previews: frozenset[str] = frozenset(),
) -> Protocol:
    """The protocol that the metadata needs on top of what there is, `previews` by their preview.

    Raises `DeltaError` for features that an existing table gets only if asked by name.
    """
    if creates_table:
        return protocol_of_new_table(metadata, previews)
    base = protocol or DEFAULT_PROTOCOL
    check_joining(metadata, base)
    _check_versions(metadata.configuration, base)
    return upgraded_for(base, metadata, previews)


def _check_versions(configuration: Mapping[str, str], base: Protocol) -> None:
    """Who lists what readers need lists what writers need: 7 goes with 3.

    Source: `actions.scala: Protocol`, made of the properties where they are set.
    """
    reader = int(configuration.get(properties.MIN_READER_VERSION, base.min_reader_version))
    writer = int(configuration.get(properties.MIN_WRITER_VERSION, base.min_writer_version))
    if reader >= FEATURES_READER_VERSION and writer < FEATURES_WRITER_VERSION:
        raise feature_errors.readers_features_alone()


def _with_column_ids(
    metadata: Metadata, old: Metadata | None, unique: str, is_overwritten: bool
) -> Metadata:
    """Under column mapping every column gets an id and a name in the files, once.

    Columns that were there before keep their names in the files; others get unique ones. Where a
    schema is overwritten, a column of the same name and type keeps its id too. Source:
    `DeltaColumnMapping.scala: assignColumnIdAndPhysicalName`.
    """
    if not is_mapped(metadata):
        return metadata
    before = schema_of_metadata(old)
    old_names = set() if is_overwritten else set(before.names)
    number = int(metadata.configuration.get(properties.MAX_COLUMN_ID, 0))
    fields = []
    for field in schema_of_metadata(metadata):
        kept = _kept_mapping(field, before) if is_overwritten else {}
        field = replace(field, metadata={**kept, **field.metadata})
        number = max(number, int(field.metadata.get(COLUMN_ID, number + 1)))
        physical = field.name if field.name in old_names else f"col-{unique}-{number}"
        named = {COLUMN_ID: number, PHYSICAL_NAME: physical, **field.metadata}
        fields.append(replace(field, metadata=named))
    return replace(
        metadata,
        schema_string=schema_string(Schema(tuple(fields))),
        configuration={**metadata.configuration, properties.MAX_COLUMN_ID: str(number)},
    )


def _kept_mapping(field: Field, before: Schema) -> dict[str, Any]:
    """The id and the name in files of the column that a column takes the place of."""
    existing = before.get(field.name)
    if existing is None or existing.type != field.type:
        return {}
    return {key: existing.metadata[key] for key in (COLUMN_ID, PHYSICAL_NAME)}


def as_stored(
    metadata: Metadata, protocol: Protocol, old: Metadata | None, unique: str, creates_table: bool
) -> Metadata:
    """The metadata as the log keeps it: no protocol properties, row id columns named.

    `unique` makes the names unique: Delta takes a fresh UUID, here it is the transaction's id.
    """
    is_overwritten = is_mapped(old) and not creates_table
    plain = without_protocol_properties(metadata)
    stored = _with_column_ids(plain, old, unique, is_overwritten)
    return with_row_id_columns(stored, protocol, old, unique)


def with_row_id_columns(
    stored: Metadata, protocol: Protocol | None, old: Metadata | None, unique: str
) -> Metadata:
    """The metadata with names for the columns of row ids, if the protocol knows row tracking.

    Source: `MaterializedRowTrackingColumn.scala: updateMaterializedColumnName`.
    """
    if protocol is None or not supports(protocol, feature_keys.ROW_TRACKING):
        return stored
    kept = {} if old is None else old.configuration
    names = {
        key: kept.get(key, prefix + unique)
        for key, prefix in _ROW_TRACKING_COLUMNS.items()
        if key not in stored.configuration
    }
    return replace(stored, configuration={**stored.configuration, **names})
