"""Deleting rows by deletion vectors.

Source: DMLWithDeletionVectorsHelper.scala: processUnmodifiedData.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pyroaring import BitMap64

from whitecap.engine.log import properties
from whitecap.engine.log.actions import AddFile, Metadata, RemoveFile
from whitecap.engine.log.statistics import FileStatistics, parse_statistics
from whitecap.engine.log.vectors.deletion_vectors import write_vectors
from whitecap.engine.row_level.data_files import FileRows
from whitecap.engine.row_level.hiding import with_vector
from whitecap.engine.storage.requests import Steps
from whitecap.engine.writing.file_layout import FileLayout
from whitecap.engine.writing.files import remove

Hidden = tuple[FileRows, Sequence[int]]
"""A file and the positions of live rows that are to go."""


def uses_vectors(metadata: Metadata, enabled_for_command: bool) -> bool:
    """Whether rows are deleted by deletion vectors rather than by rewriting files."""
    return enabled_for_command and properties.DELETION_VECTORS.of(metadata.configuration)


def hide_rows(
    hidden: Iterable[Hidden], layout: FileLayout, at_ms: int
) -> Steps[list[AddFile | RemoveFile]]:
    """The actions that hide rows: each file again with a larger vector, or just gone if emptied."""
    emptied: list[FileRows] = []
    covered: list[tuple[FileRows, BitMap64]] = []
    for loaded, positions in hidden:
        if len(positions) == loaded.live_count:
            emptied.append(loaded)
        elif positions:
            covered.append((loaded, BitMap64(positions) | (loaded.deleted or BitMap64())))
    actions: list[AddFile | RemoveFile] = [remove(loaded.file, at_ms) for loaded in emptied]
    if covered:
        vectors = yield from write_vectors([bitmap for _, bitmap in covered])
        actions += [remove(loaded.file, at_ms) for loaded, _ in covered]
        pairs = zip(covered, vectors, strict=True)
        actions += [
            with_vector(loaded.file, vector, _statistics(loaded, layout))
            for (loaded, _), vector in pairs
        ]
    return actions


def _statistics(loaded: FileRows, layout: FileLayout) -> FileStatistics:
    """What the log says of a file, or its rows where the log does not count them.

    Source: DMLWithDeletionVectorsHelper.scala: getActionsWithStats.
    """
    logged = parse_statistics(loaded.file.stats)
    if logged.num_records is not None:
        return logged
    return parse_statistics(layout.statistics(loaded.rows))
