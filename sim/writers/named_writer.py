"""A writer of a scenario before it has anything to do: its name, and whose member it is."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

from msgspec import Struct

from whitecap.sim.scenario.model import Scenario
from whitecap.sim.scenario.writers import WriterGroup
from whitecap.sim.writers.choices import Member


class NamedWriter(Struct, frozen=True):
    """The `number`-th writer of a run, and which one of its group it is."""

    name: str
    number: int
    group_name: str
    group: WriterGroup
    member: Member


def writers_of(scenario: Scenario) -> Iterator[NamedWriter]:
    """All writers of a scenario, in its order."""
    numbers = count()
    for group_name, group in scenario.writers.items():
        for instance, name in enumerate(group.members(group_name), start=1):
            member = Member(instance, group.count)
            yield NamedWriter(name, next(numbers), group_name, group, member)
