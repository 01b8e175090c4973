"""Real time, sessions, and ends: what began after an acknowledgement sees it; all come to an end.

A writer's own transactions follow each other in real time, so that one rule holds for both.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator
from math import inf
from typing import Self

from msgspec import Struct

from whitecap.engine.recorded import RecordedOutcome
from whitecap.sim.oracles.evidence import Evidence
from whitecap.sim.oracles.finding import Anomaly, Finding, Oracle
from whitecap.sim.oracles.history import HistoryTransaction


def order_findings(evidence: Evidence) -> Iterator[Finding]:
    """Stale reads, and files written for another table than that of their version."""
    if evidence.history is None:
        return
    own_only = not evidence.history.promise.real_time
    acknowledgements = _Acknowledgements.of(evidence, own_only)
    for transaction in evidence.transactions:
        if transaction.began is None or transaction.read_version is None:
            continue
        newest = acknowledgements.newest_before(
            transaction.began, transaction.writer if own_only else None
        )
        if newest > transaction.read_version:
            yield _stale(evidence, transaction, newest)
    yield from _schema_changes(evidence)


class _Acknowledgements(Struct, frozen=True):
    """When versions were acknowledged, and the newest of all up to then, by writer or of all."""

    instants: dict[str | None, list[float]]
    newest: dict[str | None, list[int]]

    @classmethod
    def of(cls, evidence: Evidence, by_writer: bool) -> Self:
        """Of a history."""
        acknowledgements = cls(defaultdict(list), defaultdict(list))
        ended = [each for each in evidence.transactions if each.ended is not None]
        for each in sorted(ended, key=lambda transaction: transaction.ended or 0.0):
            versions = [v for v in each.acknowledged if v in evidence.commits]
            if versions:
                whose = each.writer if by_writer else None
                before = acknowledgements.newest[whose][-1:]
                acknowledgements.instants[whose].append(each.ended or 0.0)
                acknowledgements.newest[whose].append(max([*before, *versions]))
        return acknowledgements

    def newest_before(self, instant: float, whose: str | None) -> int:
        """The newest version that was acknowledged before an instant, -1 if none was."""
        count = bisect_left(self.instants.get(whose, []), instant)
        return self.newest[whose][count - 1] if count else -1


def _stale(evidence: Evidence, reader: HistoryTransaction, missed: int) -> Finding:
    own = evidence.owners.get(missed)
    session = own is not None and own.writer == reader.writer
    whose = "its own writer's " if session else ""
    return Finding(
        oracle=Oracle.ORDER,
        anomaly=Anomaly.STALE_READ,
        sentence=f"{reader.name} read version {reader.read_version}, though {whose}"
        f"{evidence.name_of(missed)} had been acknowledged before it began",
        transactions=(reader.name, *(() if own is None else (own.name,))),
        versions=(reader.read_version or 0, missed),
    )


def _schema_changes(evidence: Evidence) -> Iterator[Finding]:
    """Columns, partitioning or protocol that changed between what was read and what was written."""
    for version, owner in evidence.owned():
        read = owner.read_version
        if read is None or not evidence.commits[version].adds:
            continue
        for other in range(max(read, 0) + 1, version):
            if _changes_the_table(evidence, other) and evidence.owners.get(other) is not owner:
                yield Finding(
                    oracle=Oracle.ORDER,
                    anomaly=Anomaly.SCHEMA_CHANGE,
                    sentence=f"{evidence.name_of(version)} wrote files for the table of version "
                    f"{read}, and {evidence.name_of(other)} changed its columns or protocol",
                    transactions=(owner.name,),
                    versions=(other, version),
                )


def _changes_the_table(evidence: Evidence, version: int) -> bool:
    snapshots = evidence.log.snapshots
    before, after = snapshots.get(version - 1), snapshots.get(version)
    if before is None or after is None:
        return False
    layout = (before.schema, before.partition_columns) != (after.schema, after.partition_columns)
    return layout and before.metadata is not None


def liveness_findings(evidence: Evidence) -> Iterator[Finding]:
    """Transactions that are still under way though no fault kept them for as long as is enough."""
    promise = None if evidence.history is None else evidence.history.promise
    if promise is None or promise.bound is None or promise.ends is None:
        return
    healed = -inf if promise.faults_stop is None else promise.faults_stop
    for transaction in evidence.transactions:
        if transaction.outcome is not RecordedOutcome.IN_FLIGHT or transaction.began is None:
            continue
        since = max(transaction.began, healed)
        if promise.ends - since > promise.bound:
            yield Finding(
                oracle=Oracle.LIVENESS,
                anomaly=Anomaly.UNRESOLVED,
                sentence=f"{transaction.name} is under way since {transaction.began:g} ms and no "
                f"fault has kept it for {promise.ends - since:g} ms",
                transactions=(transaction.name,),
            )
