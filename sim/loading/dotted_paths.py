"""Changes of a scenario: dotted paths, set in a copy of its document."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from whitecap.engine.errors import InvalidInput, Problem, gathered, noted, unknown_name
from whitecap.sim.loading.overriding import store_in_full
from whitecap.sim.scenario.model import Document
from whitecap.sim.scenario.sweep import Changes


def changed(document: Document, changes: Changes) -> Document:
    """A copy of `document` with each dotted path set. Raises `InvalidInput`."""
    with gathered() as problems:
        return changed_as_can_be(document, changes, problems)


def changed_as_can_be(document: Document, changes: Changes, problems: list[Problem]) -> Document:
    """A copy with each path set that can be; notes why others cannot."""
    result: Document = _apart(document)
    for path, value in changes.items():
        with noted(problems):
            *parents, last = path.split(".")
            _require_named(path, parents, result)
            _holder(result, path, parents)[last] = _apart(value)
    return result


def _holder(document: Document, path: str, parents: Sequence[str]) -> Document:
    """The part of a document that holds the last part of a path; it is made if it is not there."""
    holder = document
    for part in parents:
        if part == "store" and part in holder:
            holder[part] = store_in_full(holder[part])
        holder = holder.setdefault(part, {})
        if not isinstance(holder, dict):
            raise InvalidInput([Problem(path, f"{part!r} holds no keys")])
    return holder


BY_NAME = {"writers": "writer", "tables": "table"}
"""Sections of a scenario whose keys are names -> what these name."""


def _require_named(path: str, parents: Sequence[str], document: Document) -> None:
    """A part of a writer can only be set where there is that writer: it would be half of one.

    So it is with a table.
    """
    if len(parents) < 2 or parents[0] not in BY_NAME:
        return
    named = document.get(parents[0])
    if isinstance(named, dict) and parents[1] not in named:
        said = unknown_name(BY_NAME[parents[0]], parents[1], map(str, named))
        raise InvalidInput([Problem(path, *said)])


def _apart(value: Any) -> Any:
    """A copy in which no two places share a part, as YAML's anchors and aliases make them do."""
    match value:
        case dict():
            return {key: _apart(part) for key, part in value.items()}
        case list():
            return [_apart(part) for part in value]
        case _:
            return value
