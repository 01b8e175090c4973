"""Which files a rewrite takes, and which of them go into one file.

Source: OptimizeTableCommand.scala (filterCandidateFileList, groupFilesIntoBins),
OptimizeTableStrategy.scala.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from whitecap.engine.commands.maintenance.partition_order import hash_order
from whitecap.engine.log.actions import AddFile
from whitecap.engine.log.file_keys import PartitionKey, partition_of
from whitecap.engine.log.snapshot import Snapshot
from whitecap.engine.log.statistics import record_count
from whitecap.engine.settings import Settings
from whitecap.engine.sql.predicates.predicate import Predicate

T = TypeVar("T")

Bin = list[AddFile]
Chosen = Callable[[AddFile], bool]


def files_by_partition(
    snapshot: Snapshot, predicates: Sequence[Predicate], settings: Settings, chosen: Chosen
) -> dict[PartitionKey, Bin]:
    """The files to rewrite in the partitions that the predicates select."""
    groups: dict[PartitionKey, Bin] = {}
    for partition in snapshot.partitions:
        files = snapshot.files_in(partition)
        if _selected(files[0], predicates, snapshot, settings):
            to_rewrite = [file for file in files if chosen(file)]
            if to_rewrite:
                groups[partition] = to_rewrite
    return groups


def _selected(
    file: AddFile, predicates: Sequence[Predicate], snapshot: Snapshot, settings: Settings
) -> bool:
    values, schema = file.partition_values or {}, snapshot.partition_schema
    return all(p.evaluate_partition(values, schema, settings) is True for p in predicates)


def is_small_or_deleted(
    file: AddFile, min_size_bytes: int, max_deleted_ratio: float | None
) -> bool:
    """Whether compaction takes a file: it is small, or enough of its rows are deleted."""
    if file.size < min_size_bytes:
        return True
    if file.deletion_vector is None or max_deleted_ratio is None:
        return False
    rows = record_count(file.stats)
    if not rows:
        return True
    return file.deletion_vector.cardinality / rows > max_deleted_ratio


def packed(
    groups: Iterable[Sequence[AddFile]], limit_bytes: int, smallest_bin: int = 2
) -> list[Bin]:
    """Each group's files in bins; a bin of fewer files than `smallest_bin` is dropped."""
    bins = (part for files in groups for part in pack(files, limit_bytes))
    return [files for files in bins if len(files) >= smallest_bin]


def pack(files: Sequence[AddFile], limit_bytes: int) -> list[Bin]:
    """Fill bins in order of size."""
    return fill(sorted(files, key=lambda file: file.size), limit_bytes)


def fill(files: Sequence[AddFile], limit_bytes: int) -> list[Bin]:
    """Fill bins in the order given."""
    return _grouped(files, lambda file: file.size, limit_bytes)


def batches(bins: list[Bin], batch_bytes: int | None) -> list[list[Bin]]:
    """All bins in one batch, unless batches are limited in size: then the smallest come first.

    Of equally large ones those whose partition Delta comes upon first. Source:
    BinPackingUtils.scala: binPackBySize.
    """
    if batch_bytes is None:
        return [bins] if bins else []
    in_order = hash_order(partition_of(files[0]) for files in bins)
    places = {partition: place for place, partition in enumerate(in_order)}
    by_size = sorted(bins, key=lambda files: (size_of(files), places[partition_of(files[0])]))
    return _grouped(by_size, size_of, batch_bytes)


def size_of(files: Bin) -> int:
    """All their bytes."""
    return sum(file.size for file in files)


def _grouped(parts: Iterable[T], bytes_of: Callable[[T], int], limit_bytes: int) -> list[list[T]]:
    """Parts in their order, in groups of at most so many bytes, or of one part."""
    groups: list[list[T]] = []
    filled = 0
    for part in parts:
        size = bytes_of(part)
        if not groups or filled + size > limit_bytes:
            groups.append([])
            filled = 0
        groups[-1].append(part)
        filled += size
    return groups
