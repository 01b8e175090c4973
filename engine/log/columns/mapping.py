"""Column mapping: columns known by ids and physical names, so that they can be renamed and dropped.

Source: DeltaColumnMapping.scala (verifyAndUpdateMetadataChange, dropColumnMappingMetadata).
"""

from __future__ import annotations

from msgspec.structs import replace

from whitecap.engine.errors import DeltaError
from whitecap.engine.log.actions import Metadata
from whitecap.engine.log.column_keys import COLUMN_ID, PHYSICAL_NAME
from whitecap.engine.log.properties import COLUMN_MAPPING_MODE, maps_columns
from whitecap.engine.log.schema import Field, Schema

MODES = ("none", "name", "id")

_CHANGES = frozenset({("none", "name"), ("name", "none"), ("id", "none")})
"""The changes of mode that an existing table may make; back to none only by a rewrite."""


def mode_of(metadata: Metadata | None) -> str:
    """`none`, `name` or `id`."""
    if metadata is None:
        return "none"
    return COLUMN_MAPPING_MODE.of(metadata.configuration)


def is_mapped(metadata: Metadata | None) -> bool:
    """Whether columns have names of their own in data files."""
    return metadata is not None and maps_columns(metadata.configuration)


def check_change(old: Metadata, new: Metadata) -> None:
    """Raises `DeltaError` for a change of mode that is not possible."""
    before, after = mode_of(old), mode_of(new)
    if before != after and (before, after) not in _CHANGES:
        raise _mode_change(before, after)


def check_same_mode(old: Metadata, new: Metadata) -> None:
    """Raises `DeltaError` for any change of mode. Source: CloneTableBase.checkColumnMappingMode."""
    before, after = mode_of(old), mode_of(new)
    if before != after:
        raise _mode_change(before, after)


def without_mapping(schema: Schema) -> Schema:
    """The columns without ids and physical names."""
    return Schema(tuple(_unmapped(column) for column in schema))


def _unmapped(column: Field) -> Field:
    kept = {k: v for k, v in column.metadata.items() if k not in (COLUMN_ID, PHYSICAL_NAME)}
    return replace(column, metadata=kept)


def _mode_change(before: str, after: str) -> DeltaError:
    error_class = "DELTA_UNSUPPORTED_COLUMN_MAPPING_MODE_CHANGE"
    text = f"Changing column mapping mode from '{before}' to '{after}' is not supported."
    return DeltaError.of_class("DeltaColumnMappingUnsupportedException", error_class, text)
