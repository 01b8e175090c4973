"""A change of a case; a changer makes one, `None` where it makes no sense.

Changes can be made one after the other. Whether one helps is for a race.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TypeVar

from msgspec import Struct, structs

from whitecap.engine.errors import EngineError
from whitecap.engine.outcomes import Aborted
from whitecap.engine.races.explain.case import RaceCase, play
from whitecap.engine.races.interleaving.race import Played


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


CAUTION = "Enable it while nobody writes: it is a metadata change."


def with_caution(change: Change, case: RaceCase) -> Change:
    """A change of a case, with a note where a statement that makes it aborts one of the two.

    Which statements do so hangs on the dialect and on what the table has: so they are raced.
    """
    there = replace(case, dialect=change.case.dialect, settings=change.case.settings)
    altering = [sql for sql in change.how if sql.startswith("ALTER TABLE")]
    if not any(_aborts_writers(there, sql) for sql in altering):
        return change
    return structs.replace(change, note=f"{change.note} {CAUTION}".lstrip())


def _aborts_writers(case: RaceCase, altering: str) -> bool:
    """Whether a statement aborts either one of a case."""

    def races(there: RaceCase) -> list[Played]:
        return [p for sql in there.statements for p in play(there.world(), (altering, sql))]

    return any(isinstance(played.endings[1], Aborted) for played in attempted(races, case) or ())
