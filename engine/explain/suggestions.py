"""Which changes avoid the conflicts of two statements: each is made, and raced in every order."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from engine.errors import DeltaError, EngineError
from engine.explain.case import Case
from engine.explain.change import Change, pairs
from engine.explain.changes import own_changes, platform_changes
from engine.explain.orders import in_turn
from engine.interleaving.race import Played
from engine.outcomes import Aborted

MOST_PAIRS = 2
"""How many suggestions of two changes at once are made."""


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A change after which no order of the two ends in a conflict; `schedules` were played."""

    change: Change
    schedules: int


def suggestions(case: Case) -> tuple[tuple[Suggestion, ...], tuple[str, ...]]:
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


def _rows_in_turn(schedules: Sequence[Played], target: str) -> list[str]:
    """The rows if B runs after A, in an order that does not depend on files."""
    return sorted(str(row) for row in in_turn(schedules, 1).rows[target])


def _is_among(change: Change, helping: Iterable[Suggestion]) -> bool:
    return any(change.case == one.change.case for one in helping)


def _is_fine(ending: object) -> bool:
    return not isinstance(ending, Aborted | DeltaError)
