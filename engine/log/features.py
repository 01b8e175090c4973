"""Table features and the arithmetic of protocols.

A protocol supports a feature explicitly (its feature lists name it) or, in the old numbering,
implicitly (its versions reach the feature's). Source: PROTOCOL.md "Table Features";
TableFeature.scala; actions.scala `Protocol`, `TableFeatureSupport`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Set
from dataclasses import dataclass
from functools import lru_cache

import msgspec

from whitecap.engine.log import properties
from whitecap.engine.log.actions import Metadata, Protocol
from whitecap.engine.log.column_keys import (
    GENERATION_EXPRESSION,
    IDENTITY_ALLOWS_EXPLICIT_INSERT,
    IDENTITY_START,
    IDENTITY_STEP,
    INVARIANTS,
)
from whitecap.engine.log.feature_keys import (
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
from whitecap.engine.log.properties import TableProperty
from whitecap.engine.log.schema import schema_of_metadata
from whitecap.engine.remembered import once_for_each

FEATURES_READER_VERSION, FEATURES_WRITER_VERSION = 3, 7
"""The versions from which on features are listed by name. Source: PROTOCOL.md "Table Features"."""

Requirement = Callable[[Metadata], bool]


def _never(_: Metadata) -> bool:
    return False


@dataclass(frozen=True, slots=True, eq=False)
class TableFeature:
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


def _on(flag: TableProperty[bool]) -> Requirement:
    return lambda metadata: flag.of(metadata.configuration)


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


def _maps_columns(metadata: Metadata) -> bool:
    return properties.COLUMN_MAPPING_MODE.of(metadata.configuration) != "none"


def _checkpoints_v2(metadata: Metadata) -> bool:
    return properties.CHECKPOINT_POLICY.of(metadata.configuration) == "v2"


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
        COLUMN_MAPPING, reader_writer=True, legacy_versions=(2, 5), required_by=_maps_columns,
        fails_concurrent=False,
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
        V2_CHECKPOINT, reader_writer=True, required_by=_checkpoints_v2, fails_concurrent=False
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


@once_for_each
def feature_names(protocol: Protocol | None) -> frozenset[str]:
    """The features that a protocol supports, listed or implied; names unknown here included."""
    if protocol is None:
        return frozenset()
    if protocol.min_writer_version >= FEATURES_WRITER_VERSION:
        return frozenset((*(protocol.writer_features or ()), *(protocol.reader_features or ())))
    return _implied_features(protocol.min_reader_version, protocol.min_writer_version)


@lru_cache(maxsize=64)
def _implied_features(reader_version: int, writer_version: int) -> frozenset[str]:
    """The features that versions below 7 imply."""
    return frozenset(
        feature.name
        for feature in _ALL
        if feature.legacy_versions is not None
        and feature.legacy_versions[0] <= reader_version
        and feature.legacy_versions[1] <= writer_version
    )


def supports(protocol: Protocol | None, feature: str) -> bool:
    """Whether a table with this protocol may use a feature."""
    return feature in feature_names(protocol)


def unknown_features(protocol: Protocol) -> tuple[str, ...]:
    """The features that a protocol names and this engine does not know."""
    return tuple(sorted(feature_names(protocol) - FEATURES.keys()))


def _with_needs(names: Iterable[str]) -> frozenset[str]:
    """The features and, in turn, those that they need."""
    needed: set[str] = set()
    pending = list(names)
    while pending:
        name = pending.pop()
        if name not in needed:
            needed.add(name)
            pending.extend(FEATURES[name].needs if name in FEATURES else ())
    return frozenset(needed)


def protocol_for(names: Iterable[str]) -> Protocol:
    """The weakest protocol that supports exactly these features.

    The old numbering where it implies exactly these, else lists by name. Source: actions.scala
    `Protocol.normalized`.
    """
    features = frozenset(names)
    reader, writer = _lowest_versions(features)
    if _implied_features(reader, writer) == features and writer < FEATURES_WRITER_VERSION:
        return Protocol(reader, writer)
    return Protocol(
        reader,
        FEATURES_WRITER_VERSION,
        _readers_list(features) if reader >= FEATURES_READER_VERSION else None,
        sorted(features),
    )


def with_features(protocol: Protocol, names: Iterable[str]) -> Protocol:
    """The protocol that also supports `names` and what they need; the same one if it does already.

    Source: actions.scala `Protocol.merge`.
    """
    have = feature_names(protocol)
    wanted = have | _with_needs(names)
    return protocol if wanted == have else protocol_for(wanted)


def merged(protocol: Protocol, other: Protocol) -> Protocol:
    """The weakest protocol that supports everything that either does."""
    return protocol_for(feature_names(protocol) | feature_names(other))


def required_features(metadata: Metadata, supported: Set[str]) -> frozenset[str]:
    """The features that properties and columns switch on, with what these need.

    Not those for which a feature that is `supported` stands in.
    """
    on = _switched_on(metadata)
    return _with_needs(name for name in on if FEATURES[name].stand_in not in supported)


@once_for_each
def _switched_on(metadata: Metadata) -> tuple[str, ...]:
    return tuple(feature.name for feature in _ALL if feature.required_by(metadata))


@once_for_each
def _requested_features(metadata: Metadata) -> frozenset[str]:
    """The features named by properties `delta.feature.<name>`.

    Source: TableFeatureProtocolUtils.getSupportedFeaturesFromTableConfigs.
    """
    prefix = properties.FEATURE_PREFIX
    named = (key.removeprefix(prefix) for key in metadata.configuration if key.startswith(prefix))
    return _with_needs(named)


def _wanted(protocol: Protocol, metadata: Metadata) -> frozenset[str]:
    """What the metadata switches on or asks for by name, on a table of this protocol."""
    requested = _requested_features(metadata)
    return requested | required_features(metadata, feature_names(protocol) | requested)


# Source: DeltaSQLConf.scala protocol.minReaderVersion / minWriterVersion, defaults 1 and 2.
DEFAULT_PROTOCOL = Protocol(1, 2)


def protocol_of_new_table(metadata: Metadata) -> Protocol:
    """What version 0 gets without a protocol of its own. Source: `Protocol.forNewTable`."""
    base = merged(DEFAULT_PROTOCOL, _protocol_of_versions(metadata))
    return with_features(base, _wanted(base, metadata))


def upgraded_for(protocol: Protocol, metadata: Metadata) -> Protocol:
    """The protocol of an existing table once `metadata` is in force; the same if it suffices.

    Source: OptimisticTransaction.scala `setNewProtocolWithFeaturesEnabledByMetadata`.
    """
    wanted = with_features(protocol, _wanted(protocol, metadata))
    extra = _protocol_of_versions(metadata)
    missing = feature_names(extra) - feature_names(wanted)
    return merged(wanted, extra) if missing else wanted


def needing_manual_upgrade(protocol: Protocol, metadata: Metadata) -> tuple[str, ...]:
    """Features that `metadata` needs, and that do not join an existing table by themselves."""
    requested = _requested_features(metadata)
    missing = _wanted(protocol, metadata) - feature_names(protocol) - requested
    return tuple(sorted(name for name in missing if not FEATURES[name].joins_existing))


def without_protocol_properties(metadata: Metadata) -> Metadata:
    """The metadata as stored: properties that only speak of the protocol are not kept."""
    kept = {
        key: value
        for key, value in metadata.configuration.items()
        if not _is_protocol_property(key)
    }
    return msgspec.structs.replace(metadata, configuration=kept)


def is_upgrade(old: Protocol, new: Protocol) -> bool:
    """Whether `new` keeps everything that `old` supports. Source: `Protocol.canUpgradeTo`."""
    return feature_names(old) <= feature_names(new)


def _is_protocol_property(key: str) -> bool:
    versions = (properties.MIN_READER_VERSION, properties.MIN_WRITER_VERSION)
    return key.startswith(properties.FEATURE_PREFIX) or key in versions


def _protocol_of_versions(metadata: Metadata) -> Protocol:
    """The protocol that `delta.minReaderVersion` and `delta.minWriterVersion` ask for."""
    reader = int(metadata.configuration.get(properties.MIN_READER_VERSION, 1))
    writer = int(metadata.configuration.get(properties.MIN_WRITER_VERSION, 1))
    return Protocol(reader, writer)


def _lowest_versions(features: frozenset[str]) -> tuple[int, int]:
    versions = [FEATURES[name].versions for name in features if name in FEATURES]
    if len(versions) < len(features):
        versions.append((FEATURES_READER_VERSION, FEATURES_WRITER_VERSION))
    return (
        max((reader for reader, _ in versions), default=1),
        max((writer for _, writer in versions), default=1),
    )


def _readers_list(features: frozenset[str]) -> list[str]:
    return sorted(name for name in features if name not in FEATURES or FEATURES[name].reader_writer)
