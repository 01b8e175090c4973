"""The matrix of a dialect: all ordered pairs of commands, and the published tables derived anew."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from whitecap.engine.dialects import ROW_LEVEL_SWITCH, Dialect
from whitecap.engine.errors import InvalidInput, Problem, UnsupportedFeature, nearest
from whitecap.engine.isolation import TABLE_LEVELS, IsolationLevel, level_called
from whitecap.engine.races.matrix.catalogue import Command
from whitecap.engine.races.matrix.cells import Cell
from whitecap.engine.races.matrix.family import (
    Choice,
    Layout,
    Variant,
    levels_of,
    reconciles_rows,
    variants,
)
from whitecap.engine.races.matrix.observing import Observation, Observed
from whitecap.engine.races.matrix.published import Group, PublishedCell, PublishedTable, tables_of


@dataclass(frozen=True, slots=True)
class DerivedCell:
    """A cell of a published table: what the vendor says and what the races show."""

    published: PublishedCell
    cell: Cell

    @property
    def agrees(self) -> bool:
        """Whether the races give the vendor's very words, as far as they apply to the dialect."""
        return self.published.expected == self.cell.sentence


@dataclass(frozen=True, slots=True)
class DerivedTable:
    """A published table with every cell derived."""

    published: PublishedTable
    cells: tuple[DerivedCell, ...]

    @property
    def agrees(self) -> bool:
        return all(cell.agrees for cell in self.cells)


@dataclass(frozen=True, slots=True)
class Grid:
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


def choice_of(
    dialect: Dialect,
    isolation: IsolationLevel | None = None,
    rows_reconciled: bool | None = None,
    deletion_vectors: bool | None = None,
    partitioned: bool | None = None,
    clustered: bool | None = None,
) -> Choice:
    """The tables that the user asks for, `None` standing for every value.

    Raises `UnsupportedFeature` for what the dialect lacks, `InvalidInput` if no table is left.
    """
    levels = levels_of(dialect)
    if isolation is not None and isolation not in levels:
        raise UnsupportedFeature(
            f"{dialect.name} lets nobody set {isolation.value}: {_names(levels)} only"
        )
    choice = Choice(
        levels if isolation is None else (isolation,),
        _layouts(partitioned, clustered),
        (False, True) if deletion_vectors is None else (deletion_vectors,),
        (True, False) if rows_reconciled is None else (rows_reconciled,),
    )
    if rows_reconciled:
        _check_rows(dialect, choice)
    return choice


def _layouts(partitioned: bool | None, clustered: bool | None) -> tuple[Layout, ...]:
    if partitioned and clustered:
        raise InvalidInput([Problem("clustered", "a partitioned table cannot be clustered")])
    wanted = {Layout.PARTITIONED: partitioned, Layout.CLUSTERED: clustered}
    only = tuple(layout for layout, is_wanted in wanted.items() if is_wanted)
    return only or tuple(layout for layout in Layout if wanted.get(layout) is not False)


def _check_rows(dialect: Dialect, choice: Choice) -> None:
    """Raises if no table of a choice has row-level concurrency."""
    if dialect.row_level is None:
        reason = dialect.lacks[ROW_LEVEL_SWITCH]
        raise UnsupportedFeature(f"row-level concurrency is not part of {dialect.name}: {reason}")
    if variants(dialect, choice):
        return
    able = [layout for layout in Layout if reconciles_rows(dialect, layout)]
    tables = " or ".join(layout.adjective for layout in able)
    text = f"{dialect.name} has it on {tables} tables with deletion vectors only"
    raise InvalidInput([Problem("row-level concurrency", text)])


def is_whole(dialect: Dialect, choice: Choice) -> bool:
    """Whether nothing is left out that the published tables speak of."""
    whole = choice_of(dialect)
    return {*variants(dialect, choice)} >= {
        variant
        for variant in variants(dialect, whole)
        if variant.rows_reconciled in choice.rows_reconciled
    }


def _names(levels: Sequence[IsolationLevel]) -> str:
    return " or ".join(level.value for level in levels)


def table_level_named(name: str | None) -> IsolationLevel | None:
    """A level that a table can have. Raises `InvalidInput` with the nearest one."""
    if name is None:
        return None
    level = level_called(name)
    if level not in TABLE_LEVELS:
        text = f"a table's level is {_names(TABLE_LEVELS)}, not {name!r}"
        raise InvalidInput([Problem("isolation", text, nearest(name, map(str, TABLE_LEVELS)))])
    return level


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
