"""The JSON Schema of a scenario file: what editors complete and underline.

Generated from the models. It says what a value may look like; what must agree between values the
loader alone knows. Whatever the schema refuses the loader refuses too, so that nobody is led away
from what works: numbers may therefore be written as text (`1e6`), as the loader takes them.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import CoreModeRef, CoreRef, DefsRef, GenerateJsonSchema
from pydantic_core import core_schema

from whitecap.sim.describing.forms import Json, as_ecma, field_form, with_other_forms
from whitecap.sim.describing.sentences import sentence_of
from whitecap.sim.loading.named_parts import FAULT_CATALOGUE
from whitecap.sim.loading.profiles import shipped_profiles
from whitecap.sim.quantities.section import OneOf, word_of
from whitecap.sim.scenario.model import Scenario
from whitecap.sim.scenario.yaml.text import read_yaml

AS_TEXT: Json = {"type": "string", "pattern": r"^\s*[+-]?[\d_]*\.?[\d_]*([eE][+-]?\d+)?\s*$"}
"""A number that YAML takes for text."""

SAID_TRUE_OR_FALSE = (
    "^([01]|[oO][nN]|[oO][fF][fF]|[tT]([rR][uU][eE])?|[fF]([aA][lL][sS][eE])?"
    "|[yY]([eE][sS])?|[nN][oO]?)$"
)
"""`yes` is no word to every reader of YAML."""

BOUNDS = {"ge": "minimum", "gt": "exclusiveMinimum", "le": "maximum", "lt": "exclusiveMaximum"}

NOT_IN_OVERRIDES = ("required", "oneOf", "minProperties")
"""What a part need not have that overrides one that is whole."""


class _Generator(GenerateJsonSchema):
    """Models with a sentence for each key, and with every form that the loader takes."""

    def model_schema(self, schema: core_schema.ModelSchema) -> Json:
        model: type[BaseModel] = schema["cls"]
        section: Json = super().model_schema(schema)
        section["title"] = word_of(model)
        defaults = written_defaults(model)
        for name, field in model.model_fields.items():
            key = field.alias or name
            part = field_form(model, name) or section["properties"][key]
            section["properties"][key] = part
            part.pop("title", None)
            part.pop("default", None)
            part["description"] = sentence_of(model, name)
            if name in defaults:
                part["default"] = defaults[name]
        if issubclass(model, OneOf):
            section["oneOf"] = [_given(name) for name in model.alternatives()]
        return with_other_forms(model, section)

    def get_defs_ref(self, core_mode_ref: CoreModeRef) -> DefsRef:
        """The definition of a model is named by its word."""
        place, mode = core_mode_ref
        return super().get_defs_ref((CoreRef(place.replace("Section:", ":")), mode))

    def int_schema(self, schema: core_schema.IntSchema) -> Json:
        return {"anyOf": [super().int_schema(schema), AS_TEXT]}

    def float_schema(self, schema: core_schema.FloatSchema) -> Json:
        return {"anyOf": [super().float_schema(schema), AS_TEXT]}

    def bool_schema(self, schema: core_schema.BoolSchema) -> Json:
        if schema.get("strict"):
            return {"type": "boolean"}
        text = {"type": "string", "pattern": SAID_TRUE_OR_FALSE}
        return {"anyOf": [{"type": "boolean"}, {"enum": [0, 1]}, text]}

    def datetime_schema(self, schema: core_schema.DatetimeSchema) -> Json:
        return {"type": "string", "examples": ["2026-01-14 08:00:00"]}


def _given(name: str) -> Json:
    return {"required": [name], "properties": {name: {"not": {"type": "null"}}}}


def written_defaults(model: type[BaseModel]) -> Json:
    """The defaults of a model's fields, as a scenario would write them; none that is nothing."""
    return model.model_construct().model_dump(mode="json", exclude_none=True)


@lru_cache(maxsize=1)
def scenario_schema() -> Json:
    """The schema of a scenario file."""
    schema: Json = Scenario.model_json_schema(by_alias=True, schema_generator=_Generator)
    _with_overrides(schema)
    _plainly(schema)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Whitecap scenario",
        **{key: part for key, part in schema.items() if key not in ("title", "$defs")},
        "$defs": dict(sorted(schema["$defs"].items())),
    }


def schema_text() -> str:
    """The schema as its file holds it."""
    return json.dumps(scenario_schema(), indent=1, ensure_ascii=False) + "\n"


