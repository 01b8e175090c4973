"""Actions that hide more rows of a live file: with a larger deletion vector, or without the file.

Source: DMLWithDeletionVectorsHelper.scala: processUnmodifiedData, for what such actions look like.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec
from pyroaring import BitMap64

from whitecap.engine.log.actions import AddFile, DeletionVector, RemoveFile
from whitecap.engine.log.statistics import parse_statistics, statistics_text, wide_bounds
from whitecap.engine.log.vectors.deletion_vectors import write_vectors
from whitecap.engine.row_level.changes import RowReader
from whitecap.engine.storage.requests import Steps


@dataclass(frozen=True, slots=True)
class Hiding:
    """A live file and all positions of it that are to be hidden."""

    live: AddFile
    hidden: BitMap64


def hide(
    hidings: Sequence[Hiding], like: RemoveFile, reader: RowReader
) -> Steps[list[AddFile | RemoveFile]]:
    """Each file is removed as it is, `like` another, and added with its new vector if rows stay."""
    adds = yield from with_hidden(hidings, reader, data_change=True)
    return [*(removal(hiding.live, like) for hiding in hidings), *adds]


def with_hidden(
    hidings: Sequence[Hiding], reader: RowReader, data_change: bool
) -> Steps[list[AddFile]]:
    """The files with their new vectors, stored together in one file; emptied ones are left out."""
    covered: list[Hiding] = []
    for hiding in hidings:
        rows = yield from reader.count(hiding.live)
        covered += [hiding] if len(hiding.hidden) < rows else []
    if not covered:
        return []
    vectors = yield from write_vectors([hiding.hidden for hiding in covered])
    return [
        _with_vector(hiding.live, vector, data_change)
        for hiding, vector in zip(covered, vectors, strict=True)
    ]


def removal(live: AddFile, like: RemoveFile) -> RemoveFile:
    """The removal of a live file, at the instant of another removal."""
    return msgspec.structs.replace(
        like,
        path=live.path,
        partition_values=live.partition_values,
        size=live.size,
        tags=live.tags,
        deletion_vector=live.deletion_vector,
        base_row_id=live.base_row_id,
        default_row_commit_version=live.default_row_commit_version,
    )


def _with_vector(live: AddFile, vector: DeletionVector, data_change: bool) -> AddFile:
    """Statistics become bounds that need not be reached."""
    stats = live.stats and statistics_text(wide_bounds(parse_statistics(live.stats)))
    return msgspec.structs.replace(
        live, deletion_vector=vector, data_change=data_change, stats=stats
    )
