"""What all commit protocols share: calls of a file system, as requests.

A protocol is written down as the log store that it describes, one request after the other. State
changes only in the effect of a request; so what a driver that dies between two of them leaves
behind is what its protocol leaves behind.
"""

from __future__ import annotations

from typing import TypeVar

from msgspec import Struct

from whitecap.engine.log.commit_file import log_key
from whitecap.engine.storage.requests import PutResult
from whitecap.engine.transaction.lost_reply import LostReply
from whitecap.sim.recording.records import AttemptRecord, TransactionRecord
from whitecap.sim.spark.sharing import Mutex
from whitecap.sim.store.cluster import Cluster, WriterCrashed
from whitecap.sim.store.connection import Connection
from whitecap.sim.store.contents.log_directory import Moment
from whitecap.sim.store.contents.objects import FakeStore
from whitecap.sim.store.coordinator import CommitAttempt, LogRequests, Pages, Sees, Shown
from whitecap.sim.store.exchange import DONE, NO_REPLY, Effect, Reply, StoreRefused
from whitecap.sim.store.requests.kinds import RequestKind
from whitecap.sim.time.kernel import Clock, Waiting

T = TypeVar("T")


class FileCalls(Struct):
    """What a log store does with files, as requests.

    `in_doubt` is a version that was asked for without a reply: all that is sent again is what
    decides. `kept` is its lock, which is held until there is a reply or the transaction ends.
    """

    cluster: Cluster
    connection: Connection
    record: TransactionRecord
    requests: LogRequests
    in_doubt: int = -1
    kept: Mutex | None = None

    @property
    def clock(self) -> Clock:
        return self.connection.clock

    @property
    def store(self) -> FakeStore:
        return self.cluster.store

    def list_log(self, pages: Pages, sees: Sees) -> Waiting[Shown]:
        """By nothing but a listing."""
        return pages(sees)

    def is_there(self, version: int, attempt: AttemptRecord | None = None) -> Waiting[bool]:
        """`exists`: whether a commit's file is there; an `attempt` at it has then lost."""

        def look(moment: Moment) -> Reply:
            is_there = self.store.is_published(version)
            if is_there and attempt is not None:
                attempt.effect_at_ms = moment[0]
            return Reply(is_there, "found" if is_there else "missing")

        if not self.requests.probe:
            yield self.clock.arrive()
            return bool(look((self.clock.now_ms, self.clock.order)).value)
        first, *rest = self.requests.probe
        answer = yield from self.connection.ask(first, log_key(version), look)
        if not answer.value:
            yield from self.connection.read(rest, log_key(version), 0)
        return bool(answer.value)

    def write_temporary(self, commit: CommitAttempt) -> Waiting[None]:
        """`create(overwrite = true)`, which does not ask for the file itself; then its bytes."""
        key = commit.temporary_key
        yield from self.connection.read(self.requests.probe[1:], key, 0)
        yield from self.sends(RequestKind.PUT, key, _nothing, commit.size_bytes, shared=False)

    def sends(
        self, kind: RequestKind, key: str, effect: Effect, size_bytes: int = 0, shared: bool = True
    ) -> Waiting[Reply]:
        """A request that can be sent again without harm: until there is a reply."""
        while True:
            asked = self.connection.ask(kind, key, effect, size_bytes, shared)
            if (answer := (yield from asked)) is not NO_REPLY:
                return answer

    def decides(
        self,
        kind: RequestKind,
        key: str,
        effect: Effect,
        commit: CommitAttempt,
        size_bytes: int = 0,
    ) -> Waiting[PutResult]:
        """The request whose effect is the commit; unknown without a reply."""
        self.in_doubt = commit.version
        asked = self.connection.ask(kind, key, effect, size_bytes, attempt=commit.attempt)
        result: PutResult = (yield from asked).value
        return result

    def alone(self, version: int, steps: Waiting[T]) -> Waiting[T]:
        """As the only one of its JVM that writes this version. Source: PathLock.java.

        The client of the store sends again within the log store's call, so the lock is kept while
        that is so.
        """
        if not self.cluster.is_shared:
            return (yield from steps)
        lock, self.kept = self.kept or self.cluster.delta_log.path_lock(version), None
        if not lock.held_by(self.clock):
            yield from self.connection.sender.life.holds(lock)
        try:
            done = yield from steps
        except (WriterCrashed, StoreRefused):
            yield from lock.release(self.clock)
            raise
        if done is PutResult.UNKNOWN and self._sends_again:
            self.kept = lock
        else:
            yield from lock.release(self.clock)
        return done

    @property
    def _sends_again(self) -> bool:
        """Whether the client sends a commit again, where no reply has come."""
        return self.cluster.profile.client.on_lost_reply is not LostReply.SURFACE

    def let_go(self) -> Waiting[None]:
        """The transaction has ended: nothing is sent again."""
        if self.kept is not None:
            yield from self.kept.release(self.clock)


def answered(result: PutResult) -> Reply:
    """The answer to a request that decides."""
    return Reply(result, result.value, taken=result is PutResult.ALREADY_EXISTS)


def _nothing(_: Moment) -> Reply:
    return DONE
