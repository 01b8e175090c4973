"""The fake object store: keys and bytes, touched only at the instant a request takes effect.

It knows nothing of time beyond the instants it is told, and nothing of latency or faults: those
belong to the client on the way to it (`sim/client.py`). Data files are kept as rows, since what
Spark does with them is part of a job's compute time.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Sequence
from dataclasses import dataclass, field

from whitecap.engine.log.commit_file import version_of_key
from whitecap.engine.storage.columns import in_columns
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
    RowsOf,
    WriteRows,
)
from whitecap.sim.scenario.store import Limits

StoreRequest = ListFrom | Get | PutIfAbsent | Put
StoreResponse = Listing | Body | Missing | PutResult

_WRITES = (PutIfAbsent, Put)


DATA_FILE_OVERHEAD_BYTES = 1000
"""A small Parquet file's footer and headers, roughly."""


@dataclass(slots=True)
class StoredObject:
    """An object's bytes, and how listings show it."""

    body: bytes
    entry: Entry

    @property
    def modified_at_ms(self) -> int:
        """When its bytes took effect, epoch milliseconds."""
        return self.entry.modified_at_ms


@dataclass(slots=True)
class Landing:
    """A commit file that was created: when (simulated), and by which transaction."""

    version: int
    landed_at_ms: float
    transaction_id: int | None


class TokenBucket:
    """Admits `per_s` requests per second on average, at most a second's worth at once."""

    def __init__(self, per_s: float | None) -> None:
        self._per_ms = 0.0 if per_s is None else per_s / 1000
        self._size = max(1.0, per_s or 0.0)
        self._tokens = self._size
        self._at_ms = 0.0
        self.unlimited = per_s is None

    def admits(self, now_ms: float) -> bool:
        """Whether a request may pass now; if so it is counted."""
        refilled = self._tokens + (now_ms - self._at_ms) * self._per_ms
        self._tokens = min(self._size, refilled)
        self._at_ms = now_ms
        if self._tokens < 1.0:
            return False
        self._tokens -= 1.0
        return True


@dataclass(slots=True)
class FakeStore:
    """One bucket. `epoch_ms` is the wall clock at simulated instant 0.

    One that is not `exclusive` has no put-if-absent: commits may be `overwritten`.
    """

    epoch_ms: int
    limits: Limits
    bytes_per_row: int
    exclusive: bool = True
    objects: dict[str, StoredObject] = field(default_factory=dict)
    data_files: dict[str, WriteRows] = field(default_factory=dict)
    landings: list[Landing] = field(default_factory=list)
    overwritten: list[Landing] = field(default_factory=list)
    _written_at_ms: dict[str, float] = field(default_factory=dict)
    _directories: dict[str, list[str]] = field(default_factory=dict)
    _writes: TokenBucket = field(init=False)
    _reads: TokenBucket = field(init=False)

    def __post_init__(self) -> None:
        self._writes = TokenBucket(self.limits.writes_per_s)
        self._reads = TokenBucket(self.limits.reads_per_s)

    def throttles(self, request: StoreRequest, now_ms: float) -> bool:
        """Whether the limits refuse this request now. A request that passes is counted."""
        bucket = self._writes if isinstance(request, _WRITES) else self._reads
        return not (bucket.unlimited or bucket.admits(now_ms))

    def as_sent(self, request: StoreRequest) -> StoreRequest:
        """What a request that is sent now will do.

        Without put-if-absent, whoever finds no object when sending overwrites what comes meanwhile.
        """
        if self.exclusive or not isinstance(request, PutIfAbsent) or request.key in self.objects:
            return request
        return Put(request.key, request.body)

    def take_effect(
        self, request: StoreRequest, now_ms: float, transaction_id: int | None
    ) -> StoreResponse:
        """Do what the request asks, now."""
        if isinstance(request, Get):
            found = self.objects.get(request.key)
            return Missing() if found is None else Body(found.body)
        if isinstance(request, ListFrom):
            return self._listing(request.start)
        if isinstance(request, PutIfAbsent):
            return self._create(request.key, request.body, now_ms, transaction_id)
        self._write(request.key, request.body, now_ms)
        self._landed(request.key, now_ms, transaction_id)
        return PutResult.CREATED

    def write_rows(self, file: WriteRows, now_ms: float = 0.0) -> int:
        """Keep a data file's rows. Returns its size in bytes."""
        self.data_files[file.key] = file
        self._written_at_ms[file.key] = now_ms
        return self._data_file_size(file)

    def read_rows(self, request: ReadRows) -> RowsOf | Gone:
        """The rows of data files, in the columns that are asked for."""
        missing = next((key for key in request.keys if key not in self.data_files), None)
        if missing is not None:
            return Gone(missing)
        files = (self.data_files[key] for key in request.keys)
        return RowsOf(tuple(in_columns(f.rows, f.columns, request.columns) for f in files))

    def list_tree(self, below: str) -> Listing:
        """Every key, data files included."""
        files = (self._data_file_entry(file) for file in self.data_files.values())
        entries = (*(stored.entry for stored in self.objects.values()), *files)
        found = (entry for entry in entries if entry.key.startswith(below))
        return Listing(tuple(sorted(found, key=lambda entry: entry.key)))

    def delete(self, keys: Sequence[str]) -> None:
        """Remove objects and data files; one that is not there is no error."""
        for key in keys:
            self.data_files.pop(key, None)
            if self.objects.pop(key, None) is not None:
                self._directories[_directory(key)].remove(key)

    def _data_file_size(self, file: WriteRows) -> int:
        return DATA_FILE_OVERHEAD_BYTES + len(file.rows) * self.bytes_per_row

    def _data_file_entry(self, file: WriteRows) -> Entry:
        at_ms = self.epoch_ms + int(self._written_at_ms[file.key])
        return Entry(file.key, self._data_file_size(file), at_ms)

    def _create(
        self, key: str, body: bytes, now_ms: float, transaction_id: int | None
    ) -> PutResult:
        if key in self.objects:
            return PutResult.ALREADY_EXISTS
        self._write(key, body, now_ms)
        version = version_of_key(key)
        if version is not None:
            self.landings.append(Landing(version, now_ms, transaction_id))
        return PutResult.CREATED

    def _landed(self, key: str, now_ms: float, transaction_id: int | None) -> None:
        """A commit file was written without a look at what was there."""
        version = version_of_key(key)
        if version is None:
            return
        lost = [landing for landing in self.landings if landing.version == version]
        self.overwritten += lost
        self.landings = [landing for landing in self.landings if landing.version != version]
        self.landings.append(Landing(version, now_ms, transaction_id))

    def _write(self, key: str, body: bytes, now_ms: float) -> None:
        if key not in self.objects:
            insort(self._directories.setdefault(_directory(key), []), key)
        entry = Entry(key, len(body), self.epoch_ms + int(now_ms))
        self.objects[key] = StoredObject(body, entry)

    def _listing(self, start: str) -> Listing:
        keys = self._directories.get(_directory(start), [])
        objects = self.objects
        return Listing(tuple([objects[key].entry for key in keys[bisect_left(keys, start) :]]))


def _directory(key: str) -> str:
    return key.rpartition("/")[0]
