"""Scenario files: what one may say, how it is read, and everything that can be wrong with it."""

from whitecap.sim.scenario.loading import (
    cell_of,
    load_scenario,
    parse_scenario,
    scenario_of,
    show_document,
)
from whitecap.sim.scenario.model import Scenario

__all__ = [
    "Scenario",
    "cell_of",
    "load_scenario",
    "parse_scenario",
    "scenario_of",
    "show_document",
]
