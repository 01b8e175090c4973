"""The table at each version equals running the statements one after the other.

The order is that of versions where nobody missed an earlier one; else an order that the graph of
dependencies allows, and the tables are compared where both orders have run the same statements.
Each stretch begins with the rows that are really there, so that one fault does not lead to others.
"""

from __future__ import annotations

import heapq
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Protocol

from whitecap.sim.oracles.effects import RowEffect
from whitecap.sim.oracles.evidence import Evidence
from whitecap.sim.oracles.finding import Anomaly, Finding, Oracle
from whitecap.sim.oracles.graph import Edge, node_of
from whitecap.sim.oracles.row_changes import RowMultiset, RowsUnreadable, VersionChange, shown
from whitecap.sim.oracles.statements.parsing import NotTranslated

Unchecked = dict[int, str]
"""Versions that could not be replayed, each with the reason."""


class StatementReplayer(Protocol):
    """Runs the statements of versions again.

    Raises `NotTranslated` for what it cannot run, and `RowsUnreadable`.
    """

    @property
    def main_versions(self) -> Mapping[str, int]:
        """Transaction -> the version that its statement made; others of it change no rows."""

    def is_main(self, version: int) -> bool:
        """Whether a version is what its writer's statement made."""

    def meaning(self, version: int) -> object:
        """What is to be done for a version."""

    def explain(self, versions: Sequence[int]) -> bool:
        """Whether their statements, one after the other, do what these versions did."""

    def effect(self, versions: Sequence[int], state: int) -> RowEffect:
        """What their statements do to the rows that are there before version `state`."""


def serial_order(evidence: Evidence, edges: Iterable[Edge]) -> list[int]:
    """The order of versions that keeps all edges, as near as can be to their own.

    Those in a cycle come last.
    """
    versions = list(evidence.changes.changes)
    of_name: dict[str, list[int]] = defaultdict(list)
    for version in versions:
        of_name[node_of(evidence, version)].append(version)
    followers: dict[int, set[int]] = defaultdict(set)
    for edge in edges:
        for before in of_name[edge.before]:
            followers[before].update(of_name[edge.after])
    waiting = dict.fromkeys(versions, 0)
    for version in (v for after in followers.values() for v in after):
        waiting[version] += 1
    ready = [version for version in versions if not waiting[version]]
    order = []
    while ready:
        version = heapq.heappop(ready)
        order.append(version)
        for after in followers[version]:
            waiting[after] -= 1
            if not waiting[after]:
                heapq.heappush(ready, after)
    return order + sorted(set(versions) - set(order))


def stretches(order: Sequence[int]) -> Iterator[list[int]]:
    """Consecutive parts of an order that hold the same versions as the same part of the log."""
    stretch: list[int] = []
    due = sorted(order)
    begin = 0
    for at, version in enumerate(order):
        stretch.append(version)
        if max(stretch) == due[at] and min(stretch) == due[begin]:
            yield stretch
            stretch, begin = [], at + 1


def replay_findings(
    evidence: Evidence,
    effects: StatementReplayer,
    order: Sequence[int],
    unchecked: Unchecked,
    cyclic: Collection[int],
) -> Iterator[Finding]:
    """Stretches of the log whose rows are not what their statements make.

    Stretches with a version that is `cyclic` are left out: the graph has reported these. What
    cannot be replayed is added to `unchecked`.
    """
    for stretch in stretches(order):
        if not set(stretch).isdisjoint(cyclic):
            continue
        try:
            finding = _of_stretch(evidence, effects, stretch)
        except (NotTranslated, RowsUnreadable) as problem:
            unchecked.update(dict.fromkeys(sorted(stretch), str(problem)))
            continue
        if finding is not None:
            yield finding


def _of_stretch(
    evidence: Evidence, effects: StatementReplayer, stretch: Sequence[int]
) -> Finding | None:
    changes = [evidence.changes.changes[version] for version in sorted(stretch)]
    for change in changes:
        if change.problem or (change.reshaped and len(stretch) > 1):
            raise RowsUnreadable(change.problem or "columns change among concurrent versions")
    if changes[0].reshaped:
        effects.meaning(changes[0].version)
        return None
    if all(change.is_none and not effects.is_main(change.version) for change in changes):
        effects.meaning(changes[0].version)
        return None
    if effects.explain(stretch):
        return None
    replayed_effect = effects.effect(stretch, changes[0].version)
    recorded_effect = _together(changes)
    if replayed_effect == recorded_effect:
        return None
    return _difference(evidence, effects, changes, replayed_effect, recorded_effect)


def _together(changes: Sequence[VersionChange]) -> RowEffect:
    """What several versions did to the rows."""
    if len(changes) == 1:
        return RowEffect(changes[0].gone, changes[0].new)
    gone: RowMultiset = Counter()
    new: RowMultiset = Counter()
    for change in changes:
        gone, new = gone + (change.gone - new), (new - change.gone) + change.new
    return RowEffect(gone - new, new - gone)


def _difference(
    evidence: Evidence,
    effects: StatementReplayer,
    changes: Sequence[VersionChange],
    replayed_effect: RowEffect,
    recorded_effect: RowEffect,
) -> Finding:
    last = changes[-1]
    missing = (replayed_effect.new - recorded_effect.new) + (
        recorded_effect.gone - replayed_effect.gone
    )
    surplus = (recorded_effect.new - replayed_effect.new) + (
        replayed_effect.gone - recorded_effect.gone
    )
    names = ", ".join(evidence.name_of(change.version) for change in changes)
    counts = f"{_count(missing)} missing, {_count(surplus)} there that should not be"
    anomaly, why = _explained(evidence, effects, last)
    return Finding(
        oracle=Oracle.SERIAL_REPLAY,
        anomaly=anomaly,
        sentence=f"{names}: run one after the other the statements make other rows than the table "
        f"has: {counts}{why}",
        transactions=tuple(node_of(evidence, change.version) for change in changes),
        versions=tuple(change.version for change in changes),
        files=tuple(sorted({key[0] for change in changes for key in change.dead})),
        rows=shown(missing, last.schema) + shown(surplus, last.schema),
    )


def _count(rows: RowMultiset) -> str:
    number = rows.total()
    return f"{number} row is" if number == 1 else f"{number} rows are"


def _explained(
    evidence: Evidence, effects: StatementReplayer, change: VersionChange
) -> tuple[Anomaly, str]:
    """Where wrong rows come from, if they are right for an earlier version or were made twice."""
    owner = evidence.owners.get(change.version)
    if owner is None:
        return Anomaly.WRONG_ROWS, ""
    if not effects.is_main(change.version):
        first = effects.main_versions[owner.name]
        return Anomaly.DUPLICATE, f"; {owner.name} had changed rows in version {first} already"
    read = owner.read_version
    if read is None or read >= change.version - 1:
        return Anomaly.WRONG_ROWS, ""
    earlier = effects.effect([change.version], read + 1)
    overwritten = [
        v for v in range(read + 1, change.version)
        if evidence.changes.changes[v].gone & earlier.gone
    ]  # fmt: skip
    if overwritten:
        shown_as = evidence.name_of(overwritten[0])
        return Anomaly.LOST_UPDATE, f"; it changed rows that {shown_as} had changed meanwhile"
    if earlier == _together([change]):
        return Anomaly.G_SINGLE, f"; they are right for version {read}, which it read"
    return Anomaly.WRONG_ROWS, ""
