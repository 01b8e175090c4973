"""What is given for a part of a scenario, if it is as its model wants it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

M = TypeVar("M", bound=BaseModel)


def well_formed(model: type[M], given: Any) -> M | None:
    """The part, if it is well formed."""
    try:
        return model.model_validate(given)
    except ValidationError:
        return None


def sound_part(
    model: type[M], given: Any, needed: Mapping[str, Any]
) -> tuple[M | None, frozenset[str]]:
    """The part from those of its fields that are well formed, and the names of the others.

    What is `needed` stands in for fields that must be there.
    """
    if not isinstance(given, dict):
        return None, frozenset()
    try:
        return model.model_validate(given), frozenset()
    except ValidationError as error:
        broken = frozenset(str(detail["loc"][0]) for detail in error.errors() if detail["loc"])
    sound = {key: value for key, value in given.items() if key not in broken}
    return well_formed(model, {**needed, **sound}), broken


def well_formed_items(model: type[M], given: Any) -> dict[int, M]:
    """Those items of a list that are well formed, by their positions."""
    items = given if isinstance(given, list) else []
    parsed = {position: well_formed(model, item) for position, item in enumerate(items)}
    return {position: item for position, item in parsed.items() if item is not None}
