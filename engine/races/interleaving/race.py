"""Statements side by side on one branch, each moved on one step at a time.

A step begins with a request that others can notice or that notices others: a look at a log, or the
attempt to write a commit file. What follows it up to the next such request (staging files,
computing) concerns nobody else.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import Any

from msgspec import Struct

from whitecap.engine.log.commit_file import version_of_key
from whitecap.engine.outcomes import Aborted
from whitecap.engine.races.interleaving.contender import Contender, Place, Touch
from whitecap.engine.races.interleaving.walk import Ending, Unfinished
from whitecap.engine.races.interleaving.world import Scene, World
from whitecap.engine.storage.requests import (
    ListFrom,
    Listing,
    Put,
    PutIfAbsent,
    PutResult,
    Request,
    WriteRows,
)


class StepKind(Enum):
    """What a step of a history was."""

    SNAPSHOT = "reads"
    STAGE = "stages"
    ATTEMPT = "tries"
    CHECK = "checks"


class Event(Struct, frozen=True):
    """One step of one contender.

    `version` is the one read (`SNAPSHOT`, `CHECK`) or tried (`ATTEMPT`); `count` the files staged.
    `won` tells whether an attempt wrote its version. `table` is the root of the log in question.
    """

    who: int
    kind: StepKind
    table: str = ""
    version: int = -1
    count: int = 0
    won: bool = False


class Race(Struct, frozen=True):
    """Contenders on one branch of a world, at one moment; `after` is a moment later.

    `touches` is what the next step of each contender that is still under way touches.
    """

    scene: Scene
    places: tuple[Place, ...]
    touches: dict[int, Touch]
    schedule: tuple[int, ...] = ()
    events: tuple[Event, ...] = ()

    @classmethod
    def of(cls, world: World, contenders: Sequence[Contender]) -> Race:
        """The beginning: nobody has done anything that others can notice."""
        scene = world.branch()
        places = tuple(_set_out(contender.place, scene) for contender in contenders)
        return cls(scene, places, _touches(places, scene))

    @property
    def is_settled(self) -> bool:
        """Whether nobody can be aborted any more.

        A transaction is only ever aborted by what was committed after its snapshot: one contender
        is left, has no transaction under way, and there is nobody else to commit.
        """
        return len(self.touches) == 1 and all(self.places[who].is_idle for who in self.touches)

    @property
    def has_conflict(self) -> bool:
        """Whether somebody was aborted."""
        return any(isinstance(place.ending, Aborted) for place in self.places)

    def after(self, who: int) -> Race:
        """The race when a contender has made its next step."""
        scene = self.scene.copy()
        place, events = _step(who, self.places[who], scene)
        places = (*self.places[:who], place, *self.places[who + 1 :])
        touches = _touches(places, scene)
        return Race(scene, places, touches, (*self.schedule, who), (*self.events, *events))

    def played(self) -> Played:
        """The race after its end, or as far as it was played."""
        endings = tuple(place.ending or Unfinished() for place in self.places)
        return Played(self.schedule, self.events, endings, self.scene)


def _set_out(place: Place, scene: Scene) -> Place:
    """Answer what comes before the first step, such as where the last checkpoint is."""
    while place.request is not None and place.touch is None:
        place = place.after(scene.store.answer(place.request))
    return place


def _touches(places: Sequence[Place], scene: Scene) -> dict[int, Touch]:
    touched = ((who, _touch_in(place, scene)) for who, place in enumerate(places))
    return {who: touch for who, touch in touched if touch is not None}


def _touch_in(place: Place, scene: Scene) -> Touch | None:
    """What the next step touches, as things stand in a scene."""
    touch, request = place.touch, place.request
    if touch is None or not isinstance(request, PutIfAbsent) or not scene.store.holds(request.key):
        return touch
    return Touch(touch.table, touch.writes, is_lost=True)


def _step(who: int, place: Place, scene: Scene) -> tuple[Place, list[Event]]:
    """Answer what is asked, and everything after it that concerns nobody else."""
    staged, events = 0, []
    while (request := place.request) is not None:
        answer = scene.store.answer(request)
        if isinstance(request, WriteRows | Put):
            staged += 1
        if place.touch is not None:
            events.append(_event(who, place, place.touch, request, answer))
        place = place.after(answer)
        if place.touch is not None:
            break
    if staged:
        events.append(Event(who, StepKind.STAGE, count=staged))
    return place, events


def _event(who: int, place: Place, touch: Touch, request: Request, answer: Any) -> Event:
    if isinstance(request, PutIfAbsent):
        version = version_of_key(request.key.removeprefix(touch.table))
        tried = -1 if version is None else version
        return Event(who, StepKind.ATTEMPT, touch.table, tried, won=answer is PutResult.CREATED)
    kind = StepKind.CHECK if place.lost else StepKind.SNAPSHOT
    return Event(who, kind, touch.table, _newest(request, answer, touch.table))


def _newest(request: Request, listing: Listing, root: str) -> int:
    """The newest version that a listing of a log shows, or the one before its first."""
    assert isinstance(request, ListFrom)
    versions = (version_of_key(entry.key.removeprefix(root)) for entry in listing.entries)
    listed_versions = [version for version in versions if version is not None]
    start = version_of_key(request.start.removeprefix(root))
    return max(listed_versions, default=-1 if start is None else start - 1)


# No slots: the rows are kept once they were asked for.
@dataclass(frozen=True)
class Played:
    """One schedule, played to its end or until it was settled.

    Who moved when, what happened, and how each ended.
    """

    schedule: tuple[int, ...]
    events: tuple[Event, ...]
    endings: tuple[Ending, ...]
    scene: Scene

    @cached_property
    def rows(self) -> dict[str, list[dict[str, Any]]]:
        """Every table's rows afterwards, in the order of its files."""
        return {name: list(self.scene.rows(name)) for name in self.scene.world.roots}
