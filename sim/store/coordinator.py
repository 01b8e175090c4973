"""How a transaction takes versions of the log: what a commit protocol is given, and what it does.

The protocols are in `sim/store/protocols/`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import msgspec

from whitecap.engine.storage.requests import PutIfAbsent, PutResult
from whitecap.sim.recording.recorder import AttemptRecord, TransactionRecord
from whitecap.sim.scenario.store import LogStore
from whitecap.sim.store.cluster import Cluster
from whitecap.sim.store.connection import Connection
from whitecap.sim.store.contents.log_directory import Moment, Segment
from whitecap.sim.store.requests.kinds import KIND_NAMED, RequestKind
from whitecap.sim.time.kernel import Waiting

Shown = tuple[Segment, Moment]
"""What a listing of the log shows, and when."""

Sees = Callable[[Moment], None] | None
"""Is called with the moment at which the newest version is learnt."""

Pages = Callable[[Sees], Waiting[Shown]]
"""Lists the log, page after page."""


@dataclass(frozen=True, slots=True)
class LogRequests:
    """The requests that each operation on a file of the log takes."""

    before_put: tuple[RequestKind, ...]
    after_put: tuple[RequestKind, ...]
    read: tuple[RequestKind, ...]
    checksum: tuple[RequestKind, ...]
    pointer: tuple[RequestKind, ...]
    delete: tuple[RequestKind, ...]
    probe: tuple[RequestKind, ...]

    @classmethod
    def of(cls, log_store: LogStore) -> LogRequests:
        """In the order of `LogStore.requests`."""
        return cls(*(tuple(KIND_NAMED[name] for name in names) for names in log_store.requests))


class CommitAttempt(msgspec.Struct, frozen=True):
    """One attempt of a transaction at a version; `request` is how Delta asks for it."""

    request: PutIfAbsent
    version: int
    attempt: AttemptRecord

    @property
    def size_bytes(self) -> int:
        return len(self.request.body)

    @property
    def transaction_id(self) -> int:
        return self.attempt.transaction_id

    @property
    def temporary_key(self) -> str:
        """The key of the temporary file, which is written before the version is decided."""
        directory, _, name = self.request.key.rpartition("/")
        return f"{directory}/.{name}.{self.transaction_id}.tmp"


class Coordinator(Protocol):
    """A commit protocol: how one transaction takes versions of the log, and lists it."""

    def take(self, commit: CommitAttempt) -> Waiting[PutResult]:
        """Try to take a version. Raises `StoreRefused`, `WriterCrashed`."""

    def list_log(self, pages: Pages, sees: Sees) -> Waiting[Shown]:
        """Learn the newest version. Raises `StoreRefused`, `WriterCrashed`."""


NewCoordinator = Callable[[Cluster, Connection, TransactionRecord, LogRequests], Coordinator]
