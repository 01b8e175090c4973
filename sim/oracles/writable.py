"""Whether a table can still be written once nothing fails any more.

Who is refused by an optimistic table is so because another one committed, or because a request
failed. After the last fault neither is left where nobody commits: whoever began then and still
failed would have committed on a sound table of the same rows. What a statement itself is refused
for, a constraint or a column that is not there, says nothing of the table; nor does a request that
is refused by a store at its own limits.
"""

from __future__ import annotations

from collections.abc import Iterator, Set

from whitecap.engine.recorded import Interruption, RecordedOutcome
from whitecap.engine.rules import ConflictException
from whitecap.sim.oracles.evidence import Evidence
from whitecap.sim.oracles.finding import Anomaly, Finding, Oracle
from whitecap.sim.oracles.history import HistoryTransaction, Promise

ANSWERED_BY_THE_TABLE: Set[str] = {*ConflictException, Interruption.STORE_REFUSED}
"""Exceptions that no statement is to blame for."""

DAMAGE = {Anomaly.CONTIGUITY, Anomaly.CONTENT_CHANGED, Anomaly.LOG_FORM}
"""What keeps a client from reading a log."""


def unwritable_findings(evidence: Evidence) -> Iterator[Finding]:
    """Transactions that began after the last fault and all failed, though nobody committed."""
    if evidence.history is None:
        return
    stop = evidence.history.promise.faults_stop
    if stop is None or _is_written_after(evidence, stop):
        return
    blamed = _exceptions_of_the_table(evidence.history.promise)
    failed = [each for each in evidence.transactions if _began_in_vain(each, stop, blamed)]
    if not failed:
        return
    newest = max(evidence.commits, default=-1)
    exceptions = ", ".join(dict.fromkeys(each.exception or each.outcome.value for each in failed))
    who = failed[0].name if len(failed) == 1 else f"{len(failed)} transactions"
    yield Finding(
        oracle=Oracle.LIVENESS,
        anomaly=Anomaly.UNWRITABLE,
        sentence=f"{who} began after the last fault ({stop:g} ms) and failed ({exceptions}), "
        f"though nobody has committed since: after version {newest} the table takes no commit; "
        f"{_leftover(evidence, newest)}",
        transactions=tuple(each.name for each in failed),
        versions=(newest,) if newest >= 0 else (),
    )


def _is_written_after(evidence: Evidence, instant: float) -> bool:
    landed = any(at > instant for at in evidence.landed_at.values())
    return landed or any(
        each.acknowledged and each.ended is not None and each.ended > instant
        for each in evidence.transactions
    )


def _exceptions_of_the_table(promise: Promise) -> Set[str]:
    """Those that it is to blame for: not a store that refuses what is beyond its limits."""
    refused = {Interruption.STORE_REFUSED} if promise.limits else frozenset[str]()
    return ANSWERED_BY_THE_TABLE - refused


def _began_in_vain(transaction: HistoryTransaction, instant: float, blamed: Set[str]) -> bool:
    if transaction.began is None or transaction.began <= instant or transaction.wrote:
        return False
    match transaction.outcome:
        case RecordedOutcome.ABORTED:
            return transaction.exception in blamed
        case RecordedOutcome.UNKNOWN:
            return True
        case RecordedOutcome.COMMITTED | RecordedOutcome.IN_FLIGHT:
            return False


def _leftover(evidence: Evidence, newest: int) -> str:
    """What of the table is in the way, in words."""
    staged = {version for version in evidence.decided if version > newest}
    unfinished = sorted(staged.union(evidence.unfinished))
    if unfinished:
        return f"version {unfinished[0]} is decided beside the log and was never finished"
    damage = [each for each in evidence.log.breaches if each.anomaly in DAMAGE]
    if damage:
        return f"the log is damaged: {damage[0].problem}"
    return "neither the log nor what is decided beside it shows why"
