"""The writers of a scenario, and its tables: does each write one that is there, and all of them?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Self

from msgspec import Struct

from whitecap.sim.loading.checks.checkpoints import checkpoint_problems
from whitecap.sim.loading.checks.platform import GivenPlatform
from whitecap.sim.loading.checks.statements import statement_problems, target_of, text_problems
from whitecap.sim.loading.checks.streams import function_problems, streaming_problems
from whitecap.sim.loading.checks.tables import GivenTable
from whitecap.sim.loading.checks.well_formed import sound_part, well_formed
from whitecap.sim.rehearsal.platform import Platform
from whitecap.sim.scenario.writers import WriterGroup
from whitecap.sim.scenario.yaml.text import KeyPath, PlacedProblem, within


class BrokenGroup(Struct, frozen=True):
    """A group that is not well formed: without the wrong fields, if its jobs are known then.

    `texts` are its statements in SQL, by the places of the parts that they are of.
    """

    group: WriterGroup | None
    texts: Mapping[KeyPath, str]

    @classmethod
    def of(cls, given: Any) -> Self:
        """What is well formed of it."""
        group, wrong = sound_part(WriterGroup, given, {"arrival": SOME_ARRIVAL})
        are_jobs_known = not wrong & {"parameters", "statement", "statements"}
        return cls(group if are_jobs_known else None, dict(_texts(given)))


SOME_ARRIVAL = {"closed": {"think": 1.0}}
"""Stands in where it is not known when jobs arrive, which decides nothing that is checked."""


def _texts(group: Any) -> Iterator[tuple[KeyPath, str]]:
    several = group.get("statements") if isinstance(group, dict) else None
    parts: dict[KeyPath, Any] = {(): group}
    if isinstance(several, list):
        parts |= {("statements", number): part for number, part in enumerate(several)}
    for place, part in parts.items():
        sql = part.get("statement") if isinstance(part, dict) else None
        if isinstance(sql, str):
            yield place, sql


class GivenWriters(Struct, frozen=True):
    """The names of all writer groups of a document, and those groups that are well formed.

    Of the others, `broken`, there is what is well formed of each.
    """

    names: Sequence[str]
    groups: Mapping[str, WriterGroup]
    broken: Mapping[str, BrokenGroup]

    @classmethod
    def of(cls, given: Any) -> Self:
        """What a document says of them."""
        named = given if isinstance(given, dict) else {}
        groups = {str(name): well_formed(WriterGroup, group) for name, group in named.items()}
        broken = {
            str(name): BrokenGroup.of(group)
            for name, group in named.items()
            if groups[str(name)] is None
        }
        return cls(
            [str(name) for name in named],
            {name: group for name, group in groups.items() if group is not None},
            broken,
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
    for name, broken in writers.broken.items():
        yield from within(("writers", name), _of_broken(broken, tables, platform))
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


def _of_broken(
    broken: BrokenGroup, tables: Sequence[GivenTable], platform: GivenPlatform
) -> Iterator[PlacedProblem]:
    """What else is wrong with a group that is not well formed."""
    if broken.group is not None:
        yield from _of_group(broken.group, tables, platform.of_group(broken.group))
        return
    for place, sql in broken.texts.items():
        yield from within(place, text_problems(sql, tables, platform.of_scenario()))


def _written_by_nobody(
    tables: Sequence[GivenTable], groups: Sequence[WriterGroup]
) -> Iterator[PlacedProblem]:
    """Tables that no writer names, where it can be told of all writers what they name."""
    named = [target_of(part.statement) for group in groups for part in group.parts]
    named += [group.streaming.table for group in groups if group.streaming]
    if None in named:
        return
    targets = {name.lower() for name in named if name}
    for each in tables:
        if each.table.name.lower() not in targets:
            yield each.place, "no writer writes it", None
