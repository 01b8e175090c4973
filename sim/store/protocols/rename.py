"""Stores with an atomic rename: a temporary file becomes `N.json` unless that is there.

HDFS (Delta's HDFSLogStore: `FileContext.rename` without overwriting) and Azure's ABFS (its
AzureLogStore: the rename carries `If-None-Match: *`). What a driver that dies before the rename
leaves behind is a temporary file that nobody reads.
Source: delta-io/delta v4.4.0, storage/HDFSLogStore.java,
HadoopFileSystemLogStore.java: writeWithRename.
"""

from __future__ import annotations

from whitecap.engine.storage.requests import PutResult
from whitecap.sim.store.contents.log_directory import Moment
from whitecap.sim.store.coordinator import CommitAttempt
from whitecap.sim.store.exchange import Reply
from whitecap.sim.store.protocols.file_calls import FileCalls, answered
from whitecap.sim.store.requests.kinds import RequestKind
from whitecap.sim.time.kernel import Waiting


class ByRename(FileCalls):
    """`exists`; write the temporary file; rename it, or delete it where that is refused."""

    def take(self, commit: CommitAttempt) -> Waiting[PutResult]:
        request, version, transaction_id = commit.request, commit.version, commit.transaction_id
        if self.in_doubt != version:
            if (yield from self.is_there(version, commit.attempt)):
                return PutResult.ALREADY_EXISTS
            yield from self.write_temporary(commit)

        def renames(moment: Moment) -> Reply:
            return answered(self.store.put_commit(request, version, moment[0], transaction_id))

        result = yield from self.decides(RequestKind.RENAME, request.key, renames, commit)
        if result is PutResult.ALREADY_EXISTS:
            yield from self.connection.read((RequestKind.DELETE,), commit.temporary_key, 0)
        return result
