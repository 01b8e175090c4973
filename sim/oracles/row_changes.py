"""Which rows each version took from the table and which it brought, read from the data files.

Live files are followed here action by action, not with the engine's own replay of the log, so that
a defect in one shows against the other. Rows are compared by their values; of rows that are alike
their number counts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from operator import ne
from typing import Any

from msgspec import Struct, field
from pyroaring import BitMap64

from whitecap.engine.errors import DamagedFile, InvalidInput, InvalidLog
from whitecap.engine.log.actions import AddFile, RemoveFile
from whitecap.engine.log.commit_file import Commit
from whitecap.engine.log.file_keys import FileKey
from whitecap.engine.log.schema import Schema
from whitecap.engine.log.snapshot import Snapshot
from whitecap.engine.log.statistics import record_count
from whitecap.engine.log.vectors.deletion_vectors import (
    RELATIVE_FILE,
    VectorIsGone,
    read_vector,
    vector_key,
)
from whitecap.engine.storage.memory import Store, run
from whitecap.engine.storage.paths import data_key
from whitecap.engine.storage.requests import Gone, ReadRows, Row, RowsOf
from whitecap.sim.oracles.data_files.untrue import untrue_of
from whitecap.sim.oracles.log_validation import CheckedLog

RowMultiset = Counter[Row]

MOST_ROWS = 100_000
"""Rows of a table that is followed row by row: some seconds; of a larger one it is not done."""


class RowsUnreadable(Exception):
    """Rows cannot be had: a file is gone or damaged, or there are too many."""


class VersionChange(Struct, frozen=True):
    """What one version did to the rows, all in the columns that the table has after it.

    `dead`: files that it removes though they are not in the table. `reshaped`: columns came, went
    or changed, so that rows before and after cannot be compared. `problem`: why it is not known.
    """

    version: int
    schema: Schema
    gone: RowMultiset = field(default_factory=Counter)
    new: RowMultiset = field(default_factory=Counter)
    dead: frozenset[FileKey] = frozenset()
    removed: frozenset[FileKey] = frozenset()
    reshaped: bool = False
    problem: str | None = None

    @property
    def is_none(self) -> bool:
        """Whether the table holds the same rows as before."""
        return not self.gone and not self.new and not self.problem


def plain(value: Any) -> Any:
    """A value that equals itself however it was stored: instants in UTC, nested ones as text."""
    if isinstance(value, datetime) and value.tzinfo is not None:
        return value.astimezone(UTC).replace(tzinfo=None)
    if isinstance(value, float) and value != value:
        return "NaN"
    return repr(value) if isinstance(value, list | dict | tuple) else value


def plain_row(row: Iterable[Any]) -> Row:
    """A row of plain values."""
    return tuple(map(plain, row))


_PLAIN_TYPES = frozenset(
    {"bigint", "boolean", "date", "int", "smallint", "string", "timestamp_ntz", "tinyint"}
)
"""Types whose values are plain as they are stored."""


def plain_rows(rows: Sequence[Row], types: Sequence[str]) -> Sequence[Row]:
    """Each row as `plain_row` makes it, column by column: most types leave nothing to do."""
    if _PLAIN_TYPES.issuperset(types):
        return rows
    columns = zip(*rows, strict=True)
    made = [_plain_column(values, kind) for values, kind in zip(columns, types, strict=False)]
    return list(zip(*made, strict=True))


def _plain_column(values: Sequence[Any], kind: str) -> Iterable[Any]:
    if kind in _PLAIN_TYPES or (kind == "double" and not any(map(ne, values, values))):
        return values
    return map(plain, values)


class TableFiles(Struct):
    """The data files of a table; what was read is kept.

    `damaged`: files that are there and cannot be read, or their vectors, and why. `untrue`: what
    the log says of files and is not so, as far as it is `compared`.
    """

    store: Store
    compared: bool = False
    damaged: dict[FileKey, str] = field(default_factory=dict)
    untrue: dict[FileKey, tuple[str, ...]] = field(default_factory=dict)
    _read: dict[tuple[FileKey, tuple[str, ...]], RowMultiset] = field(default_factory=dict)

    def rows_of(self, file: AddFile | RemoveFile, schema: Schema) -> RowMultiset:
        """The rows that a file holds. Raises `RowsUnreadable`."""
        key = (_key(file), schema.physical_names)
        if key not in self._read:
            self._read[key] = self._rows(file, schema)
        return self._read[key]

    def _rows(self, file: AddFile | RemoveFile, schema: Schema) -> RowMultiset:
        rows, hidden = self._read_whole(file, schema)
        if self.compared and isinstance(file, AddFile):
            untrue = tuple(untrue_of(file, rows, hidden, schema))
            if untrue:
                self.untrue[_key(file)] = untrue
        left = [row for at, row in enumerate(rows) if at not in hidden] if hidden else rows
        return Counter(plain_rows(left, schema.types))

    def _read_whole(
        self, file: AddFile | RemoveFile, schema: Schema
    ) -> tuple[Sequence[Row], BitMap64 | None]:
        """All rows of a file, and which its vector hides. Raises `RowsUnreadable`."""
        try:
            return self._stored(file, schema), self._hidden(file)
        except VectorIsGone as error:
            raise RowsUnreadable("a deletion vector is gone") from error
        except InvalidInput as error:
            if isinstance(error, DamagedFile | InvalidLog):
                self.damaged[_key(file)] = str(error.problems[0])
            raise RowsUnreadable(str(error.problems[0])) from error

    def _stored(self, file: AddFile | RemoveFile, schema: Schema) -> Sequence[Row]:
        values = (file.partition_values,)
        names = schema.physical_names
        asked = ReadRows((data_key(file.path),), names, schema.types, values)
        answer = self.store.answer(asked)
        if isinstance(answer, Gone) or not isinstance(answer, RowsOf):
            raise RowsUnreadable("a data file is gone")
        return answer.rows[0]

    def _hidden(self, file: AddFile | RemoveFile) -> BitMap64 | None:
        vector = file.deletion_vector
        return None if vector is None else run(read_vector(vector), self.store)


def _key(file: AddFile | RemoveFile) -> FileKey:
    return file.path, file.dv_id


class RowChanges(Struct):
    """Walks a log and reads what changed; `live` are the files after the last version walked.

    `starts`: the rows after some versions, `None` where they cannot be read; from one to the next
    the changes lead.
    """

    files: TableFiles
    live: dict[FileKey, AddFile]
    schema: Schema
    starts: dict[int, RowMultiset | None] = field(default_factory=dict)
    changes: dict[int, VersionChange] = field(default_factory=dict)
    _asked: tuple[int, RowMultiset] | None = None

    @classmethod
    def of(cls, checked: CheckedLog, store: Store, compared: bool = False) -> RowChanges:
        """All changes of a log; what it says of files is `compared` with their rows or is not."""
        live = {_key(file): file for file in checked.base.all_files()}
        first = min(checked.commits, default=0)
        schema = checked.base.schema
        if checked.base.version < 0 and first in checked.snapshots:
            schema = checked.snapshots[first].schema
        walk = cls(TableFiles(store, compared), live, schema)
        walk._look_at(list(live.values()), schema)
        walk._read_again(schema, checked.base.version)
        for version, commit in sorted(checked.commits.items()):
            walk._step(version, commit, checked.snapshots[version])
        return walk

    def before(self, version: int) -> RowMultiset:
        """The rows of the table before a version. Raises `RowsUnreadable`."""
        start = max((each for each in self.starts if each < version), default=None)
        rows = None if start is None else self.starts[start]
        if start is None or rows is None:
            raise RowsUnreadable(f"the rows before version {version} cannot be read")
        first = start + 1
        if self._asked is not None and first <= self._asked[0] <= version:
            first, rows = self._asked
        for change in (self.changes[v] for v in range(first, version) if v in self.changes):
            rows = rows - change.gone + change.new
        self._asked = version, rows
        return rows

    @property
    def _is_lost(self) -> bool:
        """Whether the rows after the last version walked are not known."""
        return next(reversed(self.starts.values())) is None

    def _step(self, version: int, commit: Commit, snapshot: Snapshot) -> None:
        before = dict(self.live)
        removed = frozenset(_key(file) for file in commit.removes)
        dead = removed - before.keys()
        self.live = {key: file for key, file in before.items() if key not in removed}
        self.live |= {_key(file): file for file in commit.adds}
        self.changes[version] = self._change(version, snapshot.schema, before, dead, removed)

    def _change(
        self,
        version: int,
        schema: Schema,
        before: Mapping[FileKey, AddFile],
        dead: frozenset[FileKey],
        removed: frozenset[FileKey],
    ) -> VersionChange:
        gone_files = [file for key, file in before.items() if key not in self.live]
        new_files = [file for key, file in self.live.items() if key not in before]
        reshaped, self.schema = _shape(schema) != _shape(self.schema), schema
        self._look_at(new_files, schema)
        if reshaped or self._is_lost:
            problem = self._read_again(schema, version) or (
                None if reshaped else "rows before are unknown"
            )
            return VersionChange(
                version, schema, dead=dead, removed=removed, reshaped=reshaped, problem=problem
            )
        try:
            taken, brought = self._all_rows(gone_files, schema), self._all_rows(new_files, schema)
        except RowsUnreadable as problem:
            self._read_again(schema, version)
            return VersionChange(version, schema, dead=dead, removed=removed, problem=str(problem))
        gone, new = _without(taken, brought), _without(brought, taken)
        return VersionChange(version, schema, gone, new, dead, removed)

    def _read_again(self, schema: Schema, version: int) -> str | None:
        """Read all files that are live after a version; answers why that cannot be done."""
        try:
            self.starts[version] = self._all_rows(self.live.values(), schema)
        except RowsUnreadable as problem:
            self.starts[version] = None
            return str(problem)
        return None

    def _look_at(self, files: Sequence[AddFile], schema: Schema) -> None:
        """Read each of some files, also those beside one that cannot be read."""
        if sum(map(_rows_said, files)) <= MOST_ROWS:
            for file in files:
                with suppress(RowsUnreadable):
                    self.files.rows_of(file, schema)

    def _all_rows(self, files: Iterable[AddFile], schema: Schema) -> RowMultiset:
        files = list(files)
        if sum(map(_rows_said, files)) > MOST_ROWS:
            raise RowsUnreadable(f"there are more than {MOST_ROWS:,} rows")
        rows: RowMultiset = Counter()
        for file in files:
            rows.update(self.files.rows_of(file, schema))
        return rows


def _rows_said(file: AddFile) -> int:
    try:
        return record_count(file.stats) or 0
    except InvalidLog:
        return 0  # a rule of the log says so


def _without(rows: RowMultiset, others: RowMultiset) -> RowMultiset:
    return rows - others if others else rows


def _shape(schema: Schema) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return schema.names, schema.types


def shown(rows: RowMultiset, schema: Schema, most: int = 3) -> tuple[str, ...]:
    """Some rows in words, the first ones by their text."""
    texts = sorted(_row_text(row, schema) for row in rows.elements())
    return tuple(texts[:most])


def _row_text(row: Row, schema: Schema) -> str:
    return ", ".join(f"{name}={value}" for name, value in zip(schema.names, row, strict=True))


def missing_vectors(
    live: Mapping[FileKey, AddFile], existing: frozenset[str]
) -> Iterator[tuple[str, str]]:
    """Paths of live files with the keys of their deletion vectors that are not in the store."""
    for file in live.values():
        vector = file.deletion_vector
        if vector is not None and vector.storage_type == RELATIVE_FILE:
            with suppress(InvalidLog):  # who reads it says so
                if vector_key(vector) not in existing:
                    yield file.path, vector_key(vector)


def missing_files(live: Mapping[FileKey, AddFile], existing: frozenset[str]) -> Iterator[str]:
    """Paths of live files that are not in the store."""
    yield from sorted({path for path, _ in live if data_key(path) not in existing})
