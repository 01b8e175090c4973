"""Actions that hide more rows of a live file: with a larger deletion vector, or without the file.

Source: DMLWithDeletionVectorsHelper.scala: processUnmodifiedData, for what such actions look like.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace
from pyroaring import BitMap64

from whitecap.engine.log.actions import AddFile, DeletionVector, RemoveFile
from whitecap.engine.log.statistics import (
    FileStatistics,
    parse_statistics,
    statistics_text,
    wide_bounds,
)
from whitecap.engine.log.vectors.deletion_vectors import write_vectors
from whitecap.engine.row_level.changes import RowReader
from whitecap.engine.storage.requests import Steps


class Hiding(Struct, frozen=True):
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
    covered: list[tuple[Hiding, FileStatistics]] = []
    for hiding in hidings:
        rows = yield from reader.count(hiding.live)
        if len(hiding.hidden) < rows:
            covered.append((hiding, _counting(hiding.live, rows)))
    if not covered:
        return []
    vectors = yield from write_vectors([hiding.hidden for hiding, _ in covered])
    return [
        with_vector(hiding.live, vector, statistics, data_change)
        for (hiding, statistics), vector in zip(covered, vectors, strict=True)
    ]


def with_vector(
    live: AddFile, vector: DeletionVector, statistics: FileStatistics, data_change: bool = True
) -> AddFile:
    """The file with a deletion vector; its statistics become bounds that need not be reached."""
    return replace(
        live,
        deletion_vector=vector,
        data_change=data_change,
        stats=statistics_text(wide_bounds(statistics)),
    )


def removal(live: AddFile, like: RemoveFile) -> RemoveFile:
    """The removal of a live file, at the instant of another removal."""
    return replace(
        like,
        path=live.path,
        partition_values=live.partition_values,
        size=live.size,
        tags=live.tags,
        deletion_vector=live.deletion_vector,
        base_row_id=live.base_row_id,
        default_row_commit_version=live.default_row_commit_version,
    )


def _counting(live: AddFile, rows: int) -> FileStatistics:
    """A file's statistics, with how many rows it has: the least that a vector needs beside it."""
    return replace(parse_statistics(live.stats), num_records=rows)
