"""Draws one variation of a scenario, in two phases: under faults, then without.

What must come to an end does so in the second phase: writers begin nothing new in it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeVar

from msgspec import Struct

from whitecap.sim.chaos.dice import Dice
from whitecap.sim.chaos.parts import NO_SCENARIO, with_writers
from whitecap.sim.chaos.rounds import in_rounds
from whitecap.sim.chaos.sites import SITES, Site, drawn_faults, writers_left
from whitecap.sim.loading.dotted_paths import changed
from whitecap.sim.loading.loading import unwritten_scenario
from whitecap.sim.loading.overriding import fault_in_full
from whitecap.sim.quantities.units import DAY_MS, show_duration
from whitecap.sim.scenario.model import Document, Scenario
from whitecap.sim.scenario.sweep import Changes

TOUCHED = 0.6
"""Of the sites, in a run: what is not touched stays as the scenario says."""

DROPPED = 0.25
"""Of the writer groups, in a run."""

FEWEST_JOBS, MOST_JOBS = 40, 120
"""Jobs that are begun in a run: enough for twenty commits where two of three are refused, and few
enough for some runs per second. Where more are refused, a run is drawn longer."""

LONGEST = 1000
"""Durations of its scenario that a run is at most under faults: of one with a job a year."""

FAULTS_END = 0.9
"""Of the phase in which jobs are begun: the last ones must find a table that can be written."""

QUIET_MS = DAY_MS / 2
"""The phase without faults: no rerun policy of the shipped scenarios waits longer. An idle hour
costs nothing."""

NOT_OF_A_VARIATION = ("expect", "objective", "sweep", "warm_up", "description")
"""Parts of a scenario that say what is asked of it, not what happens in it."""


class DrawnVariation(Struct, frozen=True):
    """A variation, how it was come by, and what was drawn in vain: nothing could be made of it."""

    scenario: Scenario
    choices: dict[str, object]
    in_vain: tuple[str, ...]


def drawn(
    base: Scenario,
    seed: int,
    number: int,
    without: frozenset[str] = frozenset(),
    length: float = 1.0,
) -> DrawnVariation:
    """Variation `number` of a campaign with this seed, without faults of some kinds.

    A `length` of 2 has twice as many jobs in twice the time, and is the same variation otherwise.

    Raises one of `NO_SCENARIO` where what is drawn is none, which is a defect.
    """
    dice = Dice(seed, number)
    document = {**_cell(base, dice), "seed": dice.whole("seed", 1, 1 << 30)}
    document = with_writers(document, writers_left(document, dice, DROPPED))
    touched = [site for site in SITES if dice.chance(f"touch {site.name}", TOUCHED)]
    choices = _choices(document, touched, dice)
    scenario, in_vain = _with_choices(document, choices)
    calm_ms = _calm_ms(scenario, dice, length)
    phased = _in_two_phases(scenario, calm_ms, without)
    drawn_too = drawn_faults(dice, FAULTS_END * calm_ms)
    faults = [each for each in drawn_too if not without & each.keys()]
    whole, in_vain_too = _with_faults(phased, faults)
    chosen = {
        path: value
        for name, changes in choices.items()
        if name not in in_vain
        for path, value in changes.items()
    }
    return DrawnVariation(whole, chosen, (*in_vain, *in_vain_too))


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

    def together(before: Document, names: Sequence[str]) -> Document:
        return changed(before, {path: v for name in names for path, v in choices[name].items()})

    return _as_many_as_can_be(document, list(choices), together)


Item = TypeVar("Item")


def _as_many_as_can_be(
    document: Document,
    items: Sequence[Item],
    with_these: Callable[[Document, Sequence[Item]], Document],
    scenario: Scenario | None = None,
) -> tuple[Scenario, tuple[Item, ...]]:
    """The scenario with all items if it can be had, else with those of its halves; and the others.

    `scenario` is that of the document, if it is there already.
    """
    whole = _possible(document, items, with_these)
    if whole is not None:
        return whole, ()
    return _not_as_a_whole(document, items, with_these, scenario)


def _not_as_a_whole(
    document: Document,
    items: Sequence[Item],
    with_these: Callable[[Document, Sequence[Item]], Document],
    scenario: Scenario | None,
) -> tuple[Scenario, tuple[Item, ...]]:
    """The same of items that cannot be had together: by halves, since most often one is to blame.

    With all of the first half there the second cannot be had as a whole, which need not be tried.
    """
    if len(items) < 2:
        return scenario or unwritten_scenario(document), tuple(items)
    half = len(items) // 2
    scenario, in_vain = _as_many_as_can_be(document, items[:half], with_these, scenario)
    others_of = _as_many_as_can_be if in_vain else _not_as_a_whole
    scenario, others = others_of(scenario.document, items[half:], with_these, scenario)
    return scenario, (*in_vain, *others)


def _possible(
    document: Document,
    items: Sequence[Item],
    with_these: Callable[[Document, Sequence[Item]], Document],
) -> Scenario | None:
    """The scenario with these items, if there can be such a one."""
    try:
        return unwritten_scenario(with_these(document, items))
    except NO_SCENARIO:
        return None


def _calm_ms(scenario: Scenario, dice: Dice, length: float) -> float:
    """When faults end and nothing new is begun: after about as many jobs as are drawn."""
    jobs = length * dice.whole("jobs", FEWEST_JOBS, MOST_JOBS)
    waits_ms = scenario.store.list.mean_ms()
    planned = sum(
        group.count * group.jobs(scenario.duration, waits_ms) for group in scenario.writers.values()
    )
    return _whole_seconds(scenario.duration * min(jobs / max(planned, 1e-9), LONGEST))


def _in_two_phases(scenario: Scenario, calm_ms: float, without: frozenset[str]) -> Document:
    """Jobs until it is calm, and the scenario's own faults but those of some kinds."""
    document = scenario.document
    first = min(scenario.writers, key=lambda name: scenario.writers[name].starts)
    writers = {
        name: in_rounds(
            {**group, "stops": show_duration(_stops_ms(scenario, name, calm_ms))},
            scenario.duration,
            calm_ms,
        )
        for name, group in document["writers"].items()
        if name == first or scenario.writers[name].starts < calm_ms
    }
    return {
        **with_writers(document, writers),
        "faults": list(_own_faults(scenario, FAULTS_END * calm_ms, without)),
        "duration": show_duration(calm_ms + QUIET_MS),
    }


