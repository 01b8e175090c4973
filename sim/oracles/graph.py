"""Adya's dependency graph with exact edges: a Delta log says in which order versions are.

Nodes are transactions. An edge says which of two comes first in every serial order that explains
the table. ww: the first wrote a row that the second deleted, or removed a file that the second
removed again. wr: the first changed rows that the second read in that state. rw: the first read
what the second changed, without seeing the change. Which rows a statement reads follows from its
text, evaluated by DuckDB on the rows that changed.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum

from msgspec import Struct, field

from whitecap.engine.log.file_keys import FileKey
from whitecap.engine.storage.requests import Row
from whitecap.sim.oracles.effects import StatementEffects
from whitecap.sim.oracles.evidence import Evidence
from whitecap.sim.oracles.row_changes import RowsUnreadable, VersionChange
from whitecap.sim.oracles.statements.parsing import NotTranslated


class DependencyKind(StrEnum):
    """Why one transaction comes before another."""

    WW = "ww"
    WR = "wr"
    RW = "rw"


class Edge(Struct, frozen=True):
    """`before` comes before `after`; each with the version that proves it."""

    kind: DependencyKind
    before: str
    after: str
    before_version: int
    after_version: int

    def sentence(self, evidence: Evidence) -> str:
        """In words."""
        before, after = evidence.name_of(self.before_version), evidence.name_of(self.after_version)
        match self.kind:
            case DependencyKind.WW:
                return f"{after} overwrote rows of {before}"
            case DependencyKind.WR:
                return f"{after} read what {before} wrote"
            case DependencyKind.RW:
                return f"{before} did not see {after}, which changed rows that it read"


class Graph(Struct):
    """All edges.

    `unknown` are versions whose reads cannot be worked out, each with the reason; `blind` those
    whose statement reads nothing of the table.
    """

    edges: list[Edge] = field(default_factory=list)
    unknown: dict[int, str] = field(default_factory=dict)
    blind: set[int] = field(default_factory=set)

    def missed(self) -> list[Edge]:
        """Edges against the order of versions: a reader did not see an earlier version."""
        return [each for each in self.edges if each.before_version > each.after_version]


def graph_of(evidence: Evidence, effects: StatementEffects) -> Graph:
    """The graph of a log and its history.

    Where nobody missed an earlier version and nobody wrote twice all edges lead forward; then only
    those of concurrent transactions are looked for.
    """
    graph = Graph()
    for version, _, read in effects.concurrent():
        low, high = min(read + 1, version), max(read, version)
        between = [c for v, c in evidence.changes.changes.items() if low <= v <= high]
        _add_reads(graph, effects, version, between, range(read + 1, version))
    missed = graph.missed()
    graph.blind = {edge.after_version for edge in missed if effects.is_blind(edge.after_version)}
    if missed or _wrote_again(evidence):
        everything = list(evidence.changes.changes.values())
        reordered = _reordered(missed)
        graph.edges = []
        for version in filter(effects.is_main, evidence.changes.changes):
            near = next((each for each in reordered if version in each), range(0))
            _add_reads(graph, effects, version, everything, near)
        graph.edges += _overwrites(evidence)
    return graph


def _reordered(missed: Iterable[Edge]) -> list[range]:
    """The versions that may change places: from a missed one to the one that missed it."""
    ranges: list[range] = []
    for edge in sorted(missed, key=lambda edge: edge.after_version):
        first, end = edge.after_version, edge.before_version + 1
        if ranges and first in ranges[-1]:
            before = ranges.pop()
            first, end = before.start, max(end, before.stop)
        ranges.append(range(first, end))
    return ranges


def _wrote_again(evidence: Evidence) -> bool:
    changes = evidence.changes.changes
    return any(
        sum(not changes[version].is_none for version in versions) > 1
        for versions in evidence.written.values()
    )


def node_of(evidence: Evidence, version: int) -> str:
    """The name of the transaction that a version belongs to."""
    owner = evidence.owners.get(version)
    return f"version {version}" if owner is None else owner.name


def _add_reads(
    graph: Graph,
    effects: StatementEffects,
    version: int,
    among: Sequence[VersionChange],
    near: range,
) -> None:
    """Add the edges from and to what one version's statement read, or why they are not known."""
    try:
        graph.edges += _reads(effects, version, among, near)
    except (NotTranslated, RowsUnreadable) as problem:
        graph.unknown[version] = str(problem)


