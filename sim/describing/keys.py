"""Every key of a scenario with type, default and a sentence, as a page: `docs/scenario-keys.md`."""

from __future__ import annotations

import json
import types
from collections.abc import Iterable, Iterator
from enum import StrEnum
from functools import cache
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from whitecap.sim.describing.schema import written_defaults
from whitecap.sim.describing.sentences import sentence_of
from whitecap.sim.quantities.distributions import Distribution
from whitecap.sim.quantities.section import OneOf, word_of
from whitecap.sim.quantities.units import Duration, Rate, WarmUp
from whitecap.sim.scenario.model import Scenario
from whitecap.sim.scenario.store import StoreSection

HEAD = """# Every key of a scenario

Written by `make documented` from the models; what each part is for: [scenarios.md](scenarios.md).
A duration has its unit with it (`250 ms`, `5 s`, `2 min`, `1 h`, `7 d`), a rate too (`3 per min`).
Where the default is `needed` the part has to have the key; where it is `in a profile` only a
store's profile has to, and what a scenario says beside `profile:` takes the place of its values.
"""

IN_UNITS = {id(get_args(kind)[1]): name for kind, name in (
    (Duration, "duration"), (Rate, "rate"), (WarmUp, "duration or `auto`"),
)}  # fmt: skip
"""Kinds that are numbers within, by what reads them."""

NAMES = {int: "whole number", float: "number", str: "text", bool: "true or false"}


def keys_page() -> str:
    """The page: a table for each part, in the order in which a scenario names them."""
    return HEAD + "".join(_part(model) for model in _models(Scenario))


def _models(model: type[BaseModel]) -> Iterator[type[BaseModel]]:
    seen, waiting = set(), [model]
    while waiting:
        each = waiting.pop(0)
        if each not in seen:
            seen.add(each)
            yield each
            waiting += [part for field in each.model_fields.values() for part in _inside(field)]


def _inside(field: FieldInfo) -> Iterator[type[BaseModel]]:
    def of(kind: Any) -> Iterator[type[BaseModel]]:
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            yield kind
        for part in get_args(kind):
            yield from of(part)

    yield from of(field.annotation)


def _part(model: type[BaseModel]) -> str:
    if not model.model_fields:
        return ""
    choice = "Exactly one of these.\n\n" if issubclass(model, OneOf) and not model.shared else ""
    defaults = written_defaults(model)
    rows = "".join(_row(model, name, field, defaults) for name, field in model.model_fields.items())
    title = f"\n## {word_of(model)}\n\n{choice}"
    return f"{title}| key | type | default | what it is |\n|---|---|---|---|\n{rows}"


def _row(model: type[BaseModel], name: str, field: FieldInfo, defaults: dict[str, Any]) -> str:
    default = _needed(model, name) if field.is_required() else ""
    if name in defaults:
        default = f"`{json.dumps(defaults[name], ensure_ascii=False)}`"
    sentence = sentence_of(model, name)
    return f"| `{field.alias or name}` | {_type(field)} | {default} | {sentence} |\n"


def _needed(model: type[BaseModel], name: str) -> str:
    """Whether a scenario has to name it, or the profile that it names beside it brings it."""
    of_profile = model in _of_profiles() and (model, name) != (StoreSection, "profile")
    return "in a profile" if of_profile else "needed"


@cache
def _of_profiles() -> frozenset[type[BaseModel]]:
    """The parts that a scenario only overrides; a distribution is given whole everywhere."""
    return frozenset(_models(StoreSection)) - frozenset(_models(Distribution))


def _type(field: FieldInfo) -> str:
    return _in_units(field.metadata) or _kind(field.annotation)


def _in_units(readers: Iterable[Any]) -> str | None:
    """What is read by one of these from a text with a unit; `None` if nothing is."""
    return next((IN_UNITS[id(each)] for each in readers if id(each) in IN_UNITS), None)


def _kind(kind: Any) -> str:
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is None:
        return _plain_kind(kind)
    if origin is Annotated:
        return _in_units(arguments[1:]) or _kind(arguments[0])
    if origin in (Union, types.UnionType):
        kinds = [_kind(each) for each in arguments if each is not type(None)]
        return " or ".join(dict.fromkeys(kinds))
    if origin is Literal:
        return ", ".join(f"`{each}`" for each in arguments)
    if origin in (list, tuple):
        return f"list of {_kind(arguments[0])}"
    if origin is dict:
        return f"by name: {_kind(arguments[-1])}"
    return "any value"


def _plain_kind(kind: Any) -> str:
    """What a kind without arguments is called: a section, a choice, a number, text."""
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        word = word_of(kind)
        return f"[{word}](#{word.lower()})" if kind.model_fields else "`{}`"
    if isinstance(kind, type) and issubclass(kind, StrEnum):
        return ", ".join(f"`{each.value}`" for each in kind)
    return NAMES.get(kind, "date and time" if "datetime" in str(kind) else "any value")
