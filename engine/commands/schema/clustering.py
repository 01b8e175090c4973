"""Clustered tables: how a table becomes one, and which of its files are clustered yet.

Source: ClusteredTableUtils.scala, ClusteringMetadataDomain.scala, ZCubeInfo.scala, ZCube.scala,
OptimizeTableStrategy.scala (ClusteringStrategy).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import groupby

import msgspec

from whitecap.engine.column_names import quoted_if_needed
from whitecap.engine.dialects import Dialect
from whitecap.engine.log import properties
from whitecap.engine.log.actions import AddFile, DomainMetadata, Metadata
from whitecap.engine.log.clustering import CLUSTERING_DOMAIN, CLUSTERING_FEATURE
from whitecap.engine.log.features import supports
from whitecap.engine.log.schema import schema_of_metadata
from whitecap.engine.log.snapshot import Snapshot
from whitecap.engine.log.statistics import has_bounds, without_statistics
from whitecap.engine.refusals import command_errors

PROVIDER = "liquid"
"""Who clustered a file. Source: ClusteredTableUtils.scala (clusteringProvider)."""

_CUBE_ID, _CUBE_COLUMNS = "ZCUBE_ID", "ZCUBE_ZORDER_BY"


def supports_clustering(snapshot: Snapshot) -> bool:
    """Whether the table has the feature, with or without clustering columns."""
    return supports(snapshot.protocol, "clustering")


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


def repeated(names: Sequence[str]) -> str | None:
    """The first name that stands there twice, in any case."""
    seen: set[str] = set()
    for name in names:
        if name.lower() in seen:
            return name
        seen.add(name.lower())
    return None


def check_cluster_list(names: Sequence[str]) -> None:
    """Raises `DeltaError` for a column named twice, and for too many columns.

    Source: ClusteredTableUtils.scala (validateNumClusteringColumns), ClusterBySpec.scala.
    """
    twice = repeated(names)
    if twice is not None:
        raise command_errors.clustered_twice(twice)
    if len(names) > _MOST_COLUMNS:
        raise command_errors.too_many_cluster_columns(len(names), _MOST_COLUMNS)


def check_clustering(columns: Sequence[str], metadata: Metadata) -> None:
    """Raises `DeltaError` for columns that a table cannot be clustered by.

    Source: ClusteredTableUtils.scala (validateClusteringColumnsInStatsSchema and its neighbours).
    """
    schema = schema_of_metadata(metadata)
    fields = [schema.fields[schema.index(name)] for name in columns]
    unfit = [(field.name, field.type) for field in fields if not has_bounds(field)]
    if unfit:
        raise command_errors.clustering_by_type(unfit)
    unindexed = without_statistics([field.name for field in fields], metadata)
    if unindexed:
        raise command_errors.clustering_without_statistics(unindexed)


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


def in_cube(file: AddFile, cube_id: str, columns: Sequence[str]) -> AddFile:
    """The file as clustering writes it: part of a cube."""
    tags = {_CUBE_ID: cube_id, _CUBE_COLUMNS: msgspec.json.encode(logged_columns(columns)).decode()}
    return msgspec.structs.replace(
        file, tags={**(file.tags or {}), **tags}, clustering_provider=PROVIDER
    )


def _cube_of(file: AddFile) -> str | None:
    """The cube that a file belongs to, `None` for one that was not clustered."""
    return (file.tags or {}).get(_CUBE_ID)


def unclustered(
    files: Sequence[AddFile], columns: Sequence[str], min_cube_bytes: int, full: bool
) -> list[AddFile]:
    """The files that clustering rewrites: those in no cube or in a small one.

    Files of cubes by other columns are left as they are, unless everything is to be clustered.
    Nothing is to do if all that is left is a single cube. Unclustered files come first.
    """
    ordered = sorted(files, key=lambda file: (_cube_of(file) or "", file.path))
    candidates = [file for file in ordered if _is_candidate(file, columns)]
    skipped = [file for file in ordered if not _is_candidate(file, columns)]
    small = [
        file
        for cube, members in groupby(candidates, key=_cube_of)
        for file in _unless_large(cube, list(members), min_cube_bytes)
    ]
    if full and skipped:
        return [*small, *skipped]
    cubes = {_cube_of(file) for file in small}
    return [] if len(cubes) == 1 and None not in cubes else small


def _is_candidate(file: AddFile, columns: Sequence[str]) -> bool:
    by = (file.tags or {}).get(_CUBE_COLUMNS)
    same_columns = by is None or json.loads(by) == logged_columns(columns)
    return file.clustering_provider in (None, PROVIDER) and same_columns


def _unless_large(cube: str | None, files: list[AddFile], min_cube_bytes: int) -> list[AddFile]:
    is_large = cube is not None and sum(file.size for file in files) >= min_cube_bytes
    return [] if is_large else files
