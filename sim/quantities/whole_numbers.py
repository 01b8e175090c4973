"""Numbers that are counted with, as somebody gave them: from Python they may be anything."""

from __future__ import annotations

import operator
from typing import Any

from whitecap.engine.errors import InvalidInput, Problem
from whitecap.sim.quantities.bounds import MAX_COUNT, MAX_SEED


def whole(place: str, given: Any, low: int, high: int = MAX_COUNT) -> int:
    """What was given, as a plain number. Raises `InvalidInput`: it is none, or out of bounds."""
    try:
        number = operator.index(given)
    except TypeError:
        number = None
    if number is None or isinstance(given, bool):
        raise InvalidInput([Problem(place, f"needs a whole number, not {given!r}")])
    if not low <= number <= high:
        raise InvalidInput([Problem(place, f"{number} is not between {low} and {high:,}")])
    return number


def whole_or_none(place: str, given: Any, low: int, high: int = MAX_COUNT) -> int | None:
    """As `whole`, of what need not be given."""
    return None if given is None else whole(place, given, low, high)


def seed_or_none(given: Any) -> int | None:
    """A seed, if one was given instead of the scenario's. Raises `InvalidInput`."""
    return whole_or_none("seed", given, 0, MAX_SEED)
