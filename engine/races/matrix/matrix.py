"""The matrix of a dialect: all ordered pairs of commands, and the published tables derived anew."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from msgspec import Struct

from whitecap.engine.dialects import Dialect
from whitecap.engine.races.matrix.catalogue import Command
from whitecap.engine.races.matrix.cells import Cell
from whitecap.engine.races.matrix.choice import (
    Choice,
    is_whole,
)
from whitecap.engine.races.matrix.family import Variant
from whitecap.engine.races.matrix.observing import Observation, Observed
from whitecap.engine.races.matrix.published import Group, PublishedCell, PublishedTable, tables_of


class DerivedCell(Struct, frozen=True):
    """A cell of a published table: what the vendor says and what the races show."""

    published: PublishedCell
    cell: Cell

    @property
    def agrees(self) -> bool:
        """Whether the races give the vendor's very words, as far as they apply to the dialect."""
        return self.published.expected == self.cell.sentence


class DerivedTable(Struct, frozen=True):
    """A published table with every cell derived."""

    published: PublishedTable
    cells: tuple[DerivedCell, ...]

    @property
    def agrees(self) -> bool:
        return all(cell.agrees for cell in self.cells)


class Grid(Struct, frozen=True):
    """Cells by (loser, winner): whether the loser can be aborted by the winner."""

    rows_reconciled: bool
    cells: Mapping[tuple[str, str], Cell]


# No slots: cells are kept once they are made.
@dataclass(frozen=True)
class Matrix:
    """All observations of one dialect; `commands` in order, `is_whole` if no table was left out.

    `schedules` is the number of schedules that were played for it. `against`: the dialect of all
    winners, where it is another.
    """

    dialect: Dialect
    commands: tuple[str, ...]
    variants: tuple[Variant, ...]
    observations: tuple[Observation, ...]
    schedules: int
    is_whole: bool
    against: Dialect | None = None

    @cached_property
    def grids(self) -> tuple[Grid, ...]:
        """All pairs, on tables with and on tables without row-level concurrency."""
        return tuple(
            Grid(rows, _by_pair(seen))
            for rows in (True, False)
            if (seen := [o for o in self.observations if o.variant.rows_reconciled == rows])
        )

    @cached_property
    def tables(self) -> tuple[DerivedTable, ...]:
        """The published tables of the dialect, as far as their tables were raced."""
        return tuple(
            table
            for published in tables_of(self.dialect)
            if self.against is None
            if (table := self._derived(published)) is not None
        )

    def _derived(self, published: PublishedTable) -> DerivedTable | None:
        wanted = {name for group in published.groups for name in group.commands}
        observations = [
            observation
            for observation in self.observations
            if observation.variant.rows_reconciled == published.rows_reconciled
            and (observation.situation.names_day or not published.needs_target_predicate)
        ]
        if not observations or not wanted <= set(self.commands):
            return None
        groups = {group.title: group for group in published.groups}
        return DerivedTable(
            published,
            tuple(
                DerivedCell(cell, _cell_of(observations, groups[cell.row], groups[cell.column]))
                for cell in published.cells
            ),
        )


def _by_pair(observations: Iterable[Observation]) -> dict[tuple[str, str], Cell]:
    sorted_out: dict[tuple[str, str], list[Observation]] = {}
    for observation in observations:
        sorted_out.setdefault((observation.loser, observation.winner), []).append(observation)
    return {pair: Cell(tuple(of_pair)) for pair, of_pair in sorted_out.items()}


def _cell_of(observations: Iterable[Observation], row: Group, column: Group) -> Cell:
    pairs = {(a, b) for a in row.commands for b in column.commands}
    pairs |= {(b, a) for a, b in pairs}
    return Cell(tuple(o for o in observations if (o.loser, o.winner) in pairs))


def matrix_of(
    dialect: Dialect,
    choice: Choice,
    commands: Sequence[Command],
    tables: Sequence[Variant],
    observed: Sequence[Observed],
    against: Dialect | None = None,
) -> Matrix:
    """The matrix of what was observed on each of the tables."""
    return Matrix(
        dialect,
        tuple(command.name for command in commands),
        tuple(tables),
        tuple(observation for table in observed for observation in table.observations),
        sum(table.schedules for table in observed),
        is_whole(dialect, choice),
        against,
    )
