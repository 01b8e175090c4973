"""Objectives that are given in the place of the scenario's: read before there is a scenario."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace
from pydantic import ValidationError

from whitecap.engine.errors import Problem
from whitecap.sim.scenario.objective import StatedObjective
from whitecap.sim.scenario.problems import problems_of
from whitecap.sim.scenario.yaml.text import YamlText


def readable_objectives(given: Sequence[str], problems: list[Problem]) -> list[str]:
    """Those that some scenario could take; notes what is wrong with the others."""
    return [text for text in given if _is_readable(text, problems)]


def _is_readable(given: str, problems: list[Problem]) -> bool:
    try:
        StatedObjective.model_validate(given)
    except ValidationError as error:
        misread = problems_of(error, StatedObjective, YamlText("", "objective"))
        problems += [replace(each, place="objective") for each in misread]
        return False
    return True
