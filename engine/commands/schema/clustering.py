"""Clustered tables: how a table becomes one, and by which columns it may be clustered.

Source: ClusteredTableUtils.scala, ClusteringMetadataDomain.scala.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from whitecap.engine.column_names import quoted_if_needed, repeated
from whitecap.engine.dialects import Dialect
from whitecap.engine.log import properties
from whitecap.engine.log.actions import DomainMetadata, Metadata
from whitecap.engine.log.clustering import CLUSTERING_DOMAIN, CLUSTERING_FEATURE
from whitecap.engine.log.features import feature_keys
from whitecap.engine.log.features.protocols import supports
from whitecap.engine.log.indexed_columns import has_bounds, without_statistics
from whitecap.engine.log.schema import schema_of_metadata
from whitecap.engine.log.snapshot import Snapshot
from whitecap.engine.refusals import table_errors


def supports_clustering(snapshot: Snapshot) -> bool:
    """Whether the table has the feature, with or without clustering columns."""
    return supports(snapshot.protocol, feature_keys.CLUSTERING)


def with_clustering(configuration: Mapping[str, str], dialect: Dialect) -> dict[str, str]:
    """The properties of a table that becomes clustered.

    Databricks gives it deletion vectors unless they are switched off.
    """
    given = (
        {properties.DELETION_VECTORS.key: "true"} if dialect.clustered_tables_get_vectors else {}
    )
    return {**given, **configuration, CLUSTERING_FEATURE: "supported"}


_MOST_COLUMNS = 4
"""Source: DeltaSQLConf.scala (DELTA_NUM_CLUSTERING_COLUMNS_LIMIT)."""


def check_cluster_list(names: Sequence[str]) -> None:
    """Raises `DeltaError` for a column named twice, and for too many columns.

    Source: ClusteredTableUtils.scala (validateNumClusteringColumns), ClusterBySpec.scala.
    """
    twice = repeated(names)
    if twice is not None:
        raise table_errors.clustered_twice(twice)
    if len(names) > _MOST_COLUMNS:
        raise table_errors.too_many_cluster_columns(len(names), _MOST_COLUMNS)


def check_clustering(columns: Sequence[str], metadata: Metadata) -> None:
    """Raises `DeltaError` for columns that a table cannot be clustered by.

    Source: ClusteredTableUtils.scala (validateClusteringColumnsInStatsSchema and its neighbours).
    """
    schema = schema_of_metadata(metadata)
    fields = [schema.fields[schema.index(name)] for name in columns]
    unfit = [(field.name, field.type) for field in fields if not has_bounds(field)]
    if unfit:
        raise table_errors.clustering_by_type(unfit)
    unindexed = without_statistics([field.name for field in fields], metadata)
    if unindexed:
        raise table_errors.clustering_without_statistics(unindexed)


def clustering_domain(columns: Sequence[str], metadata: Metadata) -> DomainMetadata:
    """The action that makes the table clustered by these columns."""
    schema = schema_of_metadata(metadata)
    paths = [[schema.fields[schema.index(name)].physical_name] for name in columns]
    domain_configuration = {"clusteringColumns": paths, "domainName": CLUSTERING_DOMAIN}
    text = msgspec.json.encode(domain_configuration).decode()
    return DomainMetadata(domain=CLUSTERING_DOMAIN, configuration=text, removed=False)


def logged_columns(columns: Sequence[str]) -> list[str]:
    """Columns as tags and commitInfo name them. Source: UnresolvedAttribute.sql."""
    return [quoted_if_needed(name) for name in columns]
