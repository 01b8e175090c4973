"""Statements side by side on one branch, each moved on one step at a time.

A step begins with a request that others can notice or that notices others: a look at a log, or the
attempt to write a commit file. What follows it up to the next such request (staging files,
computing) concerns nobody else.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import Any
from uuid import UUID

from engine.commands.table import Tables
from engine.errors import DeltaError
from engine.interleaving.world import Scene, World
from engine.log.commit_file import LOG_DIRECTORY, version_of_key
from engine.outcomes import Outcome
from engine.storage.requests import (
    ListFrom,
    Listing,
    NewId,
    Put,
    PutIfAbsent,
    PutResult,
    Request,
    Steps,
    WriteRows,
)

Start = Callable[[Tables], Steps[Outcome]]
"""What one contender runs, given its own clients of the tables."""

Ending = Outcome | DeltaError
"""How a statement ended; a `DeltaError` is Delta's refusal for another reason than a conflict."""


class Kind(Enum):
    """What a step of a history was."""

    SNAPSHOT = "reads"
    STAGE = "stages"
    ATTEMPT = "tries"
    CHECK = "checks"


@dataclass(frozen=True, slots=True)
class Event:
    """One step of one contender.

    `version` is the one read (`SNAPSHOT`, `CHECK`) or tried (`ATTEMPT`); `count` the files staged.
    `won` tells whether an attempt wrote its version. `table` is the root of the log in question.
    """

    who: int
    kind: Kind
    table: str = ""
    version: int = -1
    count: int = 0
    won: bool = False


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


def touch_of(request: Request) -> Touch | None:
    """What a request touches that others may see, `None` if nothing."""
    match request:
        case ListFrom(key) | PutIfAbsent(key) if LOG_DIRECTORY in key:
            root = key.partition(LOG_DIRECTORY)[0]
            return Touch(root, isinstance(request, PutIfAbsent))
    return None


class _Contender:
    """One statement on its way: what it waits to ask, or how it ended."""

    def __init__(self, who: int, steps: Steps[Outcome]) -> None:
        self._who = who
        self._steps = steps
        self._ids = _ids_of(who)
        self._lost = False
        self._pending: Request | None = None
        self.ending: Ending | None = None
        self._advance(None)

    def set_out(self, scene: Scene) -> None:
        """Answer what comes before the first step, such as where the last checkpoint is."""
        while self._pending is not None and self.touch is None:
            self._advance(self._answer(self._pending, scene))

    @property
    def touch(self) -> Touch | None:
        """What the next step touches."""
        return None if self._pending is None else touch_of(self._pending)

    def touch_in(self, scene: Scene) -> Touch | None:
        """The same as things stand in a scene."""
        touch, request = self.touch, self._pending
        if touch is None or not isinstance(request, PutIfAbsent):
            return touch
        return dataclasses.replace(touch, is_lost=scene.store.holds(request.key))

    def step(self, scene: Scene) -> Iterator[Event]:
        """Answer what is asked, and everything after it that concerns nobody else."""
        staged = 0
        while (request := self._pending) is not None:
            answer = self._answer(request, scene)
            if isinstance(request, WriteRows | Put):
                staged += 1
            if touch_of(request) is not None:
                yield self._event(request, answer)
            self._advance(answer)
            if self.touch is not None:
                break
        if staged:
            yield Event(self._who, Kind.STAGE, count=staged)

    def _answer(self, request: Request, scene: Scene) -> Any:
        return next(self._ids) if isinstance(request, NewId) else scene.store.answer(request)

    def _advance(self, answer: Any) -> None:
        self._pending = None
        try:
            self._pending = self._steps.send(answer)
        except StopIteration as end:
            self.ending = end.value
        except DeltaError as error:
            self.ending = error

    def _event(self, request: Request, answer: Any) -> Event:
        touch = touch_of(request)
        assert touch is not None
        if isinstance(request, PutIfAbsent):
            won = answer is PutResult.CREATED
            self._lost = not won
            version = version_of_key(request.key.removeprefix(touch.table))
            return Event(
                self._who, Kind.ATTEMPT, touch.table, -1 if version is None else version, won=won
            )
        kind = Kind.CHECK if self._lost else Kind.SNAPSHOT
        self._lost = False
        return Event(self._who, kind, touch.table, _newest(request, answer, touch.table))


def _ids_of(who: int) -> Iterator[str]:
    """Ids that tell whose they are: `a0000000-…` of the first contender, `b0000000-…` …"""
    number = (10 + who) << 124
    while True:
        yield str(UUID(int=number))
        number += 1


def _newest(request: Request, listing: Listing, root: str) -> int:
    """The newest version that a listing of a log shows, or the one before its first."""
    assert isinstance(request, ListFrom)
    versions = (version_of_key(entry.key.removeprefix(root)) for entry in listing.entries)
    found = [version for version in versions if version is not None]
    start = version_of_key(request.start.removeprefix(root))
    return max(found, default=-1 if start is None else start - 1)


class Race:
    """Contenders on one branch of a world; `step` moves one of them on."""

    def __init__(self, world: World, starts: Sequence[Start]) -> None:
        self.scene = world.branch()
        self.events: list[Event] = []
        self._contenders = [
            _Contender(who, start(self.scene.client())) for who, start in enumerate(starts)
        ]
        for contender in self._contenders:
            contender.set_out(self.scene)

    @property
    def touches(self) -> dict[int, Touch]:
        """What the next step of each contender that is still under way touches."""
        scene = self.scene
        found = ((who, one.touch_in(scene)) for who, one in enumerate(self._contenders))
        return {who: touch for who, touch in found if touch is not None}

    def step(self, who: int) -> None:
        """Move one contender on."""
        self.events.extend(self._contenders[who].step(self.scene))

    def played(self, schedule: tuple[int, ...]) -> Played:
        """The race after its end."""
        endings = tuple(contender.ending for contender in self._contenders)
        assert all(ending is not None for ending in endings)
        return Played(schedule, tuple(self.events), endings, self.scene)  # type: ignore[arg-type]


# No slots: the rows are kept once they were asked for.
@dataclass(frozen=True)
class Played:
    """One schedule played to its end: who moved when, what happened, how each ended."""

    schedule: tuple[int, ...]
    events: tuple[Event, ...]
    endings: tuple[Ending, ...]
    scene: Scene

    @cached_property
    def rows(self) -> dict[str, list[dict[str, Any]]]:
        """Every table's rows afterwards, in the order of its files."""
        return {name: list(self.scene.rows(name)) for name in self.scene.world.roots}
