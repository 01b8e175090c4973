"""Deleting rows by deletion vectors.

Source: DMLWithDeletionVectorsHelper.scala: processUnmodifiedData.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pyroaring import BitMap64

from whitecap.engine.log.actions import AddFile, RemoveFile
from whitecap.engine.log.vectors.deletion_vectors import write_vectors
from whitecap.engine.row_level.data_files import FileRows
from whitecap.engine.storage.requests import Steps
from whitecap.engine.writing.files import remove, with_vector

Hidden = tuple[FileRows, Sequence[int]]
"""A file and the positions of live rows that are to go."""


def hide_rows(hidden: Iterable[Hidden], at_ms: int) -> Steps[list[AddFile | RemoveFile]]:
    """The actions that hide rows: each file again with a larger vector, or just gone if emptied."""
    emptied: list[FileRows] = []
    covered: list[tuple[FileRows, BitMap64]] = []
    for one, positions in hidden:
        if len(positions) == one.live_count:
            emptied.append(one)
        elif positions:
            covered.append((one, BitMap64(positions) | (one.deleted or BitMap64())))
    actions: list[AddFile | RemoveFile] = [remove(one.file, at_ms) for one in emptied]
    if covered:
        vectors = yield from write_vectors([bitmap for _, bitmap in covered])
        actions += [remove(one.file, at_ms) for one, _ in covered]
        pairs = zip(covered, vectors, strict=True)
        actions += [with_vector(one.file, vector) for (one, _), vector in pairs]
    return actions
