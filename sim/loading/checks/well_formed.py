"""What is given for a part of a scenario, if it is as its model wants it."""

from __future__ import annotations

from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

M = TypeVar("M", bound=BaseModel)


def well_formed(model: type[M], given: Any) -> M | None:
    """The part, if it is well formed."""
    try:
        return model.model_validate(given)
    except ValidationError:
        return None


def well_formed_items(model: type[M], given: Any) -> dict[int, M]:
    """Those items of a list that are well formed, by their positions."""
    items = given if isinstance(given, list) else []
    parsed = {position: well_formed(model, item) for position, item in enumerate(items)}
    return {position: item for position, item in parsed.items() if item is not None}
