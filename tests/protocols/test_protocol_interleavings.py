"""Whatever the order of their requests and wherever a driver dies: no commit lost, none doubled."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from tests.protocols.stepwise import (
    Place,
    StepwiseCatalog,
    few_switches,
    finish,
    interleavings,
    played,
)
from whitecap.engine.storage.requests import PutResult
from whitecap.sim.store.protocols.dynamodb import ByDynamoDB
from whitecap.sim.store.protocols.rename import ByRename
from whitecap.sim.store.protocols.single_driver import SingleDriver

EXCLUSIVE = [ByDynamoDB, ByRename, StepwiseCatalog]


def _steps_alone(new_coordinator: Any) -> int:
    return played([Place.of(new_coordinator).writes(1, 1)], ())[0]


def _sees_all(place: Place) -> int:
    """The newest version that a reader learns of, publishers done."""
    for publisher in place.publishers:
        finish(publisher)
    version: int = finish(place.looks())
    return version


def _holds(place: Place) -> None:
    """What every protocol promises, after somebody has looked."""
    newest = _sees_all(place)
    assert newest == place.newest
    owners, landings = place.owners(), list(place.store.landings)
    assert [each.version for each in landings] == list(range(len(landings)))
    assert {each.version: each.transaction_id for each in landings[1:]} == owners
    assert len(set(owners.values())) == len(owners)
    assert not place.store.overwritten
    for who, (version, result) in place.results.items():
        assert (owners.get(version) == who) == (result is PutResult.CREATED)


@pytest.mark.parametrize("new_coordinator", EXCLUSIVE)
def test_of_two_rivals_one_commits_and_the_other_learns_that_it_lost(new_coordinator: Any) -> None:
    length = _steps_alone(new_coordinator)
    winners = set()
    for order in interleavings(length, length):
        place = Place.of(new_coordinator)
        played([place.writes(1, 1), place.writes(2, 1)], order)
        _holds(place)
        assert sorted(r.value for _, r in place.results.values()) == ["already_exists", "created"]
        winners |= set(place.owners().values())
    assert winners == {1, 2}


@pytest.mark.parametrize("new_coordinator", EXCLUSIVE)
def test_a_driver_may_die_between_any_two_requests(new_coordinator: Any) -> None:
    """Its commit is there for all or for none; a rival gets the version if it is for none."""
    length = _steps_alone(new_coordinator)
    seen = set()
    for dies in range(length + 1):
        for order in interleavings(dies, length):
            place = Place.of(new_coordinator)
            played([place.writes(1, 1), place.writes(2, 1)], order, dies)
            _holds(place)
            assert place.newest == 1
            seen.add((dies, place.owners()[1]))
    assert {owner for dies, owner in seen if dies == 0} == {2}
    assert {owner for dies, owner in seen if dies == length} == {1, 2}


@pytest.mark.parametrize("new_coordinator", EXCLUSIVE)
def test_whoever_looks_finishes_what_a_dead_driver_began(new_coordinator: Any) -> None:
    """A second writer looks and takes the next version; the first may die anywhere."""
    length = _steps_alone(new_coordinator)
    ends = set()
    for dies in range(length + 1):
        for order in few_switches(dies, 2 * length + 4, 3):
            place = Place.of(new_coordinator)
            played([place.writes(1, 1), place.follows(2)], order, dies)
            _holds(place)
            ends.add(tuple(place.owners().values()))
    assert ends == {(1,), (2,), (1, 2)}


def test_a_commit_in_dynamodb_counts_from_its_item_on() -> None:
    """Before the item is put a dead driver has done nothing; after, a reader finds its commit."""
    ends = []
    for dies in range(_steps_alone(ByDynamoDB) + 1):
        place = Place.of(ByDynamoDB)
        played([place.writes(1, 1)], (), dies)
        decided = len(place.store.landings) == 2
        assert place.newest == 0 or decided
        assert finish(place.looks()) == int(decided)
        ends.append(decided)
    assert ends == [False] * 4 + [True] * (len(ends) - 4)


def test_a_catalog_has_a_commit_from_its_word_on_and_the_next_writer_publishes_it() -> None:
    place = Place.of(StepwiseCatalog)
    finish(place.writes(1, 1))
    place.publishers.clear()  # its driver died
    assert finish(place.looks()) == 1
    assert place.store.unpublished == [1]
    finish(place.follows(2))
    assert _sees_all(place) == 2
    assert not place.store.unpublished


def _ends(new_coordinator: Any, orders: Iterable[tuple[int, ...]]) -> list[Place]:
    places = []
    for order in orders:
        place = Place.of(new_coordinator)
        place.store.exclusive = False
        played([place.writes(1, 1), place.writes(2, 1)], order)
        places.append(place)
    return places


def test_two_drivers_without_exclusion_lose_a_commit_when_both_look_before_either_writes() -> None:
    length = _steps_alone(SingleDriver)
    places = _ends(SingleDriver, interleavings(length, length))
    lost = [place for place in places if place.store.overwritten]
    for place in lost:
        assert {result for _, result in place.results.values()} == {PutResult.CREATED}
    assert len(lost) == sum(
        order[: 2 * (length - 1)].count(0) == length - 1 for order in interleavings(length, length)
    )
