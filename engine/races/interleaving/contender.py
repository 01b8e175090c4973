"""One statement of a race: every way that it can take, each piece of it computed once.

A statement sees nothing of the world but the answers to its requests, so what it does next follows
from the answers so far. Its ways therefore make a tree: a place for each list of answers, with the
request that it asks there. Schedules that give a statement the same answers share its places. A
generator cannot be copied; where a second way branches off, a fresh one is led there by the answers
that are known.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

from msgspec import Struct

from whitecap.engine.commands import run_statement
from whitecap.engine.log.commit_file import LOG_DIRECTORY
from whitecap.engine.outcomes import Committed, Outcome
from whitecap.engine.races.interleaving.walk import CommitLoop, LoopWalk, Reached, Walk
from whitecap.engine.races.interleaving.world import World
from whitecap.engine.session.table import Tables
from whitecap.engine.sql.parsing.parse import parse_statement
from whitecap.engine.storage.requests import (
    ListFrom,
    PutIfAbsent,
    PutResult,
    Request,
    RowsOf,
    Steps,
)

Answers = tuple[Any, ...]
"""What a walk was sent to come to a place."""

_NO_ANSWERS: Answers = (None,)
"""What a generator is sent to come to its first request."""

Start = Callable[[Tables], Steps[Outcome]]
"""What one contender runs, given its own clients of the tables; the same each time it is called."""


def start_of(sql: str) -> Start:
    """What runs a statement."""
    statement = parse_statement(sql)
    return lambda tables: run_statement(statement, tables)


class Touch(Struct, frozen=True):
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


def _touch_of(request: Request | None) -> Touch | None:
    """What a request touches that others may see, `None` if nothing."""
    if isinstance(request, ListFrom):
        key, writes = request.start, False
    elif isinstance(request, PutIfAbsent):
        key, writes = request.key, True
    else:
        return None
    root, directory, _ = key.partition(LOG_DIRECTORY)
    return Touch(root, writes) if directory else None


class Beginning(Struct, frozen=True):
    """What a contender runs. Without `shortens` every walk is led through the whole of it."""

    world: World
    start: Start
    first_id: int
    shortens: bool

    def walk(self) -> Walk:
        """The statement from its beginning, with clients that know of no branch."""
        tables = self.world.client()
        return Walk(tables, self.start(tables), self.first_id)


class Contender:
    """A statement on tables of a world; `place` is where each of its ways begins.

    `who` counts the contenders of a race from 0, and shows in the ids that this one makes up:
    `a0000000-…` of the first contender, `b0000000-…` of the second.
    """

    def __init__(self, world: World, who: int, start: Start, shortens: bool = True) -> None:
        beginning = Beginning(world, start, (10 + who) << 124, shortens)
        walk = beginning.walk()
        self.place = Place(beginning, None, None, walk, walk.on(None))


class Place:
    """Where a contender is after some answers: what it waits to ask, or how it ended.

    `touch` is what its next step touches, `None` for a request that concerns nobody else. `lost`:
    it tried a version that was taken, and has not looked at the log since. `is_idle`: it is about
    to look at a log and has no transaction under way, nor one that was aborted before.
    """

    __slots__ = (
        "_after",
        "_answers",
        "_beginning",
        "_loop",
        "_loop_answers",
        "_walk",
        "ending",
        "is_idle",
        "lost",
        "request",
        "touch",
    )

    def __init__(
        self, beginning: Beginning, before: Place | None, answer: Any, walk: Walk, reached: Reached
    ) -> None:
        self._beginning = beginning
        self._answers: Answers = _NO_ANSWERS if before is None else (*before._answers, answer)
        self.request, self.ending = reached
        self.touch = _touch_of(self.request)
        self.lost = before is not None and before.loses(answer)
        self.is_idle = isinstance(self.request, ListFrom) and not self.lost and walk.is_idle
        self._walk: Walk | None = walk if self.ending is None else None
        self._after: dict[Hashable, Place] = {}
        self._loop: CommitLoop | None = None
        self._loop_answers: Answers = _NO_ANSWERS
        if before is not None and isinstance(walk, LoopWalk):
            self._loop, self._loop_answers = walk.loop, (*before._loop_answers, answer)
        elif isinstance(self.request, PutIfAbsent) and beginning.shortens:
            self._loop = walk.commit_loop()

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
            place = self._after[key] = self._reached_by(answer)
        return place

    def _reached_by(self, answer: Any) -> Place:
        walk = self._taken(answer)
        request, ending = walk.on(answer)
        if isinstance(walk, LoopWalk) and not walk.loop.stands_for_statement(ending):
            walk = self._beginning.walk().led_by(self._answers)
            request, ending = walk.on(answer)
        if self._loop is not None and answer is PutResult.CREATED and self._is_first_attempt:
            self._loop.ends_if_won = isinstance(ending, Committed)
        return Place(self._beginning, self, answer, walk, (request, ending))

    def _taken(self, answer: Any) -> Walk:
        """A walk that stands here: the one that came first, or another one led here.

        The one that came to its first attempt is kept for winning it.
        """
        if self._is_first_attempt and answer is not PutResult.CREATED:
            return self._led_here()
        walk, self._walk = self._walk, None
        return walk or self._led_here()

    def _led_here(self) -> Walk:
        if self._loop is None:
            return self._beginning.walk().led_by(self._answers)
        return self._loop.walk().led_by(self._loop_answers)

    @property
    def _is_first_attempt(self) -> bool:
        return self._loop is not None and self._loop_answers == _NO_ANSWERS


def _key(answer: Any) -> Hashable:
    """What tells answers apart; rows may hold lists and mappings."""
    return repr(answer) if isinstance(answer, RowsOf) else answer
