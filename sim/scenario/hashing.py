"""The hash of a scenario: a name for what it simulates, however it is written."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Container
from typing import Any

from whitecap.sim.quantities.section import Section
from whitecap.sim.scenario.origin import without_origins

NOT_PART_OF_THE_HASH = {
    "format_version", "name", "description", "seed", "expect", "objective", "may_change", "sweep",
}  # fmt: skip
"""What may differ between two scenarios that simulate the same thing."""

NEW_FOR_SCENARIOS = {"price"}
NEW_FOR_WRITERS = {"dialect", "foreach_batch"}
NEW_FOR_TABLES = {"real", "version", "rows_each"}
"""Keys that these parts had not when the first recordings were made: nothing where unset."""


def hash_of(scenario: Section) -> str:
    """16 hexadecimal digits: equal for scenarios that simulate the same thing."""
    meaning = json.dumps(_meaning(scenario), sort_keys=True)
    return hashlib.sha256(meaning.encode()).hexdigest()[:16]


def _meaning(scenario: Section) -> dict[str, Any]:
    dumped = scenario.model_dump(mode="json", exclude=NOT_PART_OF_THE_HASH)
    meaning = _without_unset(dumped, NEW_FOR_SCENARIOS)
    meaning["store"] = without_origins({**meaning["store"], "description": ""})
    meaning["writers"] = _each_without_unset(meaning["writers"], NEW_FOR_WRITERS)
    meaning["tables"] = _each_without_unset(meaning["tables"], NEW_FOR_TABLES)
    if meaning["table"] is not None:
        meaning["table"] = _without_unset(meaning["table"], NEW_FOR_TABLES)
    return meaning


def _each_without_unset(parts: dict[str, Any], new: Container[str]) -> dict[str, Any]:
    return {name: _without_unset(part, new) for name, part in parts.items()}


def _without_unset(part: dict[str, Any], new: Container[str]) -> dict[str, Any]:
    return {key: value for key, value in part.items() if value is not None or key not in new}
