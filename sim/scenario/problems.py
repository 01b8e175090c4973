"""What is wrong with a scenario's values, in plain sentences with a place and the nearest name.

Pydantic finds it; no word of its messages reaches a user, who knows keys, lists and numbers but not
dictionaries, patterns and parsing.
"""

from __future__ import annotations

import types
from collections.abc import Sequence
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError

from whitecap.engine.errors import Problem, nearest
from whitecap.sim.quantities.names import FILE_NAME, TABLE_NAME
from whitecap.sim.quantities.units import shown
from whitecap.sim.scenario.origin import DATE
from whitecap.sim.scenario.yaml.text import KeyPath, YamlText

NAMES_SAID = {
    FILE_NAME: "holds only letters, digits, _, . and -, a letter or digit first",
    TABLE_NAME: "holds only letters, digits and _, no digit first",
}
"""What a name may hold, by the pattern that it must match."""

MOST_LISTED = 10
"""Names that are all told beside the nearest one: about a line of them. Ours."""


def problems_of(
    error: ValidationError, model: type[BaseModel], text: YamlText, at: KeyPath = ()
) -> list[Problem]:
    """One problem per error, in the order of the file's fields."""
    return [_problem(detail, model, text, at) for detail in error.errors()]


def _problem(detail: Any, model: type[BaseModel], text: YamlText, at: KeyPath) -> Problem:
    place: KeyPath = detail["loc"]
    match detail["type"]:
        case "extra_forbidden":
            valid = names_of(_type_at(model, place[:-1]))
            likely = _meant(str(place[-1]), valid, text if not at + place[:-1] else None)
            return _unknown_key(text.where(at + place), likely, valid)
        case "missing" if isinstance(place[-1], int):
            return Problem(text.where(at + place[:-1]), "needs a list of two")
        case "missing":
            return Problem(text.where(at + place[:-1]), f"{place[-1]!r} is missing")
        case "literal_error" | "enum":
            return _not_a_choice(detail, text.where(at + place))
        case "value_error":
            given = detail["input"]
            valid = names_of(_type_at(model, place)) if isinstance(given, str) else ()
            said = str(detail["ctx"]["error"])
            return Problem(text.where(at + place), said, nearest(str(given), valid))
        case "model_type":
            names = ", ".join(names_of(_type_at(model, place)))
            said = f"needs keys with values ({names}), not {shown(detail['input'])}"
            return Problem(text.where(at + place), said)
        case _:
            return Problem(text.where(at + place), _sentence(detail, place))


OTHER_WORDS = {"retry": "rerun", "retries": "rerun"}
"""What others call a key, and its name here: a retry is another attempt within a transaction."""


def _meant(key: str, valid: Sequence[str], scenario: YamlText | None) -> str | None:
    """The key that is likely meant: the nearest, what is called otherwise elsewhere, or in the
    place of a `scenario`'s own keys a writer by its name."""
    if likely := nearest(key, valid):
        return likely
    if OTHER_WORDS.get(key) in valid:
        return OTHER_WORDS[key]
    given = None if scenario is None else scenario.last_given
    writers = given.get("writers") if isinstance(given, dict) else None
    return f"writers.{key}" if isinstance(writers, dict) and key in writers else None


def _unknown_key(where: str, likely: str | None, valid: Sequence[str]) -> Problem:
    """With the key that is likely meant, or without one all of them."""
    there_are = f": there are {', '.join(valid)}" if valid and not likely else ""
    return Problem(where, f"unknown key{there_are}", likely)


def _sentence(detail: Any, place: KeyPath) -> str:
    """What a value should have been, for every type of error that a scenario's fields can have."""
    given, limits = shown(detail["input"]), detail.get("ctx", {})
    match detail["type"]:
        case "dict_type":
            return f"needs keys with values, not {given}"
        case "list_type":
            return f"needs a list, such as [a, b], not {given}"
        case "tuple_type" | "too_short" | "too_long" if "actual_length" not in limits:
            return f"needs a list of two, not {given}"
        case "too_short":
            return f"needs at least {limits['min_length']}, has {limits['actual_length']}"
        case "too_long":
            return f"takes at most {limits['max_length']}, has {limits['actual_length']}"
        case "string_type" if place[-1] == "[key]":
            return f"the key {given} is not text: put it in quotes"
        case "string_type" if isinstance(detail["input"], list | dict | None):
            return f"needs text, not {given}"
        case "string_type":
            return f"needs text, not {given}: put it in quotes"
        case "string_pattern_mismatch" if limits["pattern"] == DATE:
            return f"needs a date, such as 2025, 2025-06 or 2025-06-14, not {given}"
        case "string_pattern_mismatch":
            return f"{given} is no name here: it {NAMES_SAID[limits['pattern']]}"
        case "bool_type" | "bool_parsing":
            return f"needs true or false, not {given}"
        case "int_type" | "int_parsing" | "int_from_float" | "int_parsing_size":
            return f"needs a whole number, not {given}"
        case "float_type" | "float_parsing" | "finite_number":
            return f"needs a number, not {given}"
        case "datetime_parsing" | "datetime_from_date_parsing" | "datetime_type":
            return f"needs a date and time, such as 2026-01-14 08:00:00, not {given}"
        case "greater_than":
            return f"must be more than {limits['gt']:,g}, not {given}"
        case "greater_than_equal":
            return f"must be at least {limits['ge']:,g}, not {given}"
        case "less_than_equal":
            return f"must be at most {limits['le']:,}, not {given}"
        case _:
            return f"{given} does not fit here"


def _not_a_choice(detail: Any, where: str) -> Problem:
    valid = [
        part.strip("' ") for part in detail["ctx"]["expected"].replace(" or ", ", ").split(",")
    ]
    given = detail["input"]
    likely = nearest(str(given), valid)
    is_long = likely is not None and len(valid) > MOST_LISTED
    names = f"{len(valid)} names" if is_long else ", ".join(valid)
    return Problem(where, f"{shown(given)} is none of {names}", likely)


def names_of(kind: Any) -> Sequence[str]:
    """The keys of a part of a scenario, as YAML has them."""
    if not (isinstance(kind, type) and issubclass(kind, BaseModel)):
        return ()
    return [field.alias or name for name, field in kind.model_fields.items()]


def _type_at(kind: Any, place: KeyPath) -> Any:
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
