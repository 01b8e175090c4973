"""Delta's S3DynamoDBLogStore: S3 holds the log, an item in DynamoDB decides whose a version is.

To commit version N: (0) lose if `N.json` is there; (1) see that `N-1.json` is, and if its item says
that it is under way, finish it; (2) write the temporary file T(N), then put the item E(N) as under
way unless there is one: that is the commit; (3) copy T(N) to `N.json`; (4) put E(N) as complete,
to go after a time to live. Errors in 3 and 4 are left to others: whoever lists the log asks for the
newest item first, and finishes what is under way.

What can go wrong: a driver that dies after 2 has committed, and its commit appears when somebody
looks; an item that goes before all who have looked for `N.json` have put theirs lets a second one
put E(N), who believes in a commit whose copy is never made (lost without a word).
Source: delta-io/delta v4.4.0, storage-s3-dynamodb/BaseExternalLogStore.java: write, listFrom,
fixDeltaLog, copyFile; S3DynamoDBLogStore.java.
"""

from __future__ import annotations

from whitecap.engine.log.commit_file import LOG_DIRECTORY, log_key
from whitecap.engine.storage.requests import PutResult
from whitecap.sim.store.contents.commit_table import CommitItem, CommitTable
from whitecap.sim.store.contents.log_directory import Moment
from whitecap.sim.store.coordinator import CommitAttempt, Pages, Sees, Shown
from whitecap.sim.store.exchange import DONE, Reply, StoreRefused
from whitecap.sim.store.protocols.file_calls import FileCalls, answered
from whitecap.sim.store.requests.kinds import RequestKind
from whitecap.sim.time.kernel import Waiting

RECOVERY_TRIES = 4
"""Source: `fixDeltaLog`, which gives up at the fourth error."""


class ByDynamoDB(FileCalls):
    """Items by version; a commit is its item."""

    @property
    def table(self) -> CommitTable:
        return self.store.commit_table

    def take(self, commit: CommitAttempt) -> Waiting[PutResult]:
        return self.alone(commit.version, self._write(commit))

    def list_log(self, pages: Pages, sees: Sees) -> Waiting[Shown]:
        """Finish what is under way, then list."""

        def newest(moment: Moment) -> Reply:
            return _lookup_answer(self.table.newest(moment[0]))

        reply = yield from self.connection.ask(RequestKind.QUERY, f"{LOG_DIRECTORY}/", newest)
        item = reply.value
        if item is not None and not item.complete:
            yield from self.alone(item.version, self._recover(item))
        return (yield from pages(sees))

    def _write(self, commit: CommitAttempt) -> Waiting[PutResult]:
        version = commit.version
        if self.in_doubt != version:
            if (yield from self.is_there(version, commit.attempt)):
                return PutResult.ALREADY_EXISTS
            yield from self._see_to(max(0, version - 1), version)
            yield from self.write_temporary(commit)
        item = CommitItem(version, commit.request.body, commit.transaction_id)

        def puts(moment: Moment) -> Reply:
            if not self.table.put_if_absent(item, moment[0]):
                return answered(PutResult.ALREADY_EXISTS)
            self.store.lands(version, moment[0], commit.transaction_id)
            return answered(PutResult.CREATED)

        result = yield from self.decides(RequestKind.PUT_ITEM, log_key(version), puts, commit)
        if result is PutResult.CREATED:
            yield from self._follow(item)
        return result

    def _see_to(self, previous: int, version: int) -> Waiting[None]:
        """See that the version before is in the log; of the first one, that no item is left."""

        def gets(moment: Moment) -> Reply:
            return _lookup_answer(self.table.item(previous, moment[0]))

        key = log_key(previous)
        item = (yield from self.connection.ask(RequestKind.GET_ITEM, key, gets)).value
        if previous == version:
            return
        if item is None or item.complete:
            yield from self.is_there(previous)
        else:
            yield from self.alone(previous, self._recover(item))

    def _follow(self, item: CommitItem) -> Waiting[None]:
        """Copy and complete. Who cannot leaves it to others; Delta then looks for the file."""
        try:
            if (yield from self._copy(item)):
                yield from self._complete(item)
        except StoreRefused:
            yield self.clock.arrive()
            if not self.store.is_published(item.version):
                raise

    def _recover(self, item: CommitItem) -> Waiting[None]:
        """Finish a commit of somebody else. Source: `fixDeltaLog`."""
        for tries in range(1, RECOVERY_TRIES + 1):
            try:
                is_there = yield from self.is_there(item.version)
                if is_there or (yield from self._copy(item)):
                    yield from self._complete(item)
                    return
            except StoreRefused:
                if tries == RECOVERY_TRIES:
                    raise

    def _copy(self, item: CommitItem) -> Waiting[bool]:
        """T(N) to `N.json`, without overwriting: whether it was this copy. Source: `copyFile`."""
        key, size_bytes = log_key(item.version), len(item.body)
        yield from self.connection.read(self.requests.read, f"{key}.tmp", size_bytes)
        if (yield from self.is_there(item.version)):
            return False

        def appears(moment: Moment) -> Reply:
            self.store.publish(item.version, item.body, moment[0])
            return DONE

        yield from self.sends(RequestKind.PUT, key, appears, size_bytes)
        return True

    def _complete(self, item: CommitItem) -> Waiting[None]:
        """Put the item as complete; it goes later, by this driver's clock in whole seconds."""
        dynamodb = self.cluster.profile.dynamodb
        assert dynamodb is not None
        wall_s = self.cluster.wall_ms(self.clock.now_ms) // 1000
        expires_ms = (wall_s + dynamodb.ttl // 1000) * 1000 - self.store.epoch_ms

        def completes(_: Moment) -> Reply:
            self.table.put_complete(item, expires_ms)
            return DONE

        yield from self.sends(RequestKind.PUT_ITEM, log_key(item.version), completes)


def _lookup_answer(item: CommitItem | None) -> Reply:
    return Reply(item, "missing" if item is None else "found")
