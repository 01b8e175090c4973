"""Table features: what each needs, what switches it on, and which versions stand for it.

Source: PROTOCOL.md "Table Features"; TableFeature.scala.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from whitecap.engine.log import properties
from whitecap.engine.log.actions import Metadata
from whitecap.engine.log.column_keys import (
    GENERATION_EXPRESSION,
    IDENTITY_ALLOWS_EXPLICIT_INSERT,
    IDENTITY_START,
    IDENTITY_STEP,
    INVARIANTS,
)
from whitecap.engine.log.features.feature_keys import (
    CATALOG_MANAGED,
    CHECK_CONSTRAINTS,
    CHECKPOINT_PROTECTION,
    CLUSTERING,
    COLUMN_DEFAULTS,
    COLUMN_MAPPING,
    DELETION_VECTORS,
    DOMAIN_METADATA,
    IN_COMMIT_TIMESTAMP,
    MATERIALIZED_PARTITIONS,
    ROW_TRACKING,
    TYPE_WIDENING,
    TYPE_WIDENING_PREVIEW,
    V2_CHECKPOINT,
    VACUUM_PROTOCOL_CHECK,
)
from whitecap.engine.log.properties import Configuration, TableProperty
from whitecap.engine.log.schema import schema_of_metadata

FEATURES_READER_VERSION, FEATURES_WRITER_VERSION = 3, 7
"""The versions from which on features are listed by name. Source: PROTOCOL.md "Table Features"."""

Requirement = Callable[[Metadata], bool]


def _never(_: Metadata) -> bool:
    return False


class TableFeature(Struct, frozen=True, eq=False):
    """One feature.

    `legacy_versions`: the (reader, writer) versions that imply it, if it is older than features by
    name. `required_by`: whether a table's metadata switches it on. `joins_existing`: whether that
    upgrades the protocol of an existing table by itself. `stand_in`: the feature that does as well,
    a preview or what came of one: a table that supports it does not get this one by its metadata.
    `fails_concurrent`: whether adding it aborts concurrent transactions where that check is on.
    """

    name: str
    reader_writer: bool = False
    legacy_versions: tuple[int, int] | None = None
    needs: tuple[str, ...] = ()
    required_by: Requirement = _never
    joins_existing: bool = True
    stand_in: str | None = None
    fails_concurrent: bool = True

    @property
    def versions(self) -> tuple[int, int]:
        """The lowest reader and writer versions that can support it."""
        if self.legacy_versions is not None:
            return self.legacy_versions
        return (FEATURES_READER_VERSION if self.reader_writer else 1, FEATURES_WRITER_VERSION)


def _configured(holds: Callable[[Configuration], bool]) -> Requirement:
    return lambda metadata: holds(metadata.configuration)


def _on(flag: TableProperty[bool]) -> Requirement:
    return _configured(flag.of)


def _set_to_true(key: str) -> Requirement:
    return lambda metadata: metadata.configuration.get(key, "").lower() == "true"


def _column_has(*keys: str) -> Requirement:
    def holds(metadata: Metadata) -> bool:
        columns = schema_of_metadata(metadata)
        return any(key in column.metadata for column in columns for key in keys)

    return holds


def _column_type(name: str) -> Requirement:
    return lambda metadata: any(
        name in _type_words(column.type) for column in schema_of_metadata(metadata)
    )


def _type_words(simple_type: str) -> list[str]:
    """The type names inside a simple string, without those of struct members."""
    for mark in "<>,:":
        simple_type = simple_type.replace(mark, " ")
    return simple_type.split()


def _has_constraint(metadata: Metadata) -> bool:
    return any(key.startswith(properties.CONSTRAINT_PREFIX) for key in metadata.configuration)


_IDENTITY = (IDENTITY_START, IDENTITY_STEP, IDENTITY_ALLOWS_EXPLICIT_INSERT)

_ALL = (
    TableFeature(
        "appendOnly", legacy_versions=(1, 2), required_by=_on(properties.APPEND_ONLY),
        fails_concurrent=False,
    ),
    TableFeature(
        "invariants", legacy_versions=(1, 2), required_by=_column_has(INVARIANTS)
    ),
    TableFeature(CHECK_CONSTRAINTS, legacy_versions=(1, 3), required_by=_has_constraint),
    TableFeature(
        "changeDataFeed", legacy_versions=(1, 4), required_by=_on(properties.CHANGE_DATA_FEED),
        fails_concurrent=False,
    ),
    TableFeature(
        "generatedColumns", legacy_versions=(1, 4),
        required_by=_column_has(GENERATION_EXPRESSION),
    ),
    TableFeature(
        COLUMN_MAPPING, reader_writer=True, legacy_versions=(2, 5),
        required_by=_configured(properties.maps_columns), fails_concurrent=False,
    ),
    TableFeature("identityColumns", legacy_versions=(1, 6), required_by=_column_has(*_IDENTITY)),
    TableFeature(
        "timestampNtz", reader_writer=True, required_by=_column_type("timestamp_ntz"),
        joins_existing=False, fails_concurrent=False,
    ),
    TableFeature(
        DELETION_VECTORS, reader_writer=True, required_by=_on(properties.DELETION_VECTORS),
        fails_concurrent=False,
    ),
    TableFeature(
        ROW_TRACKING, needs=(DOMAIN_METADATA,), required_by=_on(properties.ROW_TRACKING),
        fails_concurrent=False,
    ),
    TableFeature(DOMAIN_METADATA, fails_concurrent=False),
    TableFeature(
        V2_CHECKPOINT, reader_writer=True,
        required_by=_configured(properties.makes_v2_checkpoints), fails_concurrent=False,
    ),
    TableFeature(
        IN_COMMIT_TIMESTAMP, required_by=_on(properties.IN_COMMIT_TIMESTAMPS),
        fails_concurrent=False,
    ),
    TableFeature(
        TYPE_WIDENING, reader_writer=True, required_by=_on(properties.TYPE_WIDENING),
        stand_in=TYPE_WIDENING_PREVIEW, fails_concurrent=False,
    ),
    TableFeature(TYPE_WIDENING_PREVIEW, reader_writer=True, fails_concurrent=False),
    TableFeature(COLUMN_DEFAULTS),
    TableFeature(
        "icebergCompatV1", needs=(COLUMN_MAPPING,), fails_concurrent=False,
        required_by=_set_to_true(properties.ICEBERG_COMPAT + "V1"),
    ),
    TableFeature(
        "icebergCompatV2", needs=(COLUMN_MAPPING,), fails_concurrent=False,
        required_by=_set_to_true(properties.ICEBERG_COMPAT + "V2"),
    ),
    TableFeature(
        "icebergCompatV3", needs=(COLUMN_MAPPING, ROW_TRACKING), fails_concurrent=False,
        required_by=_set_to_true(properties.ICEBERG_COMPAT + "V3"),
    ),
    TableFeature(CLUSTERING, needs=(DOMAIN_METADATA,)),
    TableFeature(VACUUM_PROTOCOL_CHECK, reader_writer=True, fails_concurrent=False),
    TableFeature(
        "variantType", reader_writer=True, required_by=_column_type("variant"),
        stand_in="variantType-preview",
    ),
    TableFeature("variantType-preview", reader_writer=True),
    TableFeature("variantShredding", reader_writer=True, needs=("variantType",)),
    TableFeature(
        "variantShredding-preview", reader_writer=True,
        required_by=_set_to_true(properties.VARIANT_SHREDDING), stand_in="variantShredding",
    ),
    TableFeature("geospatial", reader_writer=True),
    TableFeature("geospatial-dev", reader_writer=True),
    TableFeature(
        MATERIALIZED_PARTITIONS,
        required_by=_set_to_true(properties.MATERIALIZED_PARTITIONS),
    ),
    TableFeature(CHECKPOINT_PROTECTION),
    TableFeature("coordinatedCommits-preview", needs=(IN_COMMIT_TIMESTAMP, VACUUM_PROTOCOL_CHECK)),
    TableFeature(
        CATALOG_MANAGED, reader_writer=True, fails_concurrent=False,
        needs=(IN_COMMIT_TIMESTAMP, VACUUM_PROTOCOL_CHECK),
    ),
)  # fmt: skip

FEATURES: dict[str, TableFeature] = {feature.name: feature for feature in _ALL}
"""Every feature known here, by name."""
