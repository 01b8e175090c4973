"""The commit loop: put-if-absent, and against each winner the conflict check.

Source: `OptimisticTransaction.scala: doCommitRetryIteratively`, `checkForConflicts`,
`getConflictingVersions`. There is no back-off and no limit in time; every winner is checked once.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from whitecap.engine.conflicts.checker import check
from whitecap.engine.conflicts.current import CurrentTransaction
from whitecap.engine.conflicts.winner import WinningCommit
from whitecap.engine.log.actions import AnyAction
from whitecap.engine.log.clients.stored_log import LogGap
from whitecap.engine.log.clients.table_log import Listed, TableLog
from whitecap.engine.log.commit_file import Commit, encode_commit, log_key
from whitecap.engine.outcomes import Aborted, Committed, NothingToCommit, Outcome, Unknown, Verdict
from whitecap.engine.refusals import commit_errors, kinds
from whitecap.engine.row_level.resolver import RowResolver
from whitecap.engine.settings import Settings
from whitecap.engine.storage.requests import PutIfAbsent, PutResult, ReadClock, Steps
from whitecap.engine.transaction.lost_reply import MAX_RESENDS, LostReply


class PutOutcome(Struct, frozen=True):
    """What came of putting one version: the last result, and how often it was sent."""

    result: PutResult
    sent: int


class Candidate(Struct, frozen=True):
    """A transaction, resolved against every commit before `version`, which it is to become."""

    current: CurrentTransaction
    version: int


def commit_loop(ready: ReadyCommit) -> Steps[Outcome]:
    """Try version after version until this transaction is committed, refused or unknown.

    Raises `DeltaError` when the attempts that the session allows are used up.
    """
    current, checks = ready.current, ready.checks
    settings, lost_reply = checks.settings, checks.lost_reply
    candidate = Candidate(current, current.snapshot.version + 1)
    first_version, sent, contended, body = candidate.version, 0, False, b""
    for _ in range(settings.max_commit_attempts + 1):
        if contended:
            answer = yield from checks.against_winners(candidate, sent)
            if not isinstance(answer, Candidate):
                return answer
            body = body if answer.current is candidate.current else b""
            candidate = answer
        current, version = candidate.current, candidate.version
        body = body or encode_commit(current.lines)
        actions = current.lines if ready.reads_back else None
        put = yield from put_commit(log_key(version), body, lost_reply, actions)
        sent += put.sent
        match put.result:
            case PutResult.CREATED:
                return Committed(version, current.commit_info, current.lines, sent)
            case PutResult.UNKNOWN:
                return Unknown(version, sent)
            case PutResult.ALREADY_EXISTS:
                contended = True
    return (yield from give_up(candidate.current, settings, first_version, candidate.version))


class Checks(Struct, frozen=True):
    """What a transaction does after a lost attempt: one listing, then winner by winner.

    `rows` checks conflicts where files alone do not decide; a compaction that others have done
    meanwhile then has nothing left to commit.
    """

    table_log: TableLog
    settings: Settings
    lost_reply: LostReply
    rows: RowResolver | None = None

    def against_winners(self, candidate: Candidate, sent: int) -> Steps[Candidate | Outcome]:
        """Read each winner and check against it, in order; the first conflict ends it.

        No winner at all means that the same version is tried again.
        """
        current, version = candidate.current, candidate.version
        for version_in_the_way, entry in (yield from _listed(self.table_log, version)):
            winner = yield from self.table_log.read_commit(version_in_the_way, entry)
            if version_in_the_way == candidate.version and self._is_own(winner, current):
                return Committed(version, current.commit_info, current.lines, sent)
            version = version_in_the_way + 1
            if self.rows is None and current.passes_by(winner):
                continue
            answer = yield from self._check(current, winner)
            if isinstance(answer, Verdict):
                return Aborted(answer, sent)
            current = answer
        if self.rows is not None and candidate.current.actions and not current.actions:
            return NothingToCommit(version - 1)
        return Candidate(current, version)

    def _check(
        self, current: CurrentTransaction, winner: Commit
    ) -> Steps[CurrentTransaction | Verdict]:
        """Source: `resolveConflicts`, one winner."""
        winning = WinningCommit(winner)
        if self.rows is None:
            return check(current, winning, self.settings)
        return (yield from self.rows.check(current, winning))

    def _is_own(self, winner: Commit, current: CurrentTransaction) -> bool:
        """Whether the commit in the way is this transaction's own, and may be taken as such.

        Source: `commit.idempotencyCheck.enabled`: only the first version in the way is looked at.
        """
        checked = self.settings.commit_idempotency_check
        checked = checked or self.lost_reply is LostReply.RESEND_AND_CHECK
        commit_info = winner.commit_info
        return checked and commit_info is not None and commit_info.txn_id == current.txn_id


class ReadyCommit(Struct, frozen=True):
    """A transaction before its first attempt, and its checks: all that its commit loop goes by.

    `reads_back`: whoever reads its commit file finds the very actions, order of keys included.
    """

    current: CurrentTransaction
    checks: Checks
    reads_back: bool = False

    def branched(self) -> ReadyCommit:
        """The same, for a commit loop of its own: what one looks at no other has seen."""
        rows = self.checks.rows
        if rows is None:
            return self
        checks = replace(self.checks, rows=rows.branched())
        return replace(self, checks=checks)


def put_commit(
    key: str, body: bytes, lost_reply: LostReply, actions: Sequence[AnyAction] | None = None
) -> Steps[PutOutcome]:
    """Put one version; after a lost reply send it again if the policy says so."""
    sent = 0
    while True:
        result = yield PutIfAbsent(key, body, actions)
        sent += 1
        is_last = lost_reply is LostReply.SURFACE or sent > MAX_RESENDS
        if result is not PutResult.UNKNOWN or is_last:
            return PutOutcome(result, sent)


def _listed(table_log: TableLog, version: int) -> Steps[list[Listed]]:
    """Commits from `version` on. Raises `DeltaError` (AssertionError) where some are missing."""
    try:
        return (yield from table_log.listed_after(version - 1))
    except LogGap as gap:
        raise kinds.assertion(f"Expected {gap.expected} but got {gap.existing}") from gap


def give_up(
    current: CurrentTransaction, settings: Settings, first_version: int, version: int
) -> Steps[Outcome]:
    """Raises `DeltaError`. Source: `maxCommitRetriesExceededException`."""
    now_ms = yield ReadClock()
    raise commit_errors.commit_retries_exceeded(
        settings.max_commit_attempts + 1,
        first_version,
        version,
        len(current.lines),
        now_ms - (current.commit_info.timestamp or now_ms),
    )
