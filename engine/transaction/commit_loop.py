"""The commit loop: put-if-absent, and against each winner the conflict check.

Source: `OptimisticTransaction.scala: doCommitRetryIteratively`, `checkForConflicts`,
`getConflictingVersions`. There is no back-off and no limit in time; every winner is checked once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from whitecap.engine.conflicts.checker import check
from whitecap.engine.conflicts.current import CurrentTransaction
from whitecap.engine.conflicts.winner import WinningCommit
from whitecap.engine.log.commit_file import Commit, encode_commit, log_key
from whitecap.engine.log.table_log import LogGap, TableLog
from whitecap.engine.outcomes import Aborted, Committed, NothingToCommit, Outcome, Unknown, Verdict
from whitecap.engine.refusals import commit_errors
from whitecap.engine.row_level.resolver import RowResolver
from whitecap.engine.settings import Settings
from whitecap.engine.storage.requests import PutIfAbsent, PutResult, ReadClock, Steps
from whitecap.engine.transaction.lost_reply import MAX_RESENDS, LostReply


@dataclass(frozen=True, slots=True)
class PutOutcome:
    """What came of putting one version: the last result, and how often it was sent."""

    result: PutResult
    sent: int


def commit_loop(
    table_log: TableLog,
    current: CurrentTransaction,
    settings: Settings,
    lost_reply: LostReply,
    rows: RowResolver | None = None,
) -> Steps[Outcome]:
    """Try version after version until this transaction is committed, refused or unknown.

    `rows` checks conflicts where files alone do not decide; a compaction that others have done
    meanwhile then has nothing left to commit.

    Raises `DeltaError` when the attempts that the session allows are used up.
    """
    first_version = version = current.snapshot.version + 1
    sent = 0
    contended = False
    body = b""
    for _ in range(settings.max_commit_attempts + 1):
        if contended:
            winners = yield from _winners(table_log, version)
            if winners and _is_own(winners[0], current, settings, lost_reply):
                return Committed(version, current.commit_info, current.lines, sent)
            if rows is None:
                answer = resolve(current, winners, settings)
            else:
                answer = yield from rows.resolve(current, winners)
            if isinstance(answer, Verdict):
                return Aborted(answer, sent)
            if rows is not None and current.actions and not answer.actions:
                return NothingToCommit(version + len(winners) - 1)
            body = body if answer is current else b""
            current, version = answer, version + len(winners)
        body = body or encode_commit(current.lines)
        put = yield from put_commit(log_key(version), body, lost_reply)
        sent += put.sent
        match put.result:
            case PutResult.CREATED:
                return Committed(version, current.commit_info, current.lines, sent)
            case PutResult.UNKNOWN:
                return Unknown(version, sent)
            case PutResult.ALREADY_EXISTS:
                contended = True
    return (yield from _give_up(current, settings, first_version, version))


def resolve(
    current: CurrentTransaction, winners: Sequence[Commit], settings: Settings
) -> CurrentTransaction | Verdict:
    """Check each winner in order, folding what was resolved. Source: `resolveConflicts`."""
    for commit in winners:
        answer = check(current, WinningCommit(commit), settings)
        if isinstance(answer, Verdict):
            return answer
        current = answer
    return current


def put_commit(key: str, body: bytes, lost_reply: LostReply) -> Steps[PutOutcome]:
    """Put one version; after a lost reply send it again if the policy says so."""
    sent = 0
    while True:
        result = yield PutIfAbsent(key, body)
        sent += 1
        give_up = lost_reply is LostReply.SURFACE or sent > MAX_RESENDS
        if result is not PutResult.UNKNOWN or give_up:
            return PutOutcome(result, sent)


def _winners(table_log: TableLog, version: int) -> Steps[Sequence[Commit]]:
    """Commits from `version` on; none at all means that the same version is tried again.

    Raises `DeltaError` (AssertionError) where versions are missing.
    """
    try:
        return (yield from table_log.commits_after(version - 1))
    except LogGap as gap:
        raise commit_errors.assertion(f"Expected {gap.expected} but got {gap.found}") from gap


def _is_own(
    winner: Commit, current: CurrentTransaction, settings: Settings, lost_reply: LostReply
) -> bool:
    """Whether the commit in the way is this transaction's own, and may be taken as such.

    Source: `commit.idempotencyCheck.enabled`: only the first version in the way is looked at.
    """
    checked = settings.commit_idempotency_check or lost_reply is LostReply.RESEND_AND_CHECK
    told = winner.commit_info
    return checked and told is not None and told.txn_id == current.txn_id


def _give_up(
    current: CurrentTransaction, settings: Settings, first_version: int, version: int
) -> Steps[Outcome]:
    """Source: `maxCommitRetriesExceededException`."""
    now_ms = yield ReadClock()
    raise commit_errors.commit_retries_exceeded(
        settings.max_commit_attempts + 1,
        first_version,
        version,
        len(current.lines),
        now_ms - (current.commit_info.timestamp or now_ms),
    )
