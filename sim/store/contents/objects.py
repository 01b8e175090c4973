"""The fake object store: keys and bytes, touched only at the instant a request takes effect.

It knows nothing of time beyond the instants it is told, and nothing of latency or faults: those
belong to the way to it (`sim/store/exchange.py`). Data files are kept as rows, since what Spark
does with them is part of a job's compute time.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from whitecap.engine.log.commit_file import log_key, version_of_key
from whitecap.engine.packed.blocks import GrowingMap, PackedMap, Shelf
from whitecap.engine.storage.columns import in_columns
from whitecap.engine.storage.paths import directory_of
from whitecap.engine.storage.requests import (
    Body,
    Entry,
    Get,
    Gone,
    ListFrom,
    Listing,
    Missing,
    Put,
    PutIfAbsent,
    PutResult,
    ReadRows,
    Response,
    RowsOf,
    WriteRows,
)
from whitecap.sim.scenario.store import AtKey
from whitecap.sim.store.contents.commit_table import CommitTable
from whitecap.sim.store.contents.kept import (
    OBJECTS,
    DescribedCommit,
    Landing,
    Landings,
    StoredDataFile,
    StoredObject,
    packer_of_data_files,
)
from whitecap.sim.store.contents.key_queue import KeyQueue, Rank, Turn
from whitecap.sim.store.contents.log_directory import LogDirectory, Moment

DATA_FILE_OVERHEAD_BYTES = 1000
"""A small Parquet file's footer and headers, roughly."""


class Overgrown(Exception):
    """A run has written more rows than it was allowed to."""


