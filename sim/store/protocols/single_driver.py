"""Delta's S3SingleDriverLogStore: look whether `N.json` is there, then write it.

A lock of the JVM makes that safe among the writers of one driver. Two drivers that look before
either has written both write, and the first commit is lost without a word.
Source: delta-io/delta v4.4.0, storage/S3SingleDriverLogStore.java.
"""

from __future__ import annotations

from whitecap.engine.storage.requests import Put, PutResult
from whitecap.sim.store.contents.log_directory import Moment
from whitecap.sim.store.coordinator import CommitAttempt
from whitecap.sim.store.exchange import Reply
from whitecap.sim.store.protocols.file_calls import FileCalls, answered
from whitecap.sim.store.requests.kinds import RequestKind
from whitecap.sim.time.kernel import Waiting


class SingleDriver(FileCalls):
    """Lock; `exists`; `create(overwrite = false)`, which looks again; PUT, whatever is there."""

    def take(self, commit: CommitAttempt) -> Waiting[PutResult]:
        return self.alone(commit.version, self._write(commit))

    def _write(self, commit: CommitAttempt) -> Waiting[PutResult]:
        if self.in_doubt != commit.version:
            for _ in ("exists", "create"):
                if (yield from self.is_there(commit.version, commit.attempt)):
                    return PutResult.ALREADY_EXISTS
        version, transaction_id = commit.version, commit.transaction_id
        put = Put(commit.request.key, commit.request.body)

        def overwrites(moment: Moment) -> Reply:
            return answered(self.store.put_commit(put, version, moment[0], transaction_id))

        size_bytes = commit.size_bytes
        return (yield from self.decides(RequestKind.PUT, put.key, overwrites, commit, size_bytes))
