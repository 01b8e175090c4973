"""Whether a Metadata action can be a table's metadata at all.

Source: `OptimisticTransaction.scala: assertMetadata`; `SchemaUtils.scala: checkSchemaFieldNames`,
`checkFieldNames`; `SchemaMergingUtils.scala: checkColumnNameDuplication`;
`DeltaColumnMapping.scala: checkColumnIdAndPhysicalNameAssignments`; `StatisticsCollection.scala:
validateDeltaStatsColumns`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from whitecap.engine.column_names import ColumnPath
from whitecap.engine.errors import RefusedAtCommit
from whitecap.engine.log import properties
from whitecap.engine.log.actions import CHANGE_TYPE_COLUMN, Metadata, Protocol
from whitecap.engine.log.column_keys import COLUMN_ID, CURRENT_DEFAULT, PHYSICAL_NAME
from whitecap.engine.log.columns.mapping import MODES, is_mapped, mode_of
from whitecap.engine.log.features import feature_keys
from whitecap.engine.log.features.protocols import feature_names, needing_manual_upgrade, supports
from whitecap.engine.log.indexed_columns import has_bounds, lower_path
from whitecap.engine.log.schema import Field, Schema, schema_of_metadata
from whitecap.engine.log.snapshot import Snapshot
from whitecap.engine.refusals import commit_errors, feature_errors, property_errors, protocol_errors

INVALID_CHARACTERS = frozenset(" ,;{}()\n\t=")
"""What Parquet column names could not hold when this rule was made."""

FEED_COLUMNS = (CHANGE_TYPE_COLUMN, "_commit_version", "_commit_timestamp")
"""Source: `CDCReader.scala: cdcReadSchema`."""


def check_new_metadata(metadata: Metadata) -> None:
    """Raises `DeltaError` for names that clash or cannot be, and for an incomplete mapping."""
    schema = schema_of_metadata(metadata)
    _check_no_duplicates(schema)
    mode = mode_of(metadata)
    if mode not in MODES:
        raise property_errors.unknown_mapping_mode(mode)
    if mode == "none":
        _check_names(schema, metadata.partition_columns)
    else:
        _check_mapping(schema, metadata, mode)
    _check_partition_columns_exist(schema, metadata.partition_columns)
    _check_statistics_columns(schema, metadata)


def check_joining(metadata: Metadata, protocol: Protocol) -> None:
    """Raises `DeltaError` for features that an existing table gets only if asked by name.

    Source: `OptimisticTransaction.scala: assertMetadataFeaturesAutomaticallySupported`.
    """
    missing = needing_manual_upgrade(protocol, metadata)
    if missing:
        raise protocol_errors.features_need_asking(missing, sorted(feature_names(protocol)))


def check_feed_columns(metadata: Metadata, before: Metadata | None) -> None:
    """Raises `DeltaError` for columns that the change data feed has for itself.

    Source: `OptimisticTransaction.scala: performCdcMetadataCheck`.
    """
    if not properties.CHANGE_DATA_FEED.of(metadata.configuration):
        return
    names = schema_of_metadata(metadata).names
    reserved = [name for name in FEED_COLUMNS if name in names]
    if not reserved:
        return
    if before is not None and properties.CHANGE_DATA_FEED.of(before.configuration):
        raise commit_errors.feed_columns_on_write(reserved)
    raise commit_errors.feed_columns_in_table(reserved)


def check_feed_of_mapped(metadata: Metadata, before: Metadata | None, operation: str) -> None:
    """Raises `DeltaError` for a write to a table with a change feed that alters mapped columns.

    That is, one that begins to map them, drops some or renames some. Source:
    `OptimisticTransaction.scala: performCdcColumnMappingCheck`.
    """
    if not properties.CHANGE_DATA_FEED.of(metadata.configuration) or not is_mapped(metadata):
        return
    new = {column.physical_name: column.name for column in schema_of_metadata(metadata)}
    kept = all(new.get(c.physical_name) == c.name for c in schema_of_metadata(before))
    if not (kept and is_mapped(before)):
        raise commit_errors.feed_of_mapped_columns(operation)


def check_manifests(metadata: Metadata, before: Snapshot) -> None:
    """Raises `DeltaError` for manifests for other readers, who know of no deletion vectors.

    The files of `before` have to be read where it supports vectors. Source: `actions.scala:
    assertTablePropertyConstraintsSatisfied`.
    """
    if not properties.SYMLINK_MANIFESTS.of(metadata.configuration):
        return
    if properties.DELETION_VECTORS.of(metadata.configuration):
        raise property_errors.vectors_beside_manifests(metadata.name or metadata.id)
    if may_need_files(metadata, before) and any(f.deletion_vector for f in before.all_files()):
        raise property_errors.manifests_beside_vectors(metadata.name or metadata.id)


def may_need_files(metadata: Metadata, before: Snapshot) -> bool:
    """Whether `check_manifests` looks at the table's files."""
    has_vectors = supports(before.protocol, feature_keys.DELETION_VECTORS)
    return has_vectors and properties.SYMLINK_MANIFESTS.of(metadata.configuration)


