"""The shorter forms that a part of a scenario may be written in, as its schema says them.

Each stands for a rule of the model's own, which changes what is given before it is looked at.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from pydantic import BaseModel

from whitecap.engine.dialects import DIALECTS
from whitecap.engine.recorded import AxisRole
from whitecap.sim.quantities.bounds import MAX_COUNT
from whitecap.sim.quantities.distributions import Distribution
from whitecap.sim.quantities.quantiles import Quantiles
from whitecap.sim.quantities.section import OneOf
from whitecap.sim.quantities.units import DURATION_SCHEMA
from whitecap.sim.scenario.faults import Fault, Strike
from whitecap.sim.scenario.model import Scenario
from whitecap.sim.scenario.objective import EXAMPLE, OBJECTIVE_FORM, StatedObjective
from whitecap.sim.scenario.origin import DATE, Sourced
from whitecap.sim.scenario.sweep import ROLE, SweepSection
from whitecap.sim.scenario.table import Domain, TableSection
from whitecap.sim.scenario.writers import (
    ClockSkew,
    ComputeSection,
    JobPart,
    Restart,
    restart_presets,
)

Json = dict[str, Any]

_NULL: Json = {"type": "null"}

OBJECTIVE: Json = {"type": "string", "pattern": OBJECTIVE_FORM.pattern, "examples": [EXAMPLE]}

TEXTS: Json = {
    "type": "object",
    "additionalProperties": {"type": ["string", "number", "boolean"]},
}
"""Properties and settings: text, which YAML may take for something else."""

AXES: Json = {
    "type": "object",
    "minProperties": 1,
    "additionalProperties": {
        "type": "object",
        "properties": {ROLE: {"enum": [role.value for role in AxisRole]}},
        "additionalProperties": {"type": "object"},
    },
}
"""Axis -> variant -> dotted path and value; and what the axis is."""

ORDINAL: Json = {"type": ["integer", "string"], "minimum": 1, "maximum": MAX_COUNT}
ORDINALS: Json = {"anyOf": [ORDINAL, {"type": "array", "items": ORDINAL, "minItems": 1}, _NULL]}
"""Which of several: one, or a list."""

FIELDS: Mapping[tuple[type[BaseModel], str], Json] = {
    (Scenario, "dialect"): {"enum": list(DIALECTS)},
    (Scenario, "settings"): TEXTS,
    (TableSection, "properties"): TEXTS,
    (Scenario, "objective"): {"anyOf": [OBJECTIVE, {"type": "array", "items": OBJECTIVE}]},
    (SweepSection, "axes"): AXES,
    (Sourced, "date"): {"type": ["string", "integer", "null"], "pattern": DATE},
    (Strike, "nth"): ORDINALS,
    (Strike, "of_jobs"): ORDINALS,
    (Restart, "preset"): {"enum": ["", *restart_presets()]},
}
"""Fields of which the model's type does not tell how they are written."""


def as_ecma(pattern: str) -> str:
    """A pattern that fits the whole text, without names of groups, which ECMA writes otherwise."""
    unnamed = re.sub(r"\(\?P<\w+>", "(", pattern)
    return unnamed if unnamed.startswith("^") else f"^{unnamed}$"


def field_form(model: type[BaseModel], name: str) -> Json | None:
    """How a field is written, where its type does not tell."""
    forms = (FIELDS.get((base, name)) for base in model.__mro__ if issubclass(base, BaseModel))
    return next((dict(form) for form in forms if form is not None), None)


def with_other_forms(model: type[BaseModel], section: Json) -> Json:
    """The schema of a model with the forms that stand for one of its own."""
    forms = FORMS.get(model, _word if issubclass(model, OneOf) else _nothing)(model, section)
    if not forms:
        return section
    described = section.pop("description", "")
    return {"description": described, "anyOf": [section, *forms]}


def _word(model: type[BaseModel], _section: Json) -> list[Json]:
    """A choice without options, by its name alone."""
    assert issubclass(model, OneOf)
    return [{"enum": model.alternatives()}]


def _duration(_model: type[BaseModel], _section: Json) -> list[Json]:
    return [DURATION_SCHEMA]


def _statement(_model: type[BaseModel], _section: Json) -> list[Json]:
    """The text of a statement by itself."""
    return [{"type": "string"}]


def _distribution_as(field: str) -> _Form:
    """A bare distribution stands for one field of the model."""

    def form(_model: type[BaseModel], section: Json) -> list[Json]:
        field_schema = section["properties"][field]
        references = [field_schema, *field_schema.get("anyOf", ())]
        return [{"$ref": each["$ref"]} for each in references if "$ref" in each]

    return form


def _list(_model: type[BaseModel], section: Json) -> list[Json]:
    listed = section["properties"]["among"]["anyOf"]
    return [each for each in listed if each.get("type") == "array"]


def _points(_model: type[BaseModel], section: Json) -> list[Json]:
    """Quantiles beside the options, without a key of their own."""
    section["patternProperties"] = {
        "^p(?!oints$)": section["properties"]["points"]["additionalProperties"]
    }
    section["minProperties"] = 1
    section.pop("required", None)
    return []


def _nothing(_model: type[BaseModel], _section: Json) -> list[Json]:
    return []


def _preset(_model: type[BaseModel], section: Json) -> list[Json]:
    """A preset by its name; with one, whatever else is said may be missing."""
    section.pop("oneOf")
    return [{"enum": list(restart_presets())}]


_Form = Callable[[type[BaseModel], Json], list[Json]]

FORMS: Mapping[type[BaseModel], _Form] = {
    Distribution: _duration,
    Quantiles: _points,
    ComputeSection: _distribution_as("time"),
    ClockSkew: _distribution_as("ahead"),
    Domain: _list,
    JobPart: _statement,
    Restart: _preset,
    Fault: _nothing,
    StatedObjective: _nothing,
    TableSection: _nothing,
    SweepSection: _nothing,
}
"""Models that take another form than keys with values, or more keys; the other choices take a
word. Of a fault it is told where faults are listed, of the last three among the fields."""
