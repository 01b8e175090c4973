"""Draws one variation of a scenario, in two phases: under faults, then without.

What must come to an end does so in the second phase: writers begin nothing new in it.
"""

from __future__ import annotations

from dataclasses import dataclass

from whitecap.engine.errors import DeltaError, InvalidInput, UnsupportedFeature
from whitecap.sim.chaos.dice import Dice
from whitecap.sim.chaos.sites import SITES, Changes, drawn_faults, writers_left
from whitecap.sim.loading import cell_of, scenario_of
from whitecap.sim.loading.loading import changed
from whitecap.sim.quantities.units import DAY_MS, show_duration
from whitecap.sim.scenario.model import Document, Scenario

TOUCHED = 0.6
"""Of the sites, in a run: what is not touched stays as the scenario says."""

DROPPED = 0.25
"""Of the writer groups, in a run."""

FEWEST_JOBS, MOST_JOBS = 40, 120
"""Jobs that are begun in a run: enough for twenty commits where two of three are refused, and few
enough for some runs per second."""

QUIET_MS = DAY_MS / 2
"""The phase without faults: no rerun policy of the shipped scenarios waits longer. An idle hour
costs nothing."""

NOT_OF_A_VARIATION = ("expect", "objective", "sweep", "warm_up", "description")
"""Parts of a scenario that say what is asked of it, not what happens in it."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """A variation, how it was come by, and what was drawn in vain: nothing could be made of it."""

    scenario: Scenario
    choices: dict[str, object]
    in_vain: tuple[str, ...]
    calm_ms: float


def drawn(base: Scenario, seed: int, number: int) -> Drawn:
    """Variation `number` of a campaign with this seed."""
    dice = Dice(seed, number)
    cell = _cell(base, dice)
    document = {key: part for key, part in cell.document.items() if key not in NOT_OF_A_VARIATION}
    document = {**document, "seed": dice.whole("seed", 1, 1 << 30)}
    document = {**document, "writers": writers_left(document, dice, DROPPED)}
    scenario = scenario_of(document)
    choices: dict[str, object] = {"writers": list(document["writers"])}
    in_vain = []
    for site in SITES:
        changes = site.draw(scenario, dice) if dice.chance(f"touch {site.name}", TOUCHED) else {}
        tried = _possible(document, changes)
        if tried is None:
            in_vain.append(site.name)
        elif changes:
            scenario, document = tried, tried.document
            choices.update(changes)
    calm_ms = _calm_ms(scenario, dice)
    phased = _in_two_phases(document, scenario, dice, calm_ms)
    return Drawn(scenario_of(phased), choices, tuple(in_vain), calm_ms)


def _cell(base: Scenario, dice: Dice) -> Scenario:
    if base.sweep is None:
        return base
    return cell_of(base, dice.among("cell", base.sweep.cells()))


def _possible(document: Document, changes: Changes) -> Scenario | None:
    """The scenario with these changes, if there can be such a one."""
    try:
        return scenario_of(changed(document, changes))
    except (InvalidInput, UnsupportedFeature, DeltaError):
        return None


def _calm_ms(scenario: Scenario, dice: Dice) -> float:
    """When faults end and nothing new is begun: after about as many jobs as are drawn."""
    jobs = dice.whole("jobs", FEWEST_JOBS, MOST_JOBS)
    waits_ms = scenario.store.list.mean_ms()
    planned = sum(
        group.count * group.jobs(scenario.duration, waits_ms) for group in scenario.writers.values()
    )
    return float(f"{scenario.duration * min(jobs / max(planned, 1e-9), 100):.3g}")


def _in_two_phases(document: Document, scenario: Scenario, dice: Dice, calm_ms: float) -> Document:
    writers = {
        name: {**group, "stops": show_duration(_stops_ms(scenario, name, calm_ms))}
        for name, group in document["writers"].items()
    }
    faults = [*document.get("faults", ()), *drawn_faults(dice, calm_ms)]
    return {
        **document,
        "writers": writers,
        "faults": faults,
        "duration": show_duration(calm_ms + QUIET_MS),
    }


def _stops_ms(scenario: Scenario, name: str, calm_ms: float) -> float:
    group = scenario.writers[name]
    stops_ms = calm_ms if group.stops is None else min(group.stops, calm_ms)
    return max(stops_ms, group.starts + 1.0)
