"""One statement of a race: every way that it can take, each piece of it computed once.

A statement sees nothing of the world but the answers to its requests, so what it does next follows
from the answers so far. Its ways therefore make a tree: a place for each list of answers, with the
request that it asks there. Schedules that give a statement the same answers share its places. A
generator cannot be copied; where a second way branches off, a fresh one is led there by the answers
that are known.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from whitecap.engine.errors import DeltaError
from whitecap.engine.log.commit_file import LOG_DIRECTORY
from whitecap.engine.outcomes import Aborted, Outcome
from whitecap.engine.races.interleaving.world import World
from whitecap.engine.session.table import Table, Tables
from whitecap.engine.storage.requests import (
    Compute,
    ListFrom,
    NewId,
    PutIfAbsent,
    PutResult,
    Request,
    RowsOf,
    Steps,
)

Start = Callable[[Tables], Steps[Outcome]]
"""What one contender runs, given its own clients of the tables; the same each time it is called."""


@dataclass(frozen=True, slots=True)
class Unfinished:
    """A statement that is still under way when its race is settled: nobody can abort it."""


Ending = Outcome | DeltaError | Unfinished
"""How a statement ended; a `DeltaError` is Delta's refusal for another reason than a conflict."""


@dataclass(frozen=True, slots=True)
class Touch:
    """What the next step of a contender touches: the log of one table, reading or writing.

    `is_lost`: it tries to write a version that is there already, and so it will always be.
    """

    table: str
    writes: bool
    is_lost: bool = False

    def commutes_with(self, other: Touch) -> bool:
        """Whether it does not matter which of the two comes first."""
        elsewhere = self.table != other.table
        return elsewhere or self.is_lost or other.is_lost or not (self.writes or other.writes)


def touch_of(request: Request | None) -> Touch | None:
    """What a request touches that others may see, `None` if nothing."""
    if isinstance(request, ListFrom):
        key, writes = request.start, False
    elif isinstance(request, PutIfAbsent):
        key, writes = request.key, True
    else:
        return None
    root, directory, _ = key.partition(LOG_DIRECTORY)
    return Touch(root, writes) if directory else None


class Contender:
    """A statement on tables of a world; `place` is where each of its ways begins.

    `who` counts the contenders of a race from 0, and shows in the ids that this one makes up.
    """

    def __init__(self, world: World, who: int, start: Start) -> None:
        self.who = who
        self._world = world
        self._start = start
        self.place = Place(self, None, None, self.walk())

    def walk(self) -> Walk:
        """The statement from its beginning, with clients that know of no branch."""
        tables = self._world.client()
        return Walk(tables, self._start(tables), self.ids())

    def ids(self) -> Iterator[str]:
        """Ids that tell whose they are: `a0000000-…` of the first contender, `b0000000-…` …"""
        number = (10 + self.who) << 124
        while True:
            yield str(UUID(int=number))
            number += 1


class Place:
    """Where a contender is after some answers: what it waits to ask, or how it ended.

    `touch` is what its next step touches, `None` for a request that concerns nobody else. `lost`:
    it tried a version that was taken, and has not looked at the log since. `is_idle`: it is about
    to look at a log and has no transaction under way, nor one that was aborted before.
    """

    __slots__ = (
        "_after",
        "_answer",
        "_before",
        "_contender",
        "_walk",
        "ending",
        "is_idle",
        "lost",
        "request",
        "touch",
    )

    def __init__(self, contender: Contender, before: Place | None, answer: Any, walk: Walk) -> None:
        self._contender = contender
        self._before = before
        self._answer = answer
        self.request, self.ending = walk.on(answer)
        self.touch = touch_of(self.request)
        self.lost = before is not None and before.loses(answer)
        self.is_idle = isinstance(self.request, ListFrom) and not self.lost and walk.is_idle
        self._walk: Walk | None = walk if self.ending is None else None
        self._after: dict[Hashable, Place] = {}

    def loses(self, answer: Any) -> bool:
        """Whether this answer leaves the contender with a lost attempt."""
        if self.touch is None:
            return self.lost
        return self.touch.writes and answer is not PutResult.CREATED

    def after(self, answer: Any) -> Place:
        """The place that an answer leads to."""
        key = _key(answer)
        place = self._after.get(key)
        if place is None:
            place = self._after[key] = Place(self._contender, self, answer, self._taken())
        return place

    def _taken(self) -> Walk:
        """A walk that stands here: the one that came first, or another one led here."""
        walk, self._walk = self._walk, None
        return walk or self._led_here()

    def _led_here(self) -> Walk:
        walk = self._contender.walk()
        for answer in self._answers():
            walk.on(answer)
        return walk

    def _answers(self) -> list[Any]:
        answers, place = [], self
        while place._before is not None:
            answers.append(place._answer)
            place = place._before
        return [None, *reversed(answers)]


class Walk:
    """A running statement; what depends on nobody else is answered here."""

    __slots__ = ("_ids", "_steps", "_tables")

    def __init__(self, tables: Tables, steps: Steps[Outcome], ids: Iterator[str]) -> None:
        self._tables = tables
        self._steps = steps
        self._ids = ids

    def on(self, answer: Any) -> tuple[Request | None, Ending | None]:
        """Go on with an answer: to the next request, or the end."""
        try:
            request = self._steps.send(answer)
            while isinstance(request, NewId | Compute):
                own = next(self._ids) if isinstance(request, NewId) else None
                request = self._steps.send(own)
            return request, None
        except StopIteration as end:
            return None, end.value
        except DeltaError as error:
            return None, error

    @property
    def is_idle(self) -> bool:
        """Whether no client has a transaction under way, or one that ended in a conflict."""
        return not any(table.under_way or _was_aborted(table) for table in self._tables.values())


def _was_aborted(table: Table) -> bool:
    return any(isinstance(outcome, Aborted) for outcome in table.outcomes)


def _key(answer: Any) -> Hashable:
    """What tells answers apart; rows may hold lists and mappings."""
    return repr(answer) if isinstance(answer, RowsOf) else answer
