"""The cubes of a clustered table: which files are put into one, and which are left alone.

Source: ZCubeInfo.scala, ZCube.scala, OptimizeTableStrategy.scala (ClusteringStrategy).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import groupby

import msgspec
from msgspec.structs import replace

from whitecap.engine.commands.maintenance.bins import fill
from whitecap.engine.commands.maintenance.curves import Curve
from whitecap.engine.commands.maintenance.rewriting import Rewrite, RowOrder
from whitecap.engine.commands.schema.clustering import logged_columns
from whitecap.engine.conflicts.operation import Operation
from whitecap.engine.log.actions import AddFile
from whitecap.engine.log.clustering import clustering_columns
from whitecap.engine.transaction.transaction import Transaction

PROVIDER = "liquid"
"""Who clustered a file. Source: ClusteredTableUtils.scala (clusteringProvider)."""

_CUBE_ID = "ZCUBE_ID"
_CUBE_COLUMNS = "ZCUBE_ZORDER_BY"


def into_cubes(
    txn: Transaction,
    job: str,
    files: Sequence[AddFile],
    operation: Operation,
    unique: str,
    full: bool,
) -> Rewrite:
    """Those of the files that are in no large cube yet, into cubes."""
    settings, columns = txn.settings, clustering_columns(txn.snapshot)
    chosen = unclustered(files, columns, settings.min_cube_size, full)
    bins = fill(chosen, max(settings.target_cube_size, settings.min_cube_size))

    def mark(add: AddFile, number: int) -> AddFile:
        return in_cube(add, f"{unique}-{number}" if number else unique, columns)

    order = RowOrder(columns, Curve.HILBERT, settings.optimize_max_file_size)
    return Rewrite(job, (), bins, operation, order, (mark,))


def in_cube(file: AddFile, cube_id: str, columns: Sequence[str]) -> AddFile:
    """The file as clustering writes it: part of a cube."""
    tags = {_CUBE_ID: cube_id, _CUBE_COLUMNS: msgspec.json.encode(logged_columns(columns)).decode()}
    return replace(file, tags={**(file.tags or {}), **tags}, clustering_provider=PROVIDER)


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
