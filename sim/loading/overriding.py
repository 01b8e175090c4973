"""What is catalogued (a store profile, a fault) with what a scenario says otherwise over it."""

from __future__ import annotations

from typing import Any

from whitecap.sim.quantities.distributions import Distribution
from whitecap.sim.scenario.model import Document
from whitecap.sim.scenario.origin import BY_THE_SCENARIO, ORIGIN

ALTERNATIVES = set(Distribution.alternatives())
"""Overriding a distribution by one of another kind replaces it; options of one kind are merged."""

FORMS = ({"latency"}, {"out", "back"})
"""Ways to say how long a request takes; one replaces the other."""

AROUND = {"out", "at_key"}
"""What a put-if-absent has besides its answers where these are ways back."""


def store_in_full(given: Any) -> Any:
    """A scenario's store by its keys: `s3` is the profile of that name with nothing over it."""
    return {"profile": given} if isinstance(given, str) else given


def fault_in_full(given: Any) -> Any:
    """A scenario's fault by its keys: a name alone is the catalogued one with nothing over it."""
    return {"use": given} if isinstance(given, str) else given


def merged(base: Any, over: Any) -> Any:
    """What is catalogued, with a scenario's values over it; new figures are the scenario's own."""
    if not (isinstance(base, dict) and isinstance(over, dict)) or _is_of_another_kind(base, over):
        return over
    still_said = _still_said(base, over)
    mixed = {
        key: merged(still_said[key], part) if key in still_said else part
        for key, part in over.items()
    }
    return still_said | mixed


def _is_of_another_kind(base: Document, over: Document) -> bool:
    return bool(ALTERNATIVES & base.keys() and ALTERNATIVES & over.keys() - base.keys())


def _still_said(base: Document, over: Document) -> Document:
    """A catalogued section without what the values over it say in another way, or make untrue."""
    for form, other in (FORMS, FORMS[::-1]):
        if form & over.keys():
            base = _without(base, other)
    if "out" in base and any(isinstance(p, dict) and "latency" in p for p in over.values()):
        base = _without(base, AROUND)
    if "basis" in base and "source" not in over and over.keys() - ORIGIN:
        base = {**_without(base, set(ORIGIN)), **BY_THE_SCENARIO}
    return base


def _without(section: Document, names: set[str]) -> Document:
    return {key: value for key, value in section.items() if key not in names}
