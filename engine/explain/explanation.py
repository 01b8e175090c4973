"""The explanation of a race: what happens in each order, why, and what would avoid it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from engine.errors import DeltaError, EngineError
from engine.explain.case import NAMES, Case, conflicts_in, play, snapshot_of
from engine.explain.changes import Change, own_changes, pairs, platform_changes
from engine.interleaving.race import Kind, Played
from engine.interleaving.rules import Rule, rule_of
from engine.interleaving.story import Line, outcome_text, story
from engine.interleaving.world import World
from engine.log import properties
from engine.log.snapshot import Snapshot
from engine.outcomes import Aborted, Verdict
from engine.transaction.isolation import table_level

MOST_PAIRS = 2
"""How many suggestions of two changes at once are made."""


@dataclass(frozen=True, slots=True)
class Conflict:
    """One way in which one statement is aborted by the other.

    `file` tells in words which file decided, `reads` what the loser reads, as far as it mattered.
    """

    loser: str
    winner: str
    verdict: Verdict
    rule: Rule
    file: str
    reads: str
    partition: str | None
    rerun: str
    """How the loser ends if it is run again after the winner."""


@dataclass(frozen=True, slots=True)
class Order:
    """One order of snapshots and commits: its title, what happened, how A and B ended."""

    title: str
    lines: tuple[Line, ...]
    endings: tuple[str, str]
    aborted: tuple[str, ...]
    rows: list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A change after which no order of the two ends in a conflict; `schedules` were played."""

    change: Change
    schedules: int


@dataclass(frozen=True, slots=True)
class Explanation:
    """All there is to say about two statements on one table."""

    dialect: str
    table: str
    facts: str
    statements: tuple[str, str]
    orders: tuple[Order, ...]
    conflicts: tuple[Conflict, ...]
    suggestions: tuple[Suggestion, ...]
    tried: tuple[str, ...]
    """Changes that did not help."""
    untried: str = ""
    """Why no change was tried, if none was."""

    @property
    def can_conflict(self) -> bool:
        return bool(self.conflicts)


def explain(case: Case, world: World | None = None, untried: str = "") -> Explanation:
    """Race the two statements and explain.

    `world` holds the tables where `case` does not make them; `untried` says why no change can be
    tried. Raises `InvalidInput` for statements that cannot be run.
    """
    world = world or case.world()
    played = play(world, case.statements)
    before = snapshot_of(world, case.target)
    may_help = conflicts_in(played) and not untried
    helps, tried = _suggestions(case) if may_help else ((), ())
    return Explanation(
        dialect=case.dialect.name,
        table=case.target,
        facts=_facts(case, before),
        statements=case.statements,
        orders=tuple(_order(one, case.target) for one in played),
        conflicts=tuple(_conflicts(played, before)),
        suggestions=helps,
        tried=tried,
        untried=untried,
    )


def _facts(case: Case, snapshot: Snapshot) -> str:
    metadata = snapshot.metadata
    assert metadata is not None
    layout = ", ".join(snapshot.partition_columns)
    vectors = properties.DELETION_VECTORS.of(metadata.configuration)
    level = table_level(metadata, case.dialect.default_isolation)
    return (
        f"{'partitioned by ' + layout if layout else 'unpartitioned'},"
        f" {'deletion vectors' if vectors else 'no deletion vectors'}, {level.value},"
        f" {snapshot.num_files} file{'' if snapshot.num_files == 1 else 's'}"
    )


def _order(played: Played, target: str) -> Order:
    first, second = (outcome_text(ending) for ending in played.endings)
    return Order(
        _title(played),
        tuple(story(played, NAMES)),
        (first, second),
        tuple(
            name
            for name, ending in zip(NAMES, played.endings, strict=True)
            if isinstance(ending, Aborted)
        ),
        played.rows[target],
    )


def _title(played: Played) -> str:
    """Who reads and commits when."""
    runner_up = _runs_after(played)
    if runner_up is not None:
        return f"{NAMES[1 - runner_up]} first, then {NAMES[runner_up]}"
    won = (event.who for event in played.events if event.kind is Kind.ATTEMPT and event.won)
    first = next(won, None)
    if first is None:
        return "side by side, nobody commits"
    return f"side by side, {NAMES[first]} commits first"


