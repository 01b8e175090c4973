"""What callers from Python give as one text or as several."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from whitecap.engine.errors import Problem


def texts_of(given: str | Sequence[str]) -> Sequence[str]:
    """All of them; one alone is no sequence of its letters."""
    return [given] if isinstance(given, str) else given


def lists_of(called: str, given: Any, problems: list[Problem]) -> dict[str, list[Any]] | None:
    """By each name all that goes with it, if anything is given; notes what is no such thing."""
    if given is None:
        return None
    if not isinstance(given, Mapping):
        said = f"needs names with a list each, such as {{'name': [...]}}, not {given!r}"
        problems.append(Problem(called, said))
        return None
    return {str(name): _listed(values) for name, values in given.items()}


def _listed(values: Any) -> list[Any]:
    """A text is no list of its letters, and a section none of its keys."""
    is_single = isinstance(values, str | Mapping) or not isinstance(values, Iterable)
    return [values] if is_single else list(values)