@dataclass(slots=True)
class FakeStore:
    """One bucket. `epoch_ms` is the wall clock at simulated instant 0.

    Without `exclusive` it has no put-if-absent, so that commits may be `overwritten`, the earliest
    of them at version `first_overwritten`. What is seldom read goes to `shelf`.
    """

    epoch_ms: int
    bytes_per_row: int
    exclusive: bool = True
    shelf: Shelf | None = None
    most_rows: float = math.inf
    rows_written: int = 0
    log: LogDirectory = field(default_factory=LogDirectory)
    objects: PackedMap[str, StoredObject] = field(init=False)
    data_files: GrowingMap[str, StoredDataFile] = field(init=False)
    landings: Landings = field(default_factory=Landings)
    queue: KeyQueue = field(default_factory=KeyQueue)
    overwritten: list[Landing] = field(default_factory=list)
    first_overwritten: float = math.inf
    commit_table: CommitTable = field(default_factory=CommitTable)
    unpublished: list[int] = field(default_factory=list)
    """Versions that a catalog has ratified and nobody has published yet, in order."""

    def __post_init__(self) -> None:
        self.objects = PackedMap(OBJECTS, self.shelf, lambda o: o.is_described)
        self.data_files = PackedMap(
            packer_of_data_files(), self.shelf, lambda f: not f.is_stored, lambda f: f.row_versions
        )

    def as_sent(self, request: PutIfAbsent) -> Put | PutIfAbsent:
        """What a put that is sent now will do.

        Without put-if-absent, whoever finds no object when sending overwrites what comes meanwhile.
        """
        if request.key in self.objects:
            return request
        return Put(request.key, request.body)

    def holds_version(self, version: int) -> bool:
        """Whether the commit file of a version is there: none ever goes."""
        return version <= self.log.newest

    def takes_turn(
        self, request: Put | PutIfAbsent, version: int, at_key: AtKey, now_ms: float, rank: Rank
    ) -> Turn:
        """Queue a put of a commit file that arrives now; if it finds no file, it will land."""
        key, promised = request.key, self.queue.promised
        is_there = self.holds_version(version) or key in promised
        taken = is_there and isinstance(request, PutIfAbsent)
        if not taken:
            promised.add(key)
        return self.queue.joins(at_key, taken, now_ms, rank)

    def put_commit(
        self, request: Put | PutIfAbsent, version: int, now_ms: float, transaction_id: int | None
    ) -> PutResult:
        """Put a commit file, now."""
        self.queue.promised.discard(request.key)
        if isinstance(request, PutIfAbsent) and self.holds_version(version):
            return PutResult.ALREADY_EXISTS
        self._keep(request, now_ms)
        if not self._is_sent_once_more(version, transaction_id):
            self._lose(version)
            self.landings.add(version, now_ms, transaction_id)
        self.log.landed(version, len(request.body), now_ms)
        return PutResult.CREATED

    def lands(self, version: int, now_ms: float, transaction_id: int | None) -> None:
        """A version is decided now, and copied later. If it is there already, this one is lost."""
        if version > self.log.newest:
            self.landings.add(version, now_ms, transaction_id)
        else:
            self.overwritten.append(Landing(version, now_ms, transaction_id))

    def publish(self, version: int, body: bytes, now_ms: float) -> None:
        """Make the file of a version that was decided before, now, unless it is there."""
        put = PutIfAbsent(log_key(version), body)
        if self.put_object(put, now_ms) is PutResult.CREATED:
            self.log.landed(version, len(body), now_ms)

    def ratify(
        self, request: PutIfAbsent, version: int, now_ms: float, transaction_id: int | None
    ) -> PutResult:
        """A catalog takes a staged commit for a version, now: all who ask it know of it."""
        result = self.put_object(request, now_ms)
        if result is PutResult.CREATED:
            self.unpublished.append(version)
            self.landings.add(version, now_ms, transaction_id)
            self.log.landed(version, len(request.body), now_ms, is_listed=False)
        return result

    def is_now_published(self, version: int, moment: Moment) -> PutResult:
        """The file of a ratified version is written, unless it was."""
        if version not in self.unpublished:
            return PutResult.ALREADY_EXISTS
        self.unpublished.remove(version)
        self.log.object_appears(moment)
        return PutResult.CREATED

    def is_published(self, version: int) -> bool:
        """Whether a version's file is in the log itself."""
        return version <= self.log.newest and version not in self.unpublished

    def settle(self, now_ms: float) -> None:
        """Finish what is under way, as whoever reads the log next would."""
        for item in self.commit_table.incomplete():
            self.publish(item.version, item.body, now_ms)

    def put_object(self, request: Put | PutIfAbsent, now_ms: float) -> PutResult:
        """Put an object, now."""
        if isinstance(request, PutIfAbsent) and request.key in self.objects:
            return PutResult.ALREADY_EXISTS
        self._keep(request, now_ms)
        return PutResult.CREATED

    def _keep(self, request: Put | PutIfAbsent, now_ms: float) -> None:
        """Keep an object, in place of another one or where there is none."""
        key, body = request.key, request.body
        stored = StoredObject(body, Entry(key, len(body), self.epoch_ms + int(now_ms)))
        if isinstance(request, Put):
            self.objects[key] = stored
        else:
            self.objects.add(key, stored)

    def describe_commit(self, described: DescribedCommit) -> None:
        """Put a commit file that is only described, before the run begins."""
        version, size_bytes = described.commit.version, described.size_bytes
        entry = Entry(log_key(version), size_bytes, self.epoch_ms)
        self.objects[entry.key] = StoredObject(described, entry)
        self.landings.add(version, 0.0, None)
        self.log.landed(version, size_bytes, 0.0)

    def answer(self, request: Get | ListFrom | Put | PutIfAbsent) -> Response:
        """Perform one request before the run begins."""
        match request:
            case Get(key):
                stored = self.objects.get(key)
                return Missing() if stored is None else Body(stored.body)
            case ListFrom(start):
                keys = sorted(key for key in self.objects if key >= start)
                directory = directory_of(start)
                listed = (key for key in keys if directory_of(key) == directory)
                return Listing(tuple(self.objects[key].entry for key in listed))
        version = version_of_key(request.key)
        if version is None:
            return self.put_object(request, 0.0)
        return self.put_commit(request, version, 0.0, None)

    def write_rows(self, file: WriteRows, now_ms: float = 0.0) -> int:
        """Keep a new data file's rows. Returns its size in bytes. Raises `Overgrown`."""
        self.rows_written += len(file.rows)
        if self.rows_written > self.most_rows:
            raise Overgrown
        self.data_files.add(file.key, StoredDataFile(file, now_ms))
        return self.data_file_size(len(file.rows))

    def read_rows(self, request: ReadRows) -> RowsOf | Gone:
        """The rows of data files, in the columns that are asked for."""
        rows = []
        for key in request.keys:
            file = self.data_files.look_up(key)
            if file is None:
                return Gone(key)
            written = file.written
            rows.append(in_columns(written.rows, written.columns, request.columns))
        return RowsOf(tuple(rows))

    def list_tree(self, below: str) -> Listing:
        """Every key, data files included."""
        files = (self._data_file_entry(file) for file in self.data_files.values())
        entries = (*(stored.entry for stored in self.objects.values()), *files)
        matching = (entry for entry in entries if entry.key.startswith(below))
        return Listing(tuple(sorted(matching, key=lambda entry: entry.key)))

    def delete(self, keys: Sequence[str]) -> None:
        """Remove objects and data files; one that is not there is no error."""
        for key in keys:
            self.data_files.pop(key, None)
            self.objects.pop(key, None)

    def data_file_size(self, rows: int) -> int:
        """How many bytes a data file of so many rows has."""
        return DATA_FILE_OVERHEAD_BYTES + rows * self.bytes_per_row

    def _data_file_entry(self, file: StoredDataFile) -> Entry:
        at_ms = self.epoch_ms + int(file.written_at_ms)
        return Entry(file.written.key, self.data_file_size(len(file.written.rows)), at_ms)

    def _is_sent_once_more(self, version: int, transaction_id: int | None) -> bool:
        """Whether a version is its writer's already: others saw it when it first came."""
        if self.exclusive or version > self.landings.newest:
            return False
        return any(
            landing.version == version and landing.transaction_id == transaction_id
            for landing in self.landings
        )

    def _lose(self, version: int) -> None:
        """A commit file is written over another one, without a look at what was there, or before
        the copy of one that was decided elsewhere.
        """
        if self.exclusive or version > self.landings.newest:
            return
        written_over = self.landings.without(version)
        if version <= self.log.newest:
            self.first_overwritten = min(self.first_overwritten, version)
        self.overwritten += written_over
