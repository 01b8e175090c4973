"""What a description of writers brings about unseen: members in step, instants after the end."""

from __future__ import annotations

from collections.abc import Mapping

from whitecap.sim.quantities.units import show_duration
from whitecap.sim.scenario.model import Scenario
from whitecap.sim.scenario.writers import WriterGroup


def in_step(scenario: Scenario) -> Mapping[str, str]:
    """By writer group: why its members meet again and again, and what keeps them apart."""
    said = {name: _said(group) for name, group in scenario.writers.items() if group.count > 1}
    return {name: text for name, text in said.items() if text}


def _said(group: WriterGroup) -> str:
    if group.is_triggered:
        return (
            f"its {group.count} writers are runs of one query: separate queries need a checkpoint "
            "each"
        )
    if _is_in_step(group):
        return (
            f"its {group.count} writers fall due at the same instants: give `think` a "
            "distribution, or the schedule a `jitter`"
        )
    return ""


def _is_in_step(group: WriterGroup) -> bool:
    """Whether nothing but the store's answers sets its members apart.

    A closed loop goes by how long jobs take: waits before they are run again set them apart.
    """
    closed, schedule = group.arrival.closed, group.arrival.schedule
    if schedule is not None:
        return schedule.jitter is None
    is_closed = closed is not None and closed.think.constant is not None
    return is_closed and group.rerun.none is not None and group.computes_constantly


def after_the_end(scenario: Scenario) -> Mapping[str, str]:
    """By writer group: which of its listed instants are in vain, as the run has ended before."""
    said = {}
    for name, group in scenario.writers.items():
        listed = (group.arrival.schedule and group.arrival.schedule.at) or ()
        late = [show_duration(each) for each in listed if each >= scenario.duration]
        if late:
            lasts = show_duration(scenario.duration)
            said[name] = f"`at` {', '.join(late)} after `start` is not in the run of {lasts}"
    return said
