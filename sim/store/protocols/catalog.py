"""Catalog-managed commits: a staged file becomes version N when the catalog ratifies it.

To commit version N: write `_staged_commits/N.<uuid>.json` while the log is listed for what is
published; then ask the catalog to ratify it, which it does for one writer, once: that is the
commit. Every snapshot asks the catalog besides the listing, and both at the same time. Published to
`N.json` it is later, by a thread beside the writer's own, with all that are not published yet.

What can go wrong: a driver that dies before it is ratified leaves a staged file that nobody reads;
one that dies after has committed, everybody reads the staged file, and the next writer publishes
it. Source: delta-io/delta v4.4.0, PROTOCOL.md (catalog-managed tables);
storage/commit/uccommitcoordinator/UCCommitCoordinatorClient.java: commitImpl.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from whitecap.engine.log.commit_file import log_key
from whitecap.engine.storage.requests import PutResult
from whitecap.sim.store.cluster import WriterCrashed
from whitecap.sim.store.connection import Connection, read_effect
from whitecap.sim.store.contents.log_directory import STAGED_COMMITS_KEY, Moment, Segment
from whitecap.sim.store.coordinator import CommitAttempt, Pages, Sees, Shown
from whitecap.sim.store.exchange import Reply, StoreRefused
from whitecap.sim.store.protocols.file_calls import FileCalls, answered
from whitecap.sim.store.requests.kinds import RequestKind
from whitecap.sim.time.kernel import Waiting

CATALOG_KEY = "catalog"
"""What requests to the catalog are recorded with: it knows tables, not keys."""

BRANCH, PUBLISHER = 1, 255
"""Numbers of tasks: what a transaction waits for, and what goes on when it has ended."""


class ByCatalog(FileCalls):
    """The catalog decides; the log in the store follows."""

    def take(self, commit: CommitAttempt) -> Waiting[PutResult]:
        request, version, transaction_id = commit.request, commit.version, commit.transaction_id
        if self.in_doubt != version:
            yield from self._with(self._last_published, self._stage(commit))

        def ratifies(moment: Moment) -> Reply:
            return answered(self.store.ratify(request, version, moment[0], transaction_id))

        result = yield from self.decides(RequestKind.RATIFY, CATALOG_KEY, ratifies, commit)
        if result is PutResult.CREATED:
            self._publish_later(version)
        return result

    def list_log(self, pages: Pages, sees: Sees) -> Waiting[Shown]:
        """The catalog's newest version, with the checkpoint that the listing shows of it."""

        def look(moment: Moment) -> Reply:
            if sees is not None:
                sees(moment)
            return Reply((self.store.log.newest, moment), "found")

        def asks(connection: Connection) -> Waiting[Any]:
            return connection.ask(RequestKind.GET_COMMITS, CATALOG_KEY, look)

        (_, listed), answer = yield from self._with(asks, pages(None))
        version, moment = answer.value
        return Segment(version, self.store.log.checkpoint_before(version, listed)), moment

    def _stage(self, commit: CommitAttempt) -> Waiting[None]:
        name = f"{commit.version:020}.{commit.transaction_id}.json"
        key = f"{STAGED_COMMITS_KEY}{name}"
        yield from self.sends(RequestKind.PUT, key, read_effect(0), commit.size_bytes, shared=False)
        yield from self.connection.read((RequestKind.HEAD,), key, 0)

    def _last_published(self, connection: Connection) -> Waiting[None]:
        return connection.read((RequestKind.LIST,), STAGED_COMMITS_KEY, 0)

    def _with(
        self, branch: Callable[[Connection], Waiting[Any]], steps: Waiting[Any]
    ) -> Waiting[tuple[Any, Any]]:
        """Two things at the same time; what came of `steps`, and of the branch beside it.

        Raises `WriterCrashed` or `StoreRefused` as either of them does, when both have ended.
        """
        sender = self.connection.sender
        beside = Connection(replace(sender, life=sender.life.of_task(BRANCH)))
        process = sender.kernel.start(_caught(branch(beside)))
        own = yield from _caught(steps)
        other = yield process
        yield from self.clock.reach(max(self.clock.now_ms, beside.clock.now_ms))
        for ended in (own, other):
            if isinstance(ended, WriterCrashed | StoreRefused):
                raise ended
        return own, other

    # Publishing ---------------------------------------------------------------------------------

    def _publish_later(self, version: int) -> None:
        """Begin to publish all versions up to one, in a thread of its own."""
        sender = self.connection.sender
        life, tape = sender.life.of_thread(PUBLISHER), sender.tape.beside()
        connection = Connection(replace(sender, life=life, tape=tape))
        self.record.threads += 1
        sender.kernel.start(replace(self, connection=connection)._publish(version))

    def _publish(self, version: int) -> Waiting[None]:
        yield from _caught(self._publish_up_to(version))
        self.record.threads -= 1
        self.record.effects_until_ms = max(self.record.effects_until_ms, self.clock.now_ms)

    def _publish_up_to(self, version: int) -> Waiting[None]:
        """One after the other, each without overwriting. Source: `backfillToVersion`."""
        if (yield from self.is_there(version)):
            return

        def unpublished(_: Moment) -> Reply:
            return Reply([v for v in self.store.unpublished if v <= version], "found")

        asked = self.connection.ask(RequestKind.GET_COMMITS, CATALOG_KEY, unpublished)
        for number in (yield from asked).value:
            yield from self._copy(number)

    def _copy(self, version: int) -> Waiting[None]:
        key, size_bytes = log_key(version), self.store.log.sizes[version]
        yield from self.connection.read(self.requests.read, key, size_bytes)

        def appears(moment: Moment) -> Reply:
            return answered(self.store.is_now_published(version, moment))

        yield from self.sends(RequestKind.PUT_IF_ABSENT, key, appears, size_bytes)


def _caught(steps: Waiting[Any]) -> Waiting[Any]:
    """What came of something, the error where it was cut off."""
    try:
        return (yield from steps)
    except (WriterCrashed, StoreRefused) as error:
        return error
