"""The files of a large initial table: made from their description whenever somebody asks for one.

A file takes the bytes of its id and of the numbers behind its statistics, whatever the length of
its path, of its statistics and of its line in the log.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate, chain

import numpy as np
from msgspec import Struct

from whitecap.engine.log.actions import AddFile, AnyAction, CommitInfo
from whitecap.engine.log.commit_file import Commit, encode_action
from whitecap.engine.log.effects import effects_of
from whitecap.engine.log.file_keys import PartitionKey
from whitecap.engine.log.listed_files import ListedFiles
from whitecap.engine.storage.paths import log_path, partition_directory
from whitecap.engine.storage.requests import WriteRows
from whitecap.sim.store.contents.kept import DescribedCommit
from whitecap.sim.store.contents.objects import FakeStore
from whitecap.sim.table.initial_files import InitialPartition
from whitecap.sim.table.initial_statistics import InitialStatistics, StatisticsTexts
from whitecap.sim.table.made import MadeWhenAsked
from whitecap.sim.table.rows import ScenarioRows
from whitecap.sim.time.identifiers import id_text
from whitecap.sim.time.random_streams import Words

_BEFORE_ID, _AFTER_ID = "part-00000-", "-c000.snappy.parquet"
_HALF = (1 << 64) - 1


class FileIds:
    """The ids of files, in their order, and which file has an id."""

    def __init__(self, numbers: Words) -> None:
        self._upper, self._lower = numbers[:, 0].copy(), numbers[:, 1].copy()
        self._order = np.argsort(self._lower).astype(np.int32)
        self._sorted = self._lower[self._order]

    def __len__(self) -> int:
        return len(self._lower)

    def text(self, number: int) -> str:
        """The id of a file."""
        return id_text(self._upper.item(number) << 64 | self._lower.item(number))

    def number_of(self, name: str) -> int | None:
        """The file whose id stands at the end of a name."""
        text = name[-len(_AFTER_ID) - 36 : -len(_AFTER_ID)]
        try:
            lower = int(text[19:23] + text[24:], 16)
        except ValueError:
            return None
        at = int(self._sorted.searchsorted(np.uint64(lower & _HALF)))
        while at < len(self) and self._sorted.item(at) == lower:
            number = self._order.item(at)
            if self.text(number) == text:
                return int(number)
            at += 1
        return None


class _Directory(Struct, frozen=True):
    """The files of one partition: the number of the first one, and what they have in common."""

    first: int
    partition: InitialPartition
    values: dict[str, str | None]
    key: str
    statistics: StatisticsTexts

    @property
    def numbers(self) -> range:
        return range(self.first, self.first + self.partition.file_count)


class InitialFiles(MadeWhenAsked[AddFile], ListedFiles):
    """The files of the initial table, partition by partition, as version 1 adds them.

    Those that somebody asked for by path or by partition are kept.
    """

    def __init__(
        self,
        partitions: Sequence[InitialPartition],
        statistics: InitialStatistics,
        rows: ScenarioRows,
        store: FakeStore,
        ids: FileIds,
    ) -> None:
        self.columns = tuple(partitions[0].values)
        self._rows, self._store, self._ids = rows, store, ids
        *self._firsts, _ = accumulate((p.file_count for p in partitions), initial=0)
        self._directories = [
            _Directory(
                first,
                partition,
                {**partition.values},
                partition_directory(partition.values),
                statistics.of(partition),
            )
            for first, partition in zip(self._firsts, partitions, strict=True)
        ]
        self._by_values = {tuple(d.values.values()): d for d in self._directories}
        self._made: dict[str, AddFile] = {}
        self._numbers: dict[str, int] = {}
        self.row_count = sum(len(partition.keys) for partition in partitions)
        self.size_bytes = sum(
            self._size(p, 0) * (p.file_count - 1) + self._size(p, p.file_count - 1)
            for p in partitions
        )

    def __len__(self) -> int:
        return len(self._ids)

    def made(self, number: int) -> AddFile:
        """A file, by its place in their order."""
        directory = self._directory_of(number)
        return self._file(directory, number, self._path(directory, number))

    def __iter__(self) -> Iterator[AddFile]:
        paths = ((d, n, self._path(d, n)) for d in self._directories for n in d.numbers)
        return (self._file(directory, number, path) for directory, number, path in paths)

    def at(self, path: str) -> AddFile | None:
        """The file of a path."""
        file = self._made.get(path)
        if file is None:
            number = self._number_of(path)
            if number is None:
                return None
            file = self._kept(path, self._directory_of(number), number)
        return file

    def counts(self) -> dict[PartitionKey, int]:
        """How many files each partition has."""
        return {key: d.partition.file_count for key, d in self._by_values.items()}

    def within(self, partition: PartitionKey) -> Sequence[AddFile]:
        """The files of a partition."""
        directory = self._by_values.get(partition)
        if directory is None:
            return ()
        paths = ((self._path(directory, number), number) for number in directory.numbers)
        made = ((path, number, self._made.get(path)) for path, number in paths)
        return [file or self._kept(path, directory, number) for path, number, file in made]

    def path(self, number: int) -> str:
        """The path of a file, in the log."""
        path = self._path(self._directory_of(number), number)
        self._numbers[path] = number
        return path

    def data_file(self, key: str) -> WriteRows | None:
        """What the store holds under a key."""
        number = self._number_of(log_path(key))
        return None if number is None else self._data_file(key, number)

    def line_bytes(self) -> int:
        """How many bytes the log takes to add them: a look at one file of each partition tells.

        In a partition nothing but statistics and sizes differs from file to file.
        """
        return sum(map(self._line_bytes, self._directories))

    def storage_keys(self) -> Iterator[str]:
        """The storage keys of all files."""
        return (self._key(d, number) for d in self._directories for number in d.numbers)

    def _number_of(self, path: str) -> int | None:
        """The file of a path; known of paths that were asked for before."""
        number = self._numbers.get(path)
        if number is None:
            number = self._ids.number_of(path)
            if number is not None and self.path(number) != path:
                return None
        return number

    def _data_file(self, key: str, number: int) -> WriteRows:
        directory, rows = self._directory_of(number), self._rows
        return WriteRows(
            key,
            directory.partition.file(number - directory.first, rows),
            rows.schema.names,
            rows.schema.types,
            tuple(directory.values),
        )

    def _directory_of(self, number: int) -> _Directory:
        return self._directories[bisect_right(self._firsts, number) - 1]

    def _key(self, directory: _Directory, number: int) -> str:
        return f"{directory.key}{_BEFORE_ID}{self._ids.text(number)}{_AFTER_ID}"

    def _path(self, directory: _Directory, number: int) -> str:
        return log_path(self._key(directory, number))

    def _size(self, partition: InitialPartition, place: int) -> int:
        return self._store.data_file_size(partition.count_of(place))

    def _line_bytes(self, directory: _Directory) -> int:
        count, first = directory.partition.file_count, self[directory.first]
        last_size = self._size(directory.partition, count - 1)
        more = directory.statistics.differences() + len(str(last_size)) - len(str(first.size))
        return count * (len(encode_action(first)) + 1) + more

    def _kept(self, path: str, directory: _Directory, number: int) -> AddFile:
        file = self._made[path] = self._file(directory, number, path)
        return file

    def _file(self, directory: _Directory, number: int, path: str) -> AddFile:
        place = number - directory.first
        return AddFile(
            path=path,
            partition_values=directory.values,
            size=self._size(directory.partition, place),
            modification_time=self._store.epoch_ms,
            data_change=True,
            stats=directory.statistics[place],
        )


class _Actions(MadeWhenAsked[AnyAction]):
    """What a commit of described files writes."""

    def __init__(self, commit_info: CommitInfo, files: InitialFiles) -> None:
        self._commit_info, self._files = commit_info, files

    def __len__(self) -> int:
        return 1 + len(self._files)

    def made(self, number: int) -> AnyAction:
        """The commit info comes first, then the files."""
        return self._files[number - 1] if number else self._commit_info

    def __iter__(self) -> Iterator[AnyAction]:
        return chain((self._commit_info,), self._files)


def described_commit(
    version: int, commit_info: CommitInfo, files: InitialFiles, now_ms: int
) -> DescribedCommit:
    """The commit that adds the files."""
    actions = _Actions(commit_info, files)
    commit = Commit(
        version,
        actions,
        commit_info,
        adds=files,
        modified_at_ms=now_ms,
        effects=effects_of(commit_info, (CommitInfo, AddFile)),
    )
    return DescribedCommit(commit, len(encode_action(commit_info)) + 1 + files.line_bytes())
