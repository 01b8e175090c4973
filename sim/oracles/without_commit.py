"""Transactions that ended well and committed nothing: there was nothing for them to do.

Whoever is told so goes on as after a commit. A statement that would have changed rows of the
version that it read, or a batch that no version holds, is lost without a trace in the log.
"""

from __future__ import annotations

from collections.abc import Iterator

from whitecap.engine.recorded import RecordedOutcome
from whitecap.sim.oracles.effects import StatementEffects
from whitecap.sim.oracles.evidence import Evidence
from whitecap.sim.oracles.finding import Anomaly, Finding, Oracle
from whitecap.sim.oracles.history import HistoryTransaction
from whitecap.sim.oracles.row_changes import RowsUnreadable, shown
from whitecap.sim.oracles.statements.parsing import NotTranslated

IDENTITY = "txnappid"
"""The option by which a batch write tells its application; the session setting ends with it."""


def without_commit_findings(
    evidence: Evidence, effects: StatementEffects, unchecked: dict[int, str]
) -> Iterator[Finding]:
    """Statements and batches that ended as if there was nothing to do, though there was.

    What cannot be run is added to `unchecked`, by the version that was read.
    """
    first = min(evidence.log.snapshots, default=0)
    ended = [
        (each.read_version, each)
        for each in evidence.transactions
        if _committed_nothing(evidence, each)
        and each.read_version is not None
        and each.read_version >= first
    ]
    progress = _Progress(evidence)
    batches = _batches(evidence)
    for read, transaction in sorted(ended, key=lambda item: item[0]):
        if transaction.app_id is not None and transaction.batch_id is not None:
            if progress.at(read, transaction.app_id) < transaction.batch_id:
                yield _batch(transaction, read)
            elif (difference := _other_rows(transaction, batches)) is not None:
                yield _finding(transaction, read, difference, ())
            continue
        try:
            yield from _statement(evidence, effects, transaction, read)
        except (NotTranslated, RowsUnreadable) as problem:
            unchecked[read] = str(problem)


def _committed_nothing(evidence: Evidence, transaction: HistoryTransaction) -> bool:
    return (
        transaction.outcome is RecordedOutcome.COMMITTED
        and transaction.statement is not None
        and not transaction.acknowledged
        and transaction.name not in evidence.written
    )


def _statement(
    evidence: Evidence, effects: StatementEffects, transaction: HistoryTransaction, read: int
) -> Iterator[Finding]:
    assert transaction.statement is not None
    if read not in evidence.log.snapshots:
        return
    if _may_be_there(evidence, transaction.statement):
        raise NotTranslated("a write with an identity, which the table may have had")
    left_out = effects.undone(transaction.statement, read)
    rows = (left_out.gone - left_out.new) + (left_out.new - left_out.gone)
    if rows:
        count = "1 row" if rows.total() == 1 else f"{rows.total()} rows"
        yield _finding(
            transaction,
            read,
            f"its statement changes {count} of version {read}, which it read",
            shown(rows, evidence.log.snapshots[read].schema),
        )


def _may_be_there(evidence: Evidence, statement: str) -> bool:
    """Whether a write names its application, by an option or by its session."""
    history = evidence.history
    settings = () if history is None else history.promise.settings
    return any(IDENTITY in text.lower() for text in (statement, *settings))


def _batch(transaction: HistoryTransaction, read: int) -> Finding:
    why = f"no version up to {read}, which it read, records batch {transaction.batch_id}"
    return _finding(transaction, read, why, ())


def _batches(evidence: Evidence) -> dict[tuple[str, int], tuple[int, str]]:
    """Application and number of a batch -> the version that holds it, and its text."""
    return {
        (owner.app_id, owner.batch_id): (version, owner.statement)
        for version, owner in evidence.owned()
        if owner.app_id is not None and owner.batch_id is not None and owner.statement is not None
    }


def _other_rows(
    transaction: HistoryTransaction, batches: dict[tuple[str, int], tuple[int, str]]
) -> str | None:
    """What is wrong if a batch is skipped though that of its number has other rows, else `None`."""
    assert transaction.app_id is not None
    assert transaction.batch_id is not None
    version, text = batches.get((transaction.app_id, transaction.batch_id), (-1, None))
    if text in (None, transaction.statement):
        return None
    return f"version {version} holds other rows as its batch {transaction.batch_id}"


def _finding(
    transaction: HistoryTransaction, read: int, why: str, rows: tuple[str, ...]
) -> Finding:
    return Finding(
        oracle=Oracle.SERIAL_REPLAY,
        anomaly=Anomaly.WRONG_ROWS,
        sentence=f"{transaction.name} was told that there was nothing to commit, and {why}",
        transactions=(transaction.name,),
        versions=(read,),
        rows=rows,
    )


class _Progress:
    """How far applications had come; it must be asked in the order of versions."""

    def __init__(self, evidence: Evidence) -> None:
        self._commits = sorted(evidence.commits.items(), reverse=True)
        self._progress = dict(evidence.log.base.set_transactions)

    def at(self, version: int, app_id: str) -> int:
        """At a version, -1 if nothing is recorded."""
        while self._commits and self._commits[-1][0] <= version:
            _, commit = self._commits.pop()
            self._progress |= {each.app_id: each.version for each in commit.set_transactions}
        return self._progress.get(app_id, -1)
