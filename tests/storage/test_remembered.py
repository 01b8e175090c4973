"""What is made for an object is made once, and kept no longer than a run needs it."""

from __future__ import annotations

import weakref
from collections.abc import Callable

import pytest

from whitecap.engine.remembered import Plans, once_for_each


class Subject:
    """As good as a table's metadata."""


def by_function() -> Callable[[Subject], object]:
    return once_for_each(lambda _: object())


def by_plans() -> Callable[[Subject], object]:
    plans = Plans()
    return lambda subject: plans.of(subject, "plan", object)


WAYS = pytest.mark.parametrize("way", [by_function, by_plans])


@WAYS
def test_what_is_made_is_made_once_for_each_object(
    way: Callable[[], Callable[[Subject], object]],
) -> None:
    answer, subject, other = way(), Subject(), Subject()
    assert answer(subject) is answer(subject)
    assert answer(subject) is not answer(other)


@WAYS
def test_objects_of_long_ago_are_let_go(way: Callable[[], Callable[[Subject], object]]) -> None:
    answer, first = way(), Subject()
    answer(first)
    gone = weakref.ref(first)
    del first
    for _ in range(300):
        answer(Subject())
    assert gone() is None


def test_a_plan_is_that_of_its_key() -> None:
    plans, subject = Plans(), Subject()
    assert [plans.of(subject, key, lambda key=key: key) for key in "aba"] == ["a", "b", "a"]  # type: ignore[misc]