def _runs_after(played: Played) -> int | None:
    """The contender that starts only when the other is done, `None` if they overlap."""
    written = {event.table for event in played.events if event.kind is Kind.ATTEMPT}
    order = [event.who for event in played.events if event.table in written]
    for who in (0, 1):
        if order == sorted(order, reverse=who == 0):
            return who
    return None


def _conflicts(played: list[Played], before: Snapshot) -> Iterator[Conflict]:
    """Every conflict once for each loser and exception."""
    seen = set()
    for one in played:
        for loser, ending in enumerate(one.endings):
            if not isinstance(ending, Aborted):
                continue
            verdict = ending.verdict
            if (loser, verdict.exception) not in seen:
                seen.add((loser, verdict.exception))
                yield _conflict(loser, verdict, played, before)


def _conflict(loser: int, verdict: Verdict, played: list[Played], before: Snapshot) -> Conflict:
    return Conflict(
        NAMES[loser],
        NAMES[1 - loser],
        verdict,
        rule_of(verdict),
        _file(verdict, before, NAMES[1 - loser]),
        _reads(verdict, before),
        verdict.message_parameters.get("partitionValues"),
        next(
            (outcome_text(one.endings[loser]) for one in played if _runs_after(one) == loser),
            "unknown",
        ),
    )


def _file(verdict: Verdict, before: Snapshot, winner: str) -> str:
    """The file that decided, as the reader may know it; empty if no file did."""
    if before.file_at(verdict.evidence) is not None:
        return f"{verdict.evidence}, which {winner} removed"
    if verdict.evidence.endswith(".parquet"):
        return f"{verdict.evidence}, which {winner} added"
    return ""


def _reads(verdict: Verdict, before: Snapshot) -> str:
    if verdict.predicate is None:
        return ""
    if not before.partition_columns:
        return "the whole table: without partitions, any file added could hold rows it should see"
    if verdict.predicate.lower() == "true":
        columns = " and ".join(before.partition_columns)
        return f"every partition: no part of its condition is about {columns} alone"
    return f"partitions where {verdict.predicate}"


def _suggestions(case: Case) -> tuple[tuple[Suggestion, ...], tuple[str, ...]]:
    """What helps and what was tried in vain; two changes at once only where one does not do."""
    own, rows = own_changes(case), _rows_in_turn(case.played(), case.target)
    single = [change for changer in own if (change := changer(case)) is not None]
    helps = _helping(single, rows)
    if not helps:
        helps = _helping(pairs(case, own), rows)[:MOST_PAIRS]
    platform = [c for changer in platform_changes() if (c := changer(case)) is not None]
    helps += _helping([c for c in platform if not _is_among(c, helps)], rows)
    tried = [c.title for c in (*single, *platform) if not _is_among(c, helps)]
    return tuple(helps), tuple(tried)


def _helping(changes: Iterable[Change], rows: list[str]) -> list[Suggestion]:
    """The changes after which both statements commit in every order; the same case once.

    One after the other, the two must still leave the same `rows`.
    """
    found: list[Suggestion] = []
    for change in changes:
        if _is_among(change, found):
            continue
        try:
            played = change.case.played()
        except EngineError:
            continue
        is_fine = all(_is_fine(ending) for one in played for ending in one.endings)
        if is_fine and _rows_in_turn(played, change.case.target) == rows:
            found.append(Suggestion(change, len(played)))
    return found


def _rows_in_turn(played: Iterable[Played], target: str) -> list[str]:
    """The rows if B runs after A, in an order that does not depend on files."""
    in_turn = next(one for one in played if _runs_after(one) == 1)
    return sorted(str(row) for row in in_turn.rows[target])


def _is_among(change: Change, helping: Iterable[Suggestion]) -> bool:
    return any(change.case == one.change.case for one in helping)


def _is_fine(ending: object) -> bool:
    return not isinstance(ending, Aborted | DeltaError)
