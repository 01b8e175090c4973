"""What pydantic found wrong, told as problems with a place and the nearest valid name."""

from __future__ import annotations

import difflib
import types
from collections.abc import Iterable, Sequence
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError

from whitecap.engine.errors import Problem
from whitecap.sim.scenario.yaml_text import Place, YamlText


def nearest(name: str, valid: Iterable[str]) -> str | None:
    """The valid name that `name` was probably meant to be."""
    close = difflib.get_close_matches(name, list(valid), n=1, cutoff=0.5)
    return close[0] if close else None


def problems_of(
    error: ValidationError, model: type[BaseModel], text: YamlText, at: Place = ()
) -> list[Problem]:
    """One problem per error, in the order of the file's fields."""
    return [_problem(detail, model, text, at) for detail in error.errors()]


def _problem(detail: Any, model: type[BaseModel], text: YamlText, at: Place) -> Problem:
    place: Place = detail["loc"]
    match detail["type"]:
        case "extra_forbidden":
            valid = _names(_type_at(model, place[:-1]))
            return Problem(text.where(at + place), "unknown key", nearest(str(place[-1]), valid))
        case "missing":
            return Problem(text.where(at + place[:-1]), f"{place[-1]!r} is missing")
        case "literal_error" | "enum":
            return _not_a_choice(detail, text.where(at + place))
        case "value_error":
            given = detail["input"]
            valid = _names(_type_at(model, place)) if isinstance(given, str) else ()
            said = str(detail["ctx"]["error"])
            return Problem(text.where(at + place), said, nearest(str(given), valid))
        case _:
            return Problem(text.where(at + place), f"{detail['msg']}, not {detail['input']!r}")


def _not_a_choice(detail: Any, where: str) -> Problem:
    valid = [
        part.strip("' ") for part in detail["ctx"]["expected"].replace(" or ", ", ").split(",")
    ]
    given = str(detail["input"])
    text = f"{given!r} is none of {', '.join(valid)}"
    return Problem(where, text, nearest(given, valid))


def _names(kind: Any) -> Sequence[str]:
    if not (isinstance(kind, type) and issubclass(kind, BaseModel)):
        return ()
    return [field.alias or name for name, field in kind.model_fields.items()]


def _type_at(kind: Any, place: Place) -> Any:
    for part in place:
        kind = _step(_plain(kind), part)
    return _plain(kind)


def _step(kind: Any, part: str | int) -> Any:
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        for name, field in kind.model_fields.items():
            if part in (name, field.alias):
                return field.annotation
        return None
    arguments = get_args(kind)
    return arguments[-1] if arguments else None


def _plain(kind: Any) -> Any:
    """`kind` without `Annotated` and `| None`."""
    if get_origin(kind) is Annotated:
        return _plain(get_args(kind)[0])
    if get_origin(kind) in (Union, types.UnionType):
        inner = [_plain(part) for part in get_args(kind) if part is not type(None)]
        return inner[0] if len(inner) == 1 else kind
    return kind
