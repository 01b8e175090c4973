"""The orders of snapshots and commits of two statements, and how each statement ends in them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from msgspec import Struct

from whitecap.engine.errors import DeltaError
from whitecap.engine.outcomes import Aborted, NothingToCommit
from whitecap.engine.races.interleaving.race import Played, StepKind
from whitecap.engine.races.interleaving.story import NAMES, Line, outcome_text, story


class Order(Struct, frozen=True):
    """One order of snapshots and commits: its title, what happened, how A and B ended."""

    title: str
    lines: tuple[Line, ...]
    endings: tuple[str, str]
    aborted: tuple[str, ...]
    rows: list[dict[str, Any]]


class Refusal(Struct, frozen=True):
    """A statement that Delta refuses for another reason than a conflict.

    `always`: in every order; else at least when it runs after the other.
    """

    who: str
    error: str
    message: str
    always: bool


def order_of(played: Played, target: str) -> Order:
    """A schedule, told."""
    first, second = (outcome_text(ending) for ending in played.endings)
    pairs = zip(NAMES, played.endings, strict=True)
    return Order(
        title_of(played),
        tuple(story(played, NAMES)),
        (first, second),
        tuple(name for name, ending in pairs if isinstance(ending, Aborted)),
        played.rows[target],
    )


def title_of(played: Played) -> str:
    """Who reads and commits when."""
    runner_up = _runs_after(played)
    if runner_up is not None:
        return f"{NAMES[1 - runner_up]} first, then {NAMES[runner_up]}"
    won = [NAMES[e.who] for e in played.events if e.kind is StepKind.ATTEMPT and e.won]
    if not won:
        return "side by side, nobody commits"
    if len(set(won)) == len(won):
        return f"side by side, {won[0]} commits first"
    return f"side by side, commits of {', '.join(won)}"


def _runs_after(played: Played) -> int | None:
    """The contender that starts only when the other is done, `None` if they overlap."""
    written = {event.table for event in played.events if event.kind is StepKind.ATTEMPT}
    order = [event.who for event in played.events if event.table in written]
    for who in (0, 1):
        if order == sorted(order, reverse=who == 0):
            return who
    return None


def in_turn(schedules: Sequence[Played], who: int) -> Played:
    """The schedule in which a contender runs when the other is done.

    One that writes nothing runs after whatever order is there.
    """
    return next((schedule for schedule in schedules if _runs_after(schedule) == who), schedules[-1])


def refusals(schedules: Sequence[Played]) -> Iterator[Refusal]:
    """What Delta refuses, for each statement the reason that it has after the other."""
    for who, name in enumerate(NAMES):
        endings = [schedule.endings[who] for schedule in schedules]
        refused = [ending for ending in endings if isinstance(ending, DeltaError)]
        if refused:
            after_other = in_turn(schedules, who).endings[who]
            error = after_other if isinstance(after_other, DeltaError) else refused[0]
            always = len(refused) == len(endings)
            yield Refusal(name, error.error_class or error.exception, error.message, always)


def idle(schedules: Sequence[Played]) -> tuple[str, ...]:
    """The statements that find nothing to commit in any order."""
    return tuple(
        name
        for who, name in enumerate(NAMES)
        if all(isinstance(schedule.endings[who], NothingToCommit) for schedule in schedules)
    )
