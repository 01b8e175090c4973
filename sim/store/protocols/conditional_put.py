"""Conditional put: the store itself creates `N.json` or says that it is there.

`If-None-Match: *` on S3 (as delta-rs does), `x-goog-if-generation-match: 0` on Google's store
(Delta's GCSLogStore, whose precondition is sent when the file is closed). One request decides.
"""

from __future__ import annotations

from functools import partial

from whitecap.engine.storage.requests import Put, PutIfAbsent, PutResult
from whitecap.sim.store.contents.key_queue import InLine
from whitecap.sim.store.coordinator import CommitAttempt
from whitecap.sim.store.passing import Passing
from whitecap.sim.store.protocols.file_calls import FileCalls, answered
from whitecap.sim.store.requests.kinds import RequestKind
from whitecap.sim.time.kernel import Waiting


class ByConditionalPut(FileCalls):
    """PUT `N.json` if it is absent."""

    def take(self, commit: CommitAttempt) -> Waiting[PutResult]:
        profile = self.cluster.profile.put_if_absent
        sent: Put | PutIfAbsent = commit.request
        if not profile.exclusive:
            sent = self.store.as_sent(commit.request)
        at_key, in_line = profile.at_key, None
        if at_key is not None:
            in_line = partial(self.store.takes_turn, sent, commit.version, at_key)
        passing = self.connection.passing
        if in_line is not None and passing is not None:
            return self._passes(passing, commit, sent, in_line)
        return self._asks(commit, sent, in_line)

    def _asks(
        self, commit: CommitAttempt, sent: Put | PutIfAbsent, in_line: InLine | None
    ) -> Waiting[PutResult]:
        asked = self.connection.ask(
            RequestKind.PUT_IF_ABSENT,
            commit.request.key,
            lambda moment: answered(self._put(commit, sent, moment[0])),
            commit.size_bytes,
            attempt=commit.attempt,
            in_line=in_line,
        )
        result: PutResult = (yield from asked).value
        return result

    def _passes(
        self, passing: Passing, commit: CommitAttempt, sent: Put | PutIfAbsent, in_line: InLine
    ) -> Waiting[PutResult]:
        """What `_asks` comes to where requests are passed."""
        yield passing.sent(RequestKind.PUT_IF_ABSENT, commit.size_bytes)
        turn = passing.arrived_in_line(in_line)
        result = PutResult.ALREADY_EXISTS
        if not turn.taken:
            yield passing.clock.arrive_first()
            result = self._put(commit, sent, turn.effect_ms)
        commit.attempt.effect_at_ms = turn.effect_ms
        passing.left_line(turn, result is PutResult.ALREADY_EXISTS)
        return result

    def _put(self, commit: CommitAttempt, sent: Put | PutIfAbsent, now_ms: float) -> PutResult:
        """The effect."""
        request, version = commit.request, commit.version
        result = self.store.put_commit(sent, version, now_ms, commit.transaction_id)
        if result is PutResult.CREATED and request.actions is not None:
            self.cluster.history.keep(version, request.body, request.actions, now_ms)
        return result