def _with_overrides(schema: Json) -> None:
    """What a scenario says of a profile, a catalogued fault or a preset need not be whole."""
    definitions: Json = schema["$defs"]
    for name in ("Store", "Fault", "FixedRerun", "ExponentialRerun"):
        for each in set(_reached(name, definitions)):
            part = copy.deepcopy(definitions[each])
            definitions[_partial(each)] = _overriding(part)
    _stores(schema, definitions)
    _tables(definitions)
    _faults(schema, definitions)
    _restarts(definitions)
    there = set(_references({key: part for key, part in schema.items() if key != "$defs"}))
    kept = {inner for name in there for inner in _reached(name, definitions)}
    schema["$defs"] = {name: definitions[name] for name in kept}


PROFILE: Json = {
    "anyOf": [{"enum": shipped_profiles()}, {"type": "string", "pattern": r"/|\.ya?ml$"}]
}
"""A profile by its name, or a file of one's own."""


def _stores(schema: Json, definitions: Json) -> None:
    """A profile, or a profile and what is said otherwise of it."""
    override = definitions[_partial("Store")]
    override["required"] = ["profile"]
    override["properties"]["profile"] = {"anyOf": [*PROFILE["anyOf"], {"type": "object"}]}
    _replace(schema["properties"], "store", [*PROFILE["anyOf"], _reference(_partial("Store"))])
    forms = [*PROFILE["anyOf"], _reference("LogStore"), {"type": "null"}]
    _replace(definitions["WriterGroup"]["properties"], "log_store", forms)


def _tables(definitions: Json) -> None:
    """A table says its columns, or names a real one that says them."""
    table = definitions["Table"]
    table["required"].remove("schema")
    table["anyOf"] = [_given("schema"), _given("from")]


def _faults(schema: Json, definitions: Json) -> None:
    """Faults by name, by name with overrides, or spelled out."""
    names: Json = {"enum": list(read_yaml(FAULT_CATALOGUE).content)}
    override = definitions[_partial("Fault")]
    override["properties"]["use"] = {**names, "description": "The catalogued fault that is meant."}
    override["required"] = ["use"]
    forms = [names, _reference(_partial("Fault")), _reference("Fault")]
    schema["properties"]["faults"]["items"] = {"anyOf": forms}


def _restarts(definitions: Json) -> None:
    """With a preset, of its policy only what is otherwise."""
    (restart,) = (each for each in definitions["Restart"]["anyOf"] if "properties" in each)
    for name, model in (("fixed", "FixedRerun"), ("exponential", "ExponentialRerun")):
        forms = [_reference(_partial(model)), {"type": "null"}]
        _replace(restart["properties"], name, forms)


def _reference(name: str) -> Json:
    return {"$ref": f"#/$defs/{name}"}


def _replace(properties: Json, key: str, forms: list[Json]) -> None:
    described = properties[key]["description"]
    properties[key] = {"description": described, "anyOf": forms}


def _reached(name: str, definitions: Json, seen: frozenset[str] = frozenset()) -> Iterator[str]:
    """A definition and all that it refers to."""
    yield name
    for inner in _references(definitions[name]):
        if inner not in seen and inner != name:
            yield from _reached(inner, definitions, seen | {name})


def _references(part: Any) -> Iterator[str]:
    match part:
        case {"$ref": str() as reference}:
            yield reference.rpartition("/")[2]
        case dict():
            for inner in part.values():
                yield from _references(inner)
        case list():
            for inner in part:
                yield from _references(inner)


def _partial(name: str) -> str:
    return f"{name}.overrides"


def _overriding(part: Any) -> Any:
    """A definition of which anything may be missing."""
    match part:
        case {"$ref": str() as reference, **others}:
            return {**others, "$ref": _partial(reference)}
        case dict():
            kept = {key: inner for key, inner in part.items() if key not in NOT_IN_OVERRIDES}
            return {key: _overriding(inner) for key, inner in kept.items() if key != "default"}
        case list():
            return [_overriding(inner) for inner in part]
        case _:
            return part


def _plainly(part: Any) -> None:
    """Everything as JSON Schema has it: bounds by their keywords, patterns as ECMA writes them."""
    match part:
        case dict():
            for name, keyword in BOUNDS.items():
                if name in part:
                    _bound(part, keyword, part.pop(name))
            if isinstance(part.get("pattern"), str):
                part["pattern"] = as_ecma(part["pattern"])
            for inner in part.values():
                _plainly(inner)
        case list():
            for inner in part:
                _plainly(inner)


def _bound(part: Json, keyword: str, limit: float) -> None:
    """A bound of a number; that of a duration has no keyword."""
    for each in (part, *part.get("anyOf", ())):
        if each.get("type") in ("integer", "number"):
            each[keyword] = limit