def check_defaults_are_enabled(metadata: Metadata, protocol: Protocol) -> None:
    """Raises `DeltaError` for columns with defaults in a table without the feature for them."""
    if supports(protocol, feature_keys.COLUMN_DEFAULTS):
        return
    if any(CURRENT_DEFAULT in field.metadata for field in schema_of_metadata(metadata)):
        raise feature_errors.defaults_not_enabled()


def _check_no_duplicates(schema: Schema) -> None:
    counted = Counter(name.lower() for name in schema.names)
    repeated = sorted(name for name, count in counted.items() if count > 1)
    if repeated:
        raise commit_errors.duplicate_columns(repeated)


def _check_names(schema: Schema, partition_columns: Sequence[str]) -> None:
    partitions = {name.lower() for name in partition_columns}
    bad = unfit_names(name for name in schema.names if name.lower() not in partitions)
    if bad:
        raise commit_errors.invalid_column_names(bad)
    if unfit_names(partition_columns):
        raise commit_errors.invalid_partition_column_name()


def unfit_names(names: Iterable[str]) -> list[str]:
    """Those that only column mapping lets a column have."""
    return [name for name in names if INVALID_CHARACTERS & set(name)]


def _check_mapping(schema: Schema, metadata: Metadata, mode: str) -> None:
    for field in schema:
        if COLUMN_ID not in field.metadata:
            raise commit_errors.incomplete_mapping("column ID", field.name)
        if PHYSICAL_NAME not in field.metadata:
            raise commit_errors.incomplete_mapping("physical name", field.name)
    repeated = _repeated_id(schema.fields)
    if repeated is not None:
        raise commit_errors.duplicate_column_id(repeated, mode)
    if properties.MAX_COLUMN_ID not in metadata.configuration:
        raise commit_errors.max_column_id_not_set()


def _repeated_id(fields: Sequence[Field]) -> int | None:
    counted = Counter(field.metadata[COLUMN_ID] for field in fields)
    return next((number for number, count in counted.items() if count > 1), None)


def _check_partition_columns_exist(schema: Schema, partition_columns: Sequence[str]) -> None:
    for name in partition_columns:
        if name not in schema.names:
            raise RefusedAtCommit.of(commit_errors.field_not_found(name, schema.names))


def _check_statistics_columns(schema: Schema, metadata: Metadata) -> None:
    """Columns that are named to have statistics: each there, and of a type that has bounds."""
    partitions = {name.lower() for name in metadata.partition_columns}
    leaves: list[str] = []
    for path in properties.STATISTICS_COLUMNS.of(metadata.configuration):
        if ".".join(path).lower() in partitions:
            raise property_errors.statistics_of_partition_column(".".join(path))
        leaves += _bounded_leaves(path, schema)
    repeated = [name for name, count in Counter(leaves).items() if count > 1]
    if repeated:
        raise property_errors.repeated_statistics_columns(repeated)


def _bounded_leaves(path: ColumnPath, schema: Schema) -> list[str]:
    """What lies at and below a path, in the path's own spelling."""
    named = lower_path(path)
    leaves = [leaf for column in schema for leaf in column.leaves]
    below = [leaf for leaf in leaves if lower_path(leaf.path[: len(path)]) == named]
    if not below:
        raise property_errors.column_not_in_schema(".".join(path))
    for leaf in below:
        if not has_bounds(leaf):
            raise property_errors.statistics_of_type(".".join(path), leaf.type)
    return [".".join((*path, *leaf.path[len(path) :])) for leaf in below]
