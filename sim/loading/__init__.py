"""How scenario files are read, and everything that can be wrong with one."""

from whitecap.sim.loading.loading import (
    cell_of,
    load_scenario,
    parse_scenario,
    scenario_of,
)

__all__ = [
    "cell_of",
    "load_scenario",
    "parse_scenario",
    "scenario_of",
]
