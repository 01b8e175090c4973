"""Conditional put: the store itself creates `N.json` or says that it is there.

`If-None-Match: *` on S3 (as delta-rs does), `x-goog-if-generation-match: 0` on Google's store
(Delta's GCSLogStore, whose precondition is sent when the file is closed). One request decides.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from whitecap.engine.storage.requests import PutResult
from whitecap.sim.store.coordinator import Commit
from whitecap.sim.store.exchange import Answer
from whitecap.sim.store.kinds import Kind
from whitecap.sim.store.log_directory import Moment
from whitecap.sim.store.protocols.file_calls import FileCalls, answered
from whitecap.sim.time.kernel import Waiting


@dataclass(slots=True)
class ConditionalPut(FileCalls):
    """PUT `N.json` if it is absent."""

    def take(self, commit: Commit) -> Waiting[PutResult]:
        request, version, store = commit.request, commit.version, self.store
        is_exclusive = self.cluster.profile.put_if_absent.exclusive
        sent = request if is_exclusive else store.as_sent(request)
        transaction_id, history = commit.transaction_id, self.cluster.history

        def put(moment: Moment) -> Answer:
            result = store.put_commit(sent, version, moment[0], transaction_id)
            if result is PutResult.CREATED and request.actions is not None:
                history.keep(version, request.body, request.actions, moment[0])
            return answered(result)

        at_key = self.cluster.profile.put_if_absent.at_key
        in_line = None if at_key is None else partial(store.takes_turn, sent, at_key)
        asked = self.connection.ask(
            Kind.PUT_IF_ABSENT,
            request.key,
            put,
            commit.size_bytes,
            attempt=commit.attempt,
            in_line=in_line,
        )
        result: PutResult = (yield from asked).value
        return result
