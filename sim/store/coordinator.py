"""How a transaction takes versions of the log: what a commit protocol is given, and what it does.

The protocols are in `sim/store/protocols/`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import Protocol

from msgspec import Struct

from whitecap.engine.storage.requests import PutIfAbsent, PutResult
from whitecap.sim.recording.records import AttemptRecord, TransactionRecord
from whitecap.sim.scenario.store import StoreSection
from whitecap.sim.spark.sharing import Mutex
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
    """What a client asks of the log: the requests that each operation on one of its files takes.

    A listing has pages of `page_size` keys, or is one page of what is new (`fast_listing`).
    `commit_lock`: commits of one driver exclude each other, and whoever lists.
    """

    before_put: tuple[RequestKind, ...]
    after_put: tuple[RequestKind, ...]
    read: tuple[RequestKind, ...]
    checksum: tuple[RequestKind, ...]
    pointer: tuple[RequestKind, ...]
    delete: tuple[RequestKind, ...]
    probe: tuple[RequestKind, ...]
    _: KW_ONLY
    page_size: int
    fast_listing: bool
    commit_lock: bool

    @classmethod
    def of(cls, profile: StoreSection) -> LogRequests:
        """Those of a store's profile, in the order of `LogStore.requests`."""
        log_store = profile.log_store
        kinds = (tuple(KIND_NAMED[name] for name in names) for names in log_store.requests)
        return cls(
            *kinds,
            page_size=profile.list.page_size,
            fast_listing=profile.spark.fast_listing,
            commit_lock=log_store.commit_lock,
        )


class CommitAttempt(Struct, frozen=True):
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
    """A commit protocol: how one transaction takes versions of the log, and lists it.

    `kept` is a lock of its JVM that it holds from one sending of a commit to the next.
    """

    kept: Mutex | None

    def take(self, commit: CommitAttempt) -> Waiting[PutResult]:
        """Try to take a version. Raises `StoreRefused`, `WriterCrashed`."""

    def list_log(self, pages: Pages, sees: Sees) -> Waiting[Shown]:
        """Learn the newest version. Raises `StoreRefused`, `WriterCrashed`."""

    def let_go(self) -> Waiting[None]:
        """The transaction has ended: release what is kept."""


NewCoordinator = Callable[[Cluster, Connection, TransactionRecord, LogRequests], Coordinator]