def _reads(
    effects: StatementEffects, version: int, among: Sequence[VersionChange], near: range
) -> list[Edge]:
    """The edges from and to what one version's statement read `among` other versions.

    Where rows cannot tell, each version `near` it is tried: does the statement do something else
    without it? Raises `NotTranslated`, `RowsUnreadable`.
    """
    evidence = effects.evidence
    reader = evidence.owners[version]
    others = [
        change
        for change in among
        if node_of(evidence, change.version) != reader.name and not change.is_none
    ]
    matched = effects.matched(version, others)
    if matched is None:
        tried = [change for change in others if change.version in near]
        matched = set(_makes_a_difference(effects, version, tried))
    return [_read_edge(evidence, version, other) for other in sorted(matched)]


def _read_edge(evidence: Evidence, version: int, other: int) -> Edge:
    """Between a reader's version and another, whose rows it read: as that left them, or before."""
    reader, name = evidence.owners[version], node_of(evidence, other)
    read_version = version - 1 if reader.read_version is None else reader.read_version
    if other <= read_version:
        return Edge(DependencyKind.WR, name, reader.name, other, version)
    return Edge(DependencyKind.RW, reader.name, name, version, other)


def _makes_a_difference(
    effects: StatementEffects, version: int, among: list[VersionChange]
) -> Iterator[int]:
    """Versions that change what a statement does."""
    for change in among:
        before, after = (effects.effect([version], change.version + step) for step in (0, 1))
        if before != after:
            yield change.version


def _overwrites(evidence: Evidence) -> Iterator[Edge]:
    """Edges from who wrote a row to who took it away; of equal rows the oldest go first."""
    written: dict[Row, deque[int]] = defaultdict(deque)
    removed: dict[FileKey, int] = {}
    for version, change in evidence.changes.changes.items():
        earlier = {removed[key] for key in change.dead if key in removed}
        for row, count in change.gone.items():
            earlier |= {written[row].popleft() for _ in range(min(count, len(written[row])))}
        for other in sorted(earlier - {version}):
            names = node_of(evidence, other), node_of(evidence, version)
            if names[0] != names[1]:
                yield Edge(DependencyKind.WW, *names, other, version)
        for row, count in change.new.items():
            written[row].extend([version] * count)
        removed |= dict.fromkeys(change.removed - change.dead, version)


def impossible(edges: Sequence[Edge]) -> list[Edge]:
    """The edges against the order of versions that have a way back: both come before the other."""
    leaving = _leaving(edges)
    missed = (edge for edge in edges if edge.before_version > edge.after_version)
    return [edge for edge in missed if _way_back(leaving, edge) is not None]


def worst_cycle(edges: Iterable[Edge]) -> list[Edge] | None:
    """The cycle that the weakest isolation level forbids; of several the shortest, then the first.

    From worst to least: of ww alone, of ww and wr, with one rw, with more of them.
    """
    edges = list(edges)
    written = [edge for edge in edges if edge.kind is DependencyKind.WW]
    dependencies = [edge for edge in edges if edge.kind is not DependencyKind.RW]
    missed = [edge for edge in edges if edge.kind is DependencyKind.RW]
    return (
        _shortest(written, written)
        or _shortest(dependencies, dependencies)
        or _shortest(missed, dependencies)
        or _shortest(edges, edges)
    )


def _shortest(first: Sequence[Edge], then: Sequence[Edge]) -> list[Edge] | None:
    """The shortest cycle that begins with one of some edges and goes on with others."""
    leaving = _leaving(then)
    cycles = (_way_back(leaving, edge) for edge in first)
    return min((cycle for cycle in cycles if cycle is not None), key=len, default=None)


def _leaving(edges: Iterable[Edge]) -> dict[str, list[Edge]]:
    leaving: dict[str, list[Edge]] = defaultdict(list)
    for edge in edges:
        leaving[edge.before].append(edge)
    return leaving


def _way_back(leaving: dict[str, list[Edge]], first: Edge) -> list[Edge] | None:
    """The shortest way from the end of an edge back to where it begins, breadth first."""
    start, ways = first.before, [[first]]
    seen: set[str] = set()
    while ways:
        longer = []
        for way in ways:
            end = way[-1].after
            if end == start:
                return way
            if end not in seen:
                seen.add(end)
                longer += [[*way, edge] for edge in leaving.get(end, ())]
        ways = longer
    return None
