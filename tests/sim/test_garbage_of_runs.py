"""What a run leaves in cycles is freed before a later run, when there is much of it."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator
from typing import Any

import pytest

from tests.sim.sim_worlds import document
from whitecap.sim import run
from whitecap.sim.loading import scenario_of
from whitecap.sim.machine.garbage import MOST_PASSES, SELDOM, OldObjects, seldom_collecting

APPEND = {"statement": "INSERT INTO events VALUES (1, DATE'2026-01-14', 'DE', 1.0)"}
OLDEST = 2
"""The generation that a search of all objects is of."""


class Cycle:
    """Knows itself, as a run's world knows its processes and they know it."""

    def __init__(self) -> None:
        self.myself = self


@pytest.fixture
def searches() -> Iterator[list[int]]:
    """Grows by one with every search of all objects."""
    counted = list[int]()

    def note(phase: str, collection: dict[str, Any]) -> None:
        if phase == "start" and collection["generation"] == OLDEST:
            counted.append(OLDEST)

    gc.callbacks.append(note)
    yield counted
    gc.callbacks.remove(note)


def _left_by_a_run() -> weakref.ref[Cycle]:
    with seldom_collecting():
        return weakref.ref(Cycle())


def _a_later_run() -> None:
    writers = {"w": {**APPEND, "arrival": {"closed": {"think": "1 s"}}}}
    run.run_scenario(scenario_of(document(store="instant", writers=writers)))


@pytest.mark.parametrize(("blocks", "is_kept"), [(1, False), (1 << 60, True)])
def test_it_is_searched_for_once_where_memory_has_grown_much(
    blocks: int, is_kept: bool, monkeypatch: pytest.MonkeyPatch, searches: list[int]
) -> None:
    left = _left_by_a_run()
    assert left() is not None
    monkeypatch.setattr(run, "OLD_OBJECTS", OldObjects(blocks))
    _a_later_run()
    assert (left() is not None) is is_kept
    assert len(searches) == (0 if is_kept else 1)


def test_the_first_run_of_a_process_searches_nothing(
    monkeypatch: pytest.MonkeyPatch, searches: list[int]
) -> None:
    left = _left_by_a_run()
    objects = OldObjects()
    monkeypatch.setattr(run, "OLD_OBJECTS", objects)
    _a_later_run()
    assert left() is not None
    assert not searches
    assert objects.blocks > 0


@pytest.fixture
def freed() -> Iterator[list[int]]:
    """How much each search of new objects has freed."""
    counts = list[int]()

    def note(phase: str, collection: dict[str, Any]) -> None:
        if phase == "stop" and collection["generation"] < OLDEST:
            counts.append(collection["collected"])

    gc.callbacks.append(note)
    yield counts
    gc.callbacks.remove(note)


def _kept(count: int) -> list[list[int]]:
    """So many objects that are in no cycle."""
    return [[number] for number in range(count)]


def test_cycles_that_are_made_all_the_time_are_freed_all_the_time(freed: list[int]) -> None:
    with seldom_collecting():
        for _ in range(20 * SELDOM[0]):
            Cycle()
    assert sum(freed) > 19 * SELDOM[0]


def test_where_there_are_none_new_objects_are_hardly_searched(freed: list[int]) -> None:
    with seldom_collecting():
        kept = _kept(200 * SELDOM[0])
        frozen = gc.get_freeze_count()
    assert frozen > 0.9 * len(kept)
    assert len(freed) > 150
    assert gc.get_freeze_count() == 0


def test_cycles_that_begin_late_are_freed_but_for_the_first(freed: list[int]) -> None:
    with seldom_collecting():
        kept = _kept(200 * SELDOM[0])
        freed.clear()
        for _ in range(200 * SELDOM[0]):
            Cycle()
    assert sum(freed) > (200 - 2 * MOST_PASSES) * SELDOM[0]
    assert kept