def _own_faults(scenario: Scenario, ends_ms: float, without: frozenset[str]) -> Iterator[Document]:
    """The scenario's own, but those of some kinds, until those end that are drawn."""
    for given, fault in zip(scenario.document.get("faults", ()), scenario.faults, strict=True):
        begins, ends = fault.between or (0.0, ends_ms)
        if begins < ends_ms and not without & set(fault.chosen_names()):
            span = [show_duration(begins), show_duration(min(ends, ends_ms))]
            yield {**fault_in_full(given), "between": span}


def _with_faults(
    document: Document, faults: Sequence[Document]
) -> tuple[Scenario, tuple[str, ...]]:
    """The scenario with all faults, or with those that can be, and the names of the others."""

    def besides(before: Document, some: Sequence[Document]) -> Document:
        return {**before, "faults": [*before["faults"], *some]}

    scenario, in_vain = _as_many_as_can_be(document, faults, besides)
    return scenario, tuple(f"the fault {next(iter(fault))}" for fault in in_vain)


def _stops_ms(scenario: Scenario, name: str, calm_ms: float) -> float:
    """When a group begins nothing new; one that starts later than calm has as long of its own.

    Who stops before the scenario's end does so before that of a longer variation, in proportion.
    """
    group = scenario.writers[name]
    longer = max(1.0, calm_ms / scenario.duration)
    stops_ms = calm_ms if group.stops is None else min(group.stops * longer, calm_ms)
    return _whole_seconds(stops_ms if stops_ms > group.starts else group.starts + calm_ms)


def _whole_seconds(span_ms: float) -> float:
    """At least so long, and written in full."""
    return math.ceil(span_ms / 1000) * 1000.0
