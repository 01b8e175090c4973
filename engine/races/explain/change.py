"""A change of a case; a changer makes one, `None` where it makes no sense.

Changes can be made one after the other. Whether one helps is for a race.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar

from msgspec import Struct

from whitecap.engine.errors import EngineError
from whitecap.engine.races.explain.case import RaceCase


class Change(Struct, frozen=True):
    """A changed case: what was changed, how (as SQL where that is possible), and what it costs.

    `key` names the kind of change for programs.
    """

    key: str
    title: str
    how: tuple[str, ...]
    case: RaceCase
    note: str = ""


Changer = Callable[[RaceCase], Change | None]

T = TypeVar("T")


def attempted(change: Callable[[RaceCase], T | None], case: RaceCase) -> T | None:
    """A change, `None` too where the engine cannot make it: what is not made is not suggested."""
    try:
        return change(case)
    except EngineError:
        return None


def following(first: Change, second: Changer) -> Change | None:
    """Two changes, one after the other; `None` where the second makes no sense any more."""
    change = attempted(second, first.case)
    if change is None:
        return None
    title = f"{first.title}, and {change.title[0].lower()}{change.title[1:]}"
    notes = " ".join(note for note in (first.note, change.note) if note)
    key = f"{first.key} + {change.key}"
    return Change(key, title, (*first.how, *change.how), change.case, notes)


def pairs(case: RaceCase, changers: list[Changer]) -> Iterator[Change]:
    """Every two changes together."""
    for at, first in enumerate(changers):
        change = attempted(first, case)
        for second in changers[at + 1 :] if change is not None else []:
            assert change is not None
            both = following(change, second)
            if both is not None:
                yield both
