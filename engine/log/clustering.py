"""What a log says of liquid clustering: a table feature, and a metadata domain with the columns.

Source: ClusteringMetadataDomain.scala, ClusteredTableUtils.scala.
"""

from __future__ import annotations

import json

from whitecap.engine.log.actions import DomainMetadata
from whitecap.engine.log.schema import Schema
from whitecap.engine.log.snapshot import Snapshot

CLUSTERING_DOMAIN = "delta.clustering"
CLUSTERING_FEATURE = "delta.feature.clustering"


def clustering_columns(snapshot: Snapshot) -> tuple[str, ...]:
    """The columns that the table is clustered by, by their names now."""
    domain = snapshot.domains.get(CLUSTERING_DOMAIN)
    return () if domain is None else _columns_in(domain, snapshot.schema)


def _columns_in(domain: DomainMetadata, schema: Schema) -> tuple[str, ...]:
    """The columns in a clustering domain, which knows them by their names in files."""
    physical = [parts[0] for parts in json.loads(domain.configuration)["clusteringColumns"]]
    logical = {column.physical_name: column.name for column in schema}
    return tuple(logical.get(name, name) for name in physical)
