"""A store in a directory on disk: the log as JSON, the data files in Parquet.

Put-if-absent is atomic between processes, so several programs may commit to one table. A file
becomes visible whole or not at all: it is written beside its place under a hidden name, and then
linked or renamed. Readers of Delta tables skip hidden names.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

from whitecap.engine.storage.disk.machine import random_ids, wall_clock_ms
from whitecap.engine.storage.disk.parquet import decode_rows, encode_rows
from whitecap.engine.storage.requests import (
    Body,
    Compute,
    Delete,
    Entry,
    Get,
    Gone,
    ListFrom,
    Listing,
    ListTree,
    Missing,
    NewId,
    OfDriver,
    Put,
    PutIfAbsent,
    PutResult,
    ReadClock,
    ReadRows,
    Request,
    Response,
    RowsOf,
    WriteRows,
    Written,
)


class DirectoryStore:
    """Answers requests from the directory of a table, which need not exist before the first put.

    `clock` and `ids` answer `ReadClock` and `NewId`; by default the machine's.
    """

    def __init__(
        self,
        path: str | Path,
        clock: Callable[[], int] = wall_clock_ms,
        ids: Iterator[str] | None = None,
    ) -> None:
        self.path = Path(path)
        self._clock = clock
        self._ids = ids or random_ids()

    def answer(self, request: Request) -> Response:
        """Perform one request. Raises `OSError` when the disk fails."""
        match request:
            case ListFrom(start):
                return self._list_from(start)
            case ListTree(below):
                return Listing(tuple(sorted(self._tree(below), key=lambda entry: entry.key)))
            case Delete(keys):
                for key in keys:
                    self._place(key).unlink(missing_ok=True)
                return None
            case Get(key):
                return self._get(key)
            case PutIfAbsent(key, body):
                return self._put_if_absent(key, body)
            case Put(key, body):
                self._put(key, body)
                return PutResult.CREATED
            case ReadRows():
                return self._read(request)
            case WriteRows():
                return self._write_rows(request)
            case ReadClock():
                return self._clock()
            case NewId():
                return next(self._ids)
            case Compute():
                return None
            case OfDriver():
                raise AssertionError(f"{request} is for another driver")

    def _place(self, key: str) -> Path:
        """Where a key's file is; a key may be an absolute path or a `file:` URI."""
        return self.path / key.removeprefix("file://").removeprefix("file:")

    def _list_from(self, start: str) -> Listing:
        directory, _, first = start.rpartition("/")
        try:
            files = [entry for entry in os.scandir(self._place(directory)) if entry.is_file()]
        except FileNotFoundError:
            return Listing(())
        listed = sorted((e for e in files if e.name >= first), key=lambda entry: entry.name)
        prefix = f"{directory}/" if directory else ""
        return Listing(tuple(_entry(prefix, entry) for entry in listed if not _is_hidden(entry)))

    def _get(self, key: str) -> Body | Missing:
        try:
            return Body(self._place(key).read_bytes())
        except FileNotFoundError:
            return Missing()

    def _put_if_absent(self, key: str, body: bytes) -> PutResult:
        place = self._place(key)
        written = self._write_beside(place, body)
        try:
            os.link(written, place)
        except FileExistsError:
            return PutResult.ALREADY_EXISTS
        finally:
            written.unlink()
        return PutResult.CREATED

    def _put(self, key: str, body: bytes) -> None:
        place = self._place(key)
        self._write_beside(place, body).replace(place)

    def _write_beside(self, place: Path, body: bytes) -> Path:
        """Write to a hidden file of the same directory, all the way to the disk."""
        place.parent.mkdir(parents=True, exist_ok=True)
        hidden = place.with_name(f".{place.name}.{next(self._ids)}.tmp")
        with hidden.open("xb") as file:
            file.write(body)
            file.flush()
            os.fsync(file.fileno())
        return hidden

    def _tree(self, below: str) -> Iterator[Entry]:
        top = self._place(below)
        for folder, _, names in os.walk(top):
            place = Path(folder)
            prefix = "" if place == self.path else place.relative_to(self.path).as_posix() + "/"
            files = (entry for entry in os.scandir(folder) if entry.name in names)
            yield from (_entry(prefix, entry) for entry in files if not _is_hidden(entry))

    def _read(self, request: ReadRows) -> RowsOf | Gone:
        rows = []
        for at, key in enumerate(request.keys):
            try:
                content = self._place(key).read_bytes()
            except FileNotFoundError:
                return Gone(key)
            rows.append(decode_rows(content, request, at))
        return RowsOf(tuple(rows))

    def _write_rows(self, request: WriteRows) -> Written:
        body = encode_rows(request)
        self._put(request.key, body)
        return Written(len(body))


def _entry(prefix: str, entry: os.DirEntry[str]) -> Entry:
    status = entry.stat()
    return Entry(prefix + entry.name, status.st_size, status.st_mtime_ns // 1_000_000)


def _is_hidden(entry: os.DirEntry[str]) -> bool:
    return entry.name.startswith(".")
