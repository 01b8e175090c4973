"""The arithmetic of protocols: which features one supports, and which protocol supports features.

A protocol supports a feature explicitly (its feature lists name it) or, in the old numbering,
implicitly (its versions reach the feature's). Source: PROTOCOL.md "Table Features"; actions.scala
`Protocol`, `TableFeatureSupport`.
"""

from __future__ import annotations

from collections.abc import Iterable, Set
from functools import lru_cache

from msgspec.structs import replace

from whitecap.engine.log import properties
from whitecap.engine.log.actions import Metadata, Protocol
from whitecap.engine.log.features.table_features import (
    FEATURES,
    FEATURES_READER_VERSION,
    FEATURES_WRITER_VERSION,
)
from whitecap.engine.remembered import once_for_each


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
        for feature in FEATURES.values()
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


def required_features(
    metadata: Metadata, supported: Set[str], previews: Set[str] = frozenset()
) -> frozenset[str]:
    """The features that properties and columns switch on, with what these need.

    Not those for which a feature that is `supported` stands in. Of the features in `previews` it is
    their preview.
    """
    on = (name for name in _switched_on(metadata) if FEATURES[name].stand_in not in supported)
    as_preview = previews - supported
    return _with_needs(_stand_in(name) if name in as_preview else name for name in on)


def _stand_in(name: str) -> str:
    return FEATURES[name].stand_in or name


@once_for_each
def _switched_on(metadata: Metadata) -> tuple[str, ...]:
    return tuple(feature.name for feature in FEATURES.values() if feature.required_by(metadata))


@once_for_each
def _requested_features(metadata: Metadata) -> frozenset[str]:
    """The features named by properties `delta.feature.<name>`.

    Source: TableFeatureProtocolUtils.getSupportedFeaturesFromTableConfigs.
    """
    prefix = properties.FEATURE_PREFIX
    named = (key.removeprefix(prefix) for key in metadata.configuration if key.startswith(prefix))
    return _with_needs(named)


def asks_for_unlisted(protocol: Protocol | None, metadata: Metadata) -> bool:
    """Whether properties name a feature that the protocol does not list, though it may imply it.

    Delta writes the protocol then, be it the same. Source: OptimisticTransaction.scala
    (`updateMetadataInternal`: existingFeatureNames); seen on Delta Lake 4.4.0.
    """
    lists = protocol is not None and protocol.min_writer_version >= FEATURES_WRITER_VERSION
    listed = feature_names(protocol) if lists else frozenset()
    return not _requested_features(metadata) <= listed


def _wanted(
    protocol: Protocol, metadata: Metadata, previews: Set[str] = frozenset()
) -> frozenset[str]:
    """What the metadata switches on or asks for by name, on a table of this protocol."""
    requested = _requested_features(metadata)
    return requested | required_features(metadata, feature_names(protocol) | requested, previews)


# Source: DeltaSQLConf.scala protocol.minReaderVersion / minWriterVersion, defaults 1 and 2.
DEFAULT_PROTOCOL = Protocol(1, 2)


def protocol_of_new_table(metadata: Metadata, previews: Set[str] = frozenset()) -> Protocol:
    """What version 0 gets without a protocol of its own. Source: `Protocol.forNewTable`."""
    base = merged(DEFAULT_PROTOCOL, _protocol_of_versions(metadata))
    return with_features(base, _wanted(base, metadata, previews))


def upgraded_for(
    protocol: Protocol, metadata: Metadata, previews: Set[str] = frozenset()
) -> Protocol:
    """The protocol of an existing table once `metadata` is in force; the same if it suffices.

    Source: OptimisticTransaction.scala `setNewProtocolWithFeaturesEnabledByMetadata`.
    """
    wanted = with_features(protocol, _wanted(protocol, metadata, previews))
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
    return replace(metadata, configuration=kept)


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
