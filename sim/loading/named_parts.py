"""Parts that a scenario names, filled in: real tables, store profile, log stores, faults."""

from __future__ import annotations

from typing import Any

from whitecap.engine.errors import InvalidInput, Problem, nearest, unknown_name
from whitecap.scenarios import SCENARIOS
from whitecap.sim.loading import profiles, real_tables
from whitecap.sim.loading.overriding import fault_in_full, merged
from whitecap.sim.scenario.model import Document
from whitecap.sim.scenario.yaml.text import KeyPath, YamlText, read_shipped

FAULT_CATALOGUE = SCENARIOS / "faults.yaml"


def filled_in(document: Document, text: YamlText) -> tuple[Document, list[Problem]]:
    """The document with tables, store profile and catalogued faults in place of their names."""
    filled, problems = real_tables.filled_in(document, text)
    if "store" in filled:
        filled["store"] = profiles.filled_in(filled["store"], text, problems)
    if isinstance(filled.get("writers"), dict):
        filled["writers"] = {
            name: _with_log_store(group, ("writers", name, "log_store"), text, problems)
            for name, group in filled["writers"].items()
        }
    if isinstance(filled.get("faults"), list):
        filled["faults"] = [
            _fault(fault, position, text, problems)
            for position, fault in enumerate(filled["faults"])
        ]
    return filled, problems


def _with_log_store(group: Any, place: KeyPath, text: YamlText, problems: list[Problem]) -> Any:
    """A writer group with the log store of the profile that it names."""
    name = group.get("log_store") if isinstance(group, dict) else None
    if not isinstance(name, str):
        return group
    try:
        profile = profiles.profile_named(name)
    except InvalidInput:
        profile_names = profiles.shipped_profiles()
        said = f"no store profile {name!r} has a log store: there are {', '.join(profile_names)}"
        problems.append(Problem(text.where(place), said, nearest(name, profile_names)))
        return {key: part for key, part in group.items() if key != "log_store"}
    return {**group, "log_store": profile.log_store.model_dump(mode="json")}


def _fault(given: Any, position: int, text: YamlText, problems: list[Problem]) -> Any:
    overrides = fault_in_full(given)
    if not isinstance(overrides, dict) or "use" not in overrides:
        return given
    catalogue = read_shipped(FAULT_CATALOGUE).content
    name = str(overrides["use"])
    if name not in catalogue:
        said = unknown_name("catalogued fault", name, catalogue)
        problems.append(Problem(text.where(("faults", position, "use")), *said))
        name = next(iter(catalogue))
    rest = {key: value for key, value in overrides.items() if key != "use"}
    return merged(_by_plan_if_said(catalogue[name], rest), rest)


def _by_plan_if_said(catalogued: Document, overrides: Document) -> Document:
    """A catalogued fault without its probability, where it is to strike the nth request."""
    return {
        key: {k: v for k, v in part.items() if k != "probability"}
        if isinstance(part, dict) and _says_nth(overrides.get(key))
        else part
        for key, part in catalogued.items()
    }


def _says_nth(override: Any) -> bool:
    return isinstance(override, dict) and "nth" in override
