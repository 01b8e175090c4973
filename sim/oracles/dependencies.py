"""What the dependency graph says: which anomaly, and whether the level forbids it.

Serializable promises the order of versions, so that a reader that missed an earlier version is
wrong by itself. WriteSerializable promises some order, so that only a cycle is wrong: a missed
INSERT may be thought of as coming later. That promise is more than Delta's check keeps: somebody
else may have seen the INSERT, and read what is changed by who missed it (observed on Delta 4.4.0:
`winners-cycle-ws` in tests/conformance/cases/several_winners.json). Such a cycle is told as what it
is. Sources: Adya 1999; Delta's isolationLevels.scala.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from whitecap.engine.isolation import IsolationLevel
from whitecap.sim.oracles.evidence import Evidence
from whitecap.sim.oracles.finding import LETS_MISS, Anomaly, Finding, Oracle
from whitecap.sim.oracles.graph import DependencyKind, Edge, Graph, worst_cycle
from whitecap.sim.oracles.row_changes import RowMultiset, shown


def dependency_findings(evidence: Evidence, graph: Graph) -> Iterator[Finding]:
    """Forbidden cycles of the graph, those against the order of versions first."""
    missed = [e for e in graph.missed() if _promises_order(evidence, e.before_version)]
    for edge in missed:
        yield _against_the_order(evidence, graph, edge)
    left = [edge for edge in graph.edges if edge not in missed]
    if (cycle := worst_cycle(left)) is not None:
        only_inserts = _only_inserts_missed(evidence, graph, cycle)
        yield _finding(evidence, _anomaly_of(cycle), cycle, only_inserts_missed=only_inserts)
    yield from _intermediate_reads(evidence)


def _promises_order(evidence: Evidence, version: int) -> bool:
    return evidence.level_at(version) is IsolationLevel.SERIALIZABLE


def _against_the_order(evidence: Evidence, graph: Graph, edge: Edge) -> Finding:
    back = (each for each in graph.edges if (each.before, each.after) == (edge.after, edge.before))
    if (cycle := worst_cycle([edge, *back])) is not None:
        return _finding(evidence, _anomaly_of(cycle), cycle)
    reader, missed = edge.before_version, edge.after_version
    change = evidence.changes.changes[missed]
    order = f"version {missed} comes before version {reader} in the table's history"
    name = f"{evidence.name_of(reader)} read version {evidence.owners[reader].read_version}"
    return Finding(
        oracle=Oracle.DEPENDENCY_GRAPH,
        anomaly=Anomaly.G_SINGLE,
        sentence=f"{name} and committed without seeing {evidence.name_of(missed)}, which changed "
        "rows that its statement reads; Serializable promises the order of versions",
        cycle=(edge.sentence(evidence), order),
        transactions=(edge.before, edge.after),
        versions=(missed, reader),
        rows=shown(change.new or change.gone, change.schema),
    )


def _anomaly_of(cycle: Sequence[Edge]) -> Anomaly:
    kinds = [edge.kind for edge in cycle]
    reads = kinds.count(DependencyKind.RW)
    if reads > 1:
        return Anomaly.G2
    if reads == 1:
        return (
            Anomaly.LOST_UPDATE
            if set(kinds) == {DependencyKind.RW, DependencyKind.WW}
            else Anomaly.G_SINGLE
        )
    return Anomaly.G1C if DependencyKind.WR in kinds else Anomaly.G0


def _only_inserts_missed(evidence: Evidence, graph: Graph, cycle: Sequence[Edge]) -> bool:
    """Whether nobody in a cycle overwrote what it had not seen, or missed anything but INSERTs."""

    def is_allowed(edge: Edge) -> bool:
        if edge.kind is DependencyKind.RW:
            return edge.before_version < edge.after_version or edge.after_version in graph.blind
        later = evidence.owners.get(edge.after_version)
        return later is not None and (later.read_version or 0) >= edge.before_version

    return all(map(is_allowed, cycle))


def _finding(
    evidence: Evidence,
    anomaly: Anomaly,
    cycle: Sequence[Edge],
    *,
    only_inserts_missed: bool = False,
) -> Finding:
    versions = sorted({v for edge in cycle for v in (edge.before_version, edge.after_version)})
    changes = evidence.changes.changes
    rows = next((shown(changes[v].new, changes[v].schema) for v in versions if changes[v].new), ())
    return Finding(
        oracle=Oracle.DEPENDENCY_GRAPH,
        anomaly=anomaly,
        sentence=f"no serial order explains {_listed(versions)}: {anomaly.meaning}"
        + (f"; WriteSerializable {LETS_MISS}" if only_inserts_missed else ""),
        cycle=tuple(edge.sentence(evidence) for edge in cycle),
        transactions=tuple(dict.fromkeys(edge.before for edge in cycle)),
        versions=tuple(versions),
        files=tuple(sorted({key[0] for v in versions for key in changes[v].dead})),
        rows=rows,
        only_inserts_missed=only_inserts_missed,
    )


def _listed(versions: Sequence[int]) -> str:
    return "versions " + ", ".join(map(str, versions))


def _intermediate_reads(evidence: Evidence) -> Iterator[Finding]:
    """Transactions that read between two versions of another one, rows that this took back."""
    changes = evidence.changes.changes
    for name, versions in evidence.written.items():
        for first in versions[:-1]:
            taken_back = _taken_back(evidence, first, versions)
            if taken_back:
                last = max(v for v in versions if changes[v].gone & changes[first].new)
                yield from _reads_between(evidence, name, first, last, taken_back)


def _taken_back(evidence: Evidence, first: int, versions: Sequence[int]) -> RowMultiset:
    """Rows that a version brought and later ones of the same transaction removed."""
    changes = evidence.changes.changes
    taken: RowMultiset = Counter()
    for later in versions:
        if later > first:
            taken += changes[later].gone
    return changes[first].new & taken


def _reads_between(
    evidence: Evidence, name: str, first: int, last: int, taken_back: RowMultiset
) -> Iterator[Finding]:
    """A finding for each other transaction that saw rows before they were taken back."""
    for version, reader in evidence.owned():
        read = reader.read_version
        if reader.name != name and read is not None and first <= read < last:
            yield Finding(
                oracle=Oracle.DEPENDENCY_GRAPH,
                anomaly=Anomaly.G1B,
                sentence=f"{evidence.name_of(version)} read version {read}, in which there are "
                f"rows of {name} that {name} itself took back in version {last}",
                transactions=(name, reader.name),
                versions=(first, version, last),
                rows=shown(taken_back, evidence.changes.changes[first].schema),
            )
