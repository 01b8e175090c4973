"""How Spark spreads a scan of whole files over its tasks.

Source: FilePartition.scala; `spark.sql.files.*`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from whitecap.engine.log.actions import AddFile
from whitecap.engine.log.file_keys import NamedValues, partition_of
from whitecap.engine.row_store.rows import joined
from whitecap.engine.storage.requests import Row

TASKS = 2
"""How many tasks Spark splits a small scan into: the cores of the session, as those have that the
replays start (`local[2]`). Source: FilePartition.scala (maxSplitBytes)."""

_MAX_SPLIT_BYTES = 128 * 1024**2
"""Source: the default of spark.sql.files.maxPartitionBytes."""

_OPEN_COST_BYTES = 4 * 1024**2
"""Source: the default of spark.sql.files.openCostInBytes."""


def _largest_first(files: Sequence[AddFile]) -> list[AddFile]:
    ranks: dict[NamedValues, int] = {}
    keyed = []
    for file in files:
        partition = partition_of(file)
        rank = ranks[partition] = ranks.get(partition, -1) + 1
        keyed.append(((-(file.size // 1024), rank), file))
    return [file for _, file in sorted(keyed, key=lambda pair: pair[0])]


def by_task(
    tasks: Sequence[Sequence[AddFile]], rows: Mapping[str, Sequence[Row]]
) -> Iterable[Sequence[Row]]:
    """The rows of files, by path, that each task handles."""
    return (joined([rows[file.path] for file in task]) for task in tasks)


def scan_tasks(files: Sequence[AddFile]) -> list[list[AddFile]]:
    """How Spark spreads a scan of whole files over tasks, which decides how many files it writes.

    Large files come first. Of files that differ by less than a kilobyte, which come first hangs on
    bytes of Parquet that are not modelled: they are dealt out partition by partition, as seen on
    small tables, so that the files of one partition seldom share a task. Source:
    FilePartition.scala (maxSplitBytes, getFilePartitions); files are not split here.
    """
    if not files:
        return []
    total = sum(file.size + _OPEN_COST_BYTES for file in files)
    limit = min(_MAX_SPLIT_BYTES, max(_OPEN_COST_BYTES, total // TASKS))
    tasks: list[list[AddFile]] = [[]]
    filled = 0
    for file in _largest_first(files):
        if tasks[-1] and filled + file.size > limit:
            tasks.append([])
            filled = 0
        tasks[-1].append(file)
        filled += file.size + _OPEN_COST_BYTES
    return tasks
