"""The log of a real table at one of its versions: the state, and how much of the log is kept."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from msgspec import Struct

from whitecap.engine.errors import InvalidInput, InvalidLog, Problem
from whitecap.engine.log.checkpoints.checkpoint import LAST_CHECKPOINT_KEY
from whitecap.engine.log.clients.stored_log import LogGap, StoredLog, contiguous_commits
from whitecap.engine.log.clients.table_log import Listed
from whitecap.engine.log.commit_file import LOG_DIRECTORY, version_of_key
from whitecap.engine.log.snapshot import Snapshot
from whitecap.engine.storage.memory import run
from whitecap.engine.storage.requests import (
    Entry,
    Get,
    ListFrom,
    Listing,
    Missing,
    Request,
    Response,
)
from whitecap.sim.real_table.places import ReadableStore, shown_place, store_at, unreachable

_VERSIONED = re.compile(r"\d{20}\.")
_CHECKPOINT = re.compile(r"\d{20}\.checkpoint\.")

TABLES_KEPT = 4
"""Tables that a process keeps in memory: every run of a sweep begins with the same."""


class RealTable(Struct, frozen=True):
    """A table as its log shows it at the version of its `snapshot`.

    `commits` are the commit files that the log still holds up to there, `checkpoints` the versions
    that have one. `place` may be shown.
    """

    place: str
    snapshot: Snapshot
    commits: Sequence[Listed]
    checkpoints: Sequence[int]


@lru_cache(maxsize=TABLES_KEPT)
def table_at_version(place: str, version: int) -> RealTable:
    """A table of which files are wanted, read once in a process: a version never changes.

    Raises `InvalidInput` as `read_table`.
    """
    return read_table(place, version)


def read_table(place: str, version: int | None = None) -> RealTable:
    """The table in a directory or behind a URI, at its newest version or another one.

    Raises `InvalidInput`: there is no Delta table, its log has gaps or cannot be read, or the
    version is not there (any more).
    """
    try:
        return table_in(store_at(place), shown_place(place), version)
    except OSError as error:
        raise unreachable(shown_place(place), error) from None


def table_in(store: ReadableStore, place: str, version: int | None = None) -> RealTable:
    """As `read_table`, of a store that is open. Raises `OSError` when the store fails."""
    entries = _entries(store)
    versions = [v for v in (version_of_key(entry.key) for entry in entries) if v is not None]
    if not versions:
        raise InvalidInput([Problem(place, f"is no Delta table: no commits in {LOG_DIRECTORY}")])
    if version is not None:
        _require_listed(version, versions, place)
        store = _UpTo(store, version)
        entries = _entries(store)
    commits = contiguous_commits(entries, min(versions))
    return RealTable(place, _snapshot(store, place, version), commits, _checkpoints(entries))


def _entries(store: ReadableStore) -> tuple[Entry, ...]:
    listing = store.answer(ListFrom(f"{LOG_DIRECTORY}/"))
    assert isinstance(listing, Listing)
    return listing.entries


def _require_listed(version: int, versions: Sequence[int], place: str) -> None:
    oldest, newest = min(versions), max(versions)
    if not oldest <= version <= newest:
        said = f"has no version {version}: its log holds versions {oldest} to {newest}"
        raise InvalidInput([Problem(place, said)])


def _snapshot(store: ReadableStore, place: str, version: int | None) -> Snapshot:
    try:
        snapshot = run(StoredLog(encode=None).update(), store)
    except LogGap:
        if version is None:
            raise
        said = f"version {version} cannot be read any more: no checkpoint up to it is left"
        raise InvalidInput([Problem(place, said)]) from None
    if snapshot.metadata is None:
        raise InvalidLog([Problem(place, "no commit and no checkpoint says what the table is")])
    return snapshot


def _checkpoints(entries: Sequence[Entry]) -> list[int]:
    """The versions with a checkpoint."""
    names = (entry.key.rpartition("/")[2] for entry in entries)
    return sorted({int(name[:20]) for name in names if _CHECKPOINT.match(name)})


class _UpTo(Struct, frozen=True):
    """A log without what came after a version; the pointer to a checkpoint may be of later ones."""

    store: ReadableStore
    version: int

    def answer(self, request: Request) -> Response:
        """Perform a request."""
        if request == Get(LAST_CHECKPOINT_KEY):
            return Missing()
        response = self.store.answer(request)
        if not isinstance(response, Listing):
            return response
        return Listing(tuple(entry for entry in response.entries if not self._is_later(entry)))

    def _is_later(self, entry: Entry) -> bool:
        name = entry.key.rpartition("/")[2]
        return bool(_VERSIONED.match(name)) and int(name[:20]) > self.version
