"""The writers of a scenario, and its tables: does each write one that is there, and all of them?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from whitecap.sim.loading.checks.checkpoints import checkpoint_problems
from whitecap.sim.loading.checks.platform import GivenPlatform
from whitecap.sim.loading.checks.statements import statement_problems, target_of
from whitecap.sim.loading.checks.streams import function_problems, streaming_problems
from whitecap.sim.loading.checks.tables import GivenTable
from whitecap.sim.loading.checks.well_formed import well_formed
from whitecap.sim.rehearsal.platform import Platform
from whitecap.sim.scenario.writers import WriterGroup
from whitecap.sim.scenario.yaml_text import PlacedProblem, within


@dataclass(frozen=True)
class GivenWriters:
    """The names of all writer groups of a document, and those groups that are well formed."""

    names: Sequence[str]
    groups: Mapping[str, WriterGroup]

    @classmethod
    def of(cls, given: Any) -> Self:
        """What a document says of them."""
        named = given if isinstance(given, dict) else {}
        groups = {str(name): well_formed(WriterGroup, group) for name, group in named.items()}
        return cls(
            [str(name) for name in named],
            {name: group for name, group in groups.items() if group is not None},
        )

    @property
    def are_well_formed(self) -> bool:
        """Whether all are: only then is something done by nobody that none of `groups` does."""
        return self.groups.keys() == set(self.names)


def writer_problems(
    writers: GivenWriters, tables: Sequence[GivenTable], platform: GivenPlatform
) -> Iterator[PlacedProblem]:
    """What is wrong with the writers of these tables, and with tables that none of them writes."""
    if not tables:
        return
    for name, group in writers.groups.items():
        problems = _of_group(group, tables, platform.of_group(group))
        yield from within(("writers", name), problems)
    yield from checkpoint_problems(writers.groups)
    if len(tables) > 1 and writers.are_well_formed:
        yield from _written_by_nobody(tables, list(writers.groups.values()))


def _of_group(
    group: WriterGroup, tables: Sequence[GivenTable], platform: Platform
) -> Iterator[PlacedProblem]:
    if group.streaming is not None:
        yield from streaming_problems(group, group.streaming, tables, platform)
        return
    yield from statement_problems(group, tables, platform)
    if group.foreach_batch is not None:
        yield from function_problems(group, platform)


def _written_by_nobody(
    tables: Sequence[GivenTable], groups: Sequence[WriterGroup]
) -> Iterator[PlacedProblem]:
    """Tables that no writer names, where it can be told of all writers what they name."""
    named = [target_of(part) for group in groups for part in group.parts]
    named += [group.streaming.table for group in groups if group.streaming]
    if None in named:
        return
    targets = {name.lower() for name in named if name}
    for each in tables:
        if each.table.name.lower() not in targets:
            yield each.place, "no writer writes it", None
