"""Draws one variation of a scenario, in two phases: under faults, then without.

What must come to an end does so in the second phase: writers begin nothing new in it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from whitecap.engine.errors import DeltaError, InvalidInput, UnsupportedFeature
from whitecap.sim.chaos.dice import Dice
from whitecap.sim.chaos.sites import SITES, Changes, Site, drawn_faults, writers_left
from whitecap.sim.loading import scenario_of
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
    document = {**_cell(base, dice), "seed": dice.whole("seed", 1, 1 << 30)}
    document = _of_these(document, writers_left(document, dice, DROPPED))
    touched = [site for site in SITES if dice.chance(f"touch {site.name}", TOUCHED)]
    choices = _choices(document, touched, dice)
    scenario, in_vain = _with_choices(document, choices)
    calm_ms = _calm_ms(scenario, dice)
    phased = _in_two_phases(scenario, calm_ms)
    whole, in_vain_too = _with_faults(phased, list(drawn_faults(dice, calm_ms)))
    chosen = {
        path: value
        for name, changes in choices.items()
        if name not in in_vain
        for path, value in changes.items()
    }
    return Drawn(whole, chosen, (*in_vain, *in_vain_too), calm_ms)


def _of_these(document: Document, writers: Document) -> Document:
    """The document with these writers alone, and no cluster on which none of them runs."""
    named = {group.get("cluster") for group in writers.values()}
    clusters = {
        name: cluster for name, cluster in document.get("clusters", {}).items() if name in named
    }
    left = {key: part for key, part in document.items() if key != "clusters"}
    return {**left, "writers": writers, **({"clusters": clusters} if clusters else {})}


def _choices(document: Document, touched: Sequence[Site], dice: Dice) -> dict[str, Changes]:
    """What stands at each site, drawn with what was drawn before it."""
    choices: dict[str, Changes] = {}
    for site in touched:
        choices[site.name] = site.draw(document, dice)
        document = changed(document, choices[site.name])
    return choices


def _cell(base: Scenario, dice: Dice) -> Document:
    """A cell of the scenario's sweep, or it itself, without what is not of a variation."""
    document = base.document
    if base.sweep is not None:
        document = changed(document, base.sweep.changes(dice.among("cell", base.sweep.cells())))
    return {key: part for key, part in document.items() if key not in NOT_OF_A_VARIATION}


def _with_choices(
    document: Document, choices: Mapping[str, Changes]
) -> tuple[Scenario, tuple[str, ...]]:
    """The scenario with all choices, or with those that can be, and the names of the others."""
    together = {path: value for changes in choices.values() for path, value in changes.items()}
    scenario = _possible(document, together)
    if scenario is not None:
        return scenario, ()
    scenario, in_vain = scenario_of(document), list[str]()
    for name, changes in choices.items():
        tried = _possible(scenario.document, changes)
        if tried is None:
            in_vain.append(name)
        else:
            scenario = tried
    return scenario, tuple(in_vain)


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
    return _whole_seconds(scenario.duration * min(jobs / max(planned, 1e-9), 100))


def _in_two_phases(scenario: Scenario, calm_ms: float) -> Document:
    document = scenario.document
    first = min(scenario.writers, key=lambda name: scenario.writers[name].starts)
    writers = {
        name: {**group, "stops": show_duration(_stops_ms(scenario, name, calm_ms))}
        for name, group in document["writers"].items()
        if name == first or scenario.writers[name].starts < calm_ms
    }
    return {
        **document,
        "writers": writers,
        "duration": show_duration(calm_ms + QUIET_MS),
    }


def _with_faults(
    document: Document, faults: Sequence[Document]
) -> tuple[Scenario, tuple[str, ...]]:
    """The scenario with all faults, or with those that can be, and the names of the others."""
    given = document.get("faults", [])
    if (scenario := _possible(document, {"faults": [*given, *faults]})) is not None:
        return scenario, ()
    scenario, in_vain = scenario_of(document), list[str]()
    for fault in faults:
        tried = _possible(document, {"faults": [*given, fault]})
        if tried is None:
            in_vain.append(f"the fault {next(iter(fault))}")
        else:
            scenario, given = tried, [*given, fault]
    return scenario, tuple(in_vain)


def _stops_ms(scenario: Scenario, name: str, calm_ms: float) -> float:
    """When a group begins nothing new; one that starts later than calm has as long of its own."""
    group = scenario.writers[name]
    stops_ms = calm_ms if group.stops is None else min(group.stops, calm_ms)
    return _whole_seconds(stops_ms if stops_ms > group.starts else group.starts + calm_ms)


def _whole_seconds(span_ms: float) -> float:
    """At least so long, and written in full."""
    return math.ceil(span_ms / 1000) * 1000.0
