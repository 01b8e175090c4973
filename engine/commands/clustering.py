"""Clustered tables: the columns in the log's domain, and which files are clustered yet.

Source: ClusteredTableUtils.scala, ClusteringMetadataDomain.scala, ZCubeInfo.scala, ZCube.scala,
OptimizeTableStrategy.scala (ClusteringStrategy).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import groupby

import msgspec

from engine.log.actions import AddFile, DomainMetadata, Metadata
from engine.log.features import supports
from engine.log.schema import Schema, schema_of_metadata
from engine.log.snapshot import Snapshot

CLUSTERING_DOMAIN = "delta.clustering"
CLUSTERING_FEATURE = "delta.feature.clustering"
PROVIDER = "liquid"
_CUBE_ID, _CUBE_COLUMNS, _CURVE = "ZCUBE_ID", "ZCUBE_ZORDER_BY", "ZCUBE_ZORDER_CURVE"


def is_clustered(snapshot: Snapshot) -> bool:
    """Whether the table has the feature, with or without clustering columns."""
    return supports(snapshot.protocol, "clustering")


def clustering_columns(snapshot: Snapshot) -> tuple[str, ...]:
    """The columns that the table is clustered by, by their names now."""
    domain = snapshot.domains.get(CLUSTERING_DOMAIN)
    return () if domain is None else columns_of(domain, snapshot.schema)


def columns_of(domain: DomainMetadata, schema: Schema) -> tuple[str, ...]:
    """The columns in a clustering domain, which knows them by their names in files."""
    physical = [parts[0] for parts in json.loads(domain.configuration)["clusteringColumns"]]
    logical = {column.physical_name: column.name for column in schema}
    return tuple(logical.get(name, name) for name in physical)


def clustering_domain(columns: Sequence[str], metadata: Metadata) -> DomainMetadata:
    """The action that makes the table clustered by these columns."""
    schema = schema_of_metadata(metadata)
    paths = [[schema.fields[schema.index(name)].physical_name] for name in columns]
    told = {"clusteringColumns": paths, "domainName": CLUSTERING_DOMAIN}
    text = json.dumps(told, separators=(",", ":"))
    return DomainMetadata(domain=CLUSTERING_DOMAIN, configuration=text, removed=False)


def in_cube(file: AddFile, cube_id: str, columns: Sequence[str]) -> AddFile:
    """The file as clustering writes it: part of a cube."""
    tags = {_CUBE_ID: cube_id, _CUBE_COLUMNS: json.dumps(list(columns)), _CURVE: "hilbert"}
    return msgspec.structs.replace(
        file, tags={**(file.tags or {}), **tags}, clustering_provider=PROVIDER
    )


def cube_of(file: AddFile) -> str | None:
    """The cube that a file belongs to, `None` for one that was not clustered."""
    return (file.tags or {}).get(_CUBE_ID)


def unclustered(
    files: Sequence[AddFile], columns: Sequence[str], min_cube_bytes: int, full: bool
) -> list[AddFile]:
    """The files that clustering rewrites: those in no cube or in a small one.

    Files of cubes by other columns are left as they are, unless everything is to be clustered.
    Nothing is to do if all that is left is a single cube. Unclustered files come first.
    """
    ordered = sorted(files, key=lambda file: (cube_of(file) or "", file.path))
    candidates = [file for file in ordered if _is_candidate(file, columns)]
    skipped = [file for file in ordered if not _is_candidate(file, columns)]
    small = [
        file
        for cube, members in groupby(candidates, key=cube_of)
        for file in _unless_large(cube, list(members), min_cube_bytes)
    ]
    if full and skipped:
        return [*small, *skipped]
    cubes = {cube_of(file) for file in small}
    return [] if len(cubes) == 1 and None not in cubes else small


def _is_candidate(file: AddFile, columns: Sequence[str]) -> bool:
    by = (file.tags or {}).get(_CUBE_COLUMNS)
    same_columns = by is None or json.loads(by) == list(columns)
    return file.clustering_provider in (None, PROVIDER) and same_columns


def _unless_large(cube: str | None, files: list[AddFile], min_cube_bytes: int) -> list[AddFile]:
    is_large = cube is not None and sum(file.size for file in files) >= min_cube_bytes
    return [] if is_large else files
