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

    `always`: in every order; `side_by_side`: for this reason only while the other is under way;
    else at least when it runs after the other.
    """

    who: str
    error: str
    message: str
    always: bool
    side_by_side: bool = False


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
    reads = _reads_of_losers(played) if len(won) > 1 else ""
    if len(set(won)) == len(won) and not reads:
        return f"side by side, {won[0]} commits first"
    return f"side by side, commits of {', '.join(won)}{reads}"


def _reads_of_losers(played: Played) -> str:
    """After which of the commits those who are aborted read the table last."""
    losers = [who for who, ending in enumerate(played.endings) if isinstance(ending, Aborted)]
    return "".join(f"; {NAMES[who]} reads {_place_of_read(played, who)}" for who in losers)


def _place_of_read(played: Played, who: int) -> str:
    written = {event.table for event in played.events if event.kind is StepKind.ATTEMPT}
    before, last = 0, 0
    for event in played.events:
        before += event.won
        if event.who == who and event.kind is StepKind.SNAPSHOT and event.table in written:
            last = before
    return f"after {last} of them" if last else "before them"


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
    """What Delta refuses: each statement's reason after the other, and those side by side alone."""
    for who, name in enumerate(NAMES):
        endings = [schedule.endings[who] for schedule in schedules]
        errors = {_error(e): e for e in endings if isinstance(e, DeltaError)}
        always = all(isinstance(ending, DeltaError) for ending in endings)
        serial = [in_turn(schedules, second).endings[who] for second in (who, 1 - who)]
        in_turns = [_error(ending) for ending in serial if isinstance(ending, DeltaError)]
        for error in errors:
            if error in in_turns[:1]:
                yield _refusal(name, errors[error], always)
            elif not always and error not in in_turns:
                yield _refusal(name, errors[error], always, side_by_side=True)


def _error(error: DeltaError) -> str:
    return error.error_class or error.exception


def _refusal(name: str, error: DeltaError, always: bool, side_by_side: bool = False) -> Refusal:
    return Refusal(name, _error(error), error.message, always, side_by_side)


def idle(schedules: Sequence[Played]) -> tuple[str, ...]:
    """The statements that find nothing to commit in any order."""
    return tuple(
        name
        for who, name in enumerate(NAMES)
        if all(isinstance(schedule.endings[who], NothingToCommit) for schedule in schedules)
    )
