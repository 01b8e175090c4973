"""Which tables of the family are wanted: what users ask for, and what a dialect can write."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

from msgspec import Struct

from whitecap.engine.dialects import ROW_LEVEL_SWITCH, Dialect
from whitecap.engine.errors import InvalidInput, Problem, UnsupportedFeature, nearest
from whitecap.engine.isolation import TABLE_LEVELS, IsolationLevel, level_called
from whitecap.engine.log.features import feature_keys
from whitecap.engine.races.matrix.family import Layout, Variant


class Choice(Struct, frozen=True):
    """Which tables of the family are wanted; every field lists the values to try."""

    isolation: tuple[IsolationLevel, ...]
    layouts: tuple[Layout, ...] = tuple(Layout)
    deletion_vectors: tuple[bool, ...] = (False, True)
    rows_reconciled: tuple[bool, ...] = (False, True)


def levels_of(dialect: Dialect) -> tuple[IsolationLevel, ...]:
    """The levels that users of a dialect can choose from, the dialect's default first."""
    others = sorted(dialect.settable_levels - {dialect.default_isolation})
    return (dialect.default_isolation, *others)


def variants(dialect: Dialect, choice: Choice) -> list[Variant]:
    """The tables of a choice that the dialect can write, simplest first."""
    combinations = product(
        choice.rows_reconciled, choice.layouts, choice.deletion_vectors, choice.isolation
    )
    return [
        Variant(layout, vectors, level, rows)
        for rows, layout, vectors, level in combinations
        if not rows or (vectors and reconciles_rows(dialect, layout))
        if layout is not Layout.CLUSTERED or not dialect.unwritable((feature_keys.CLUSTERING,))
    ]


def reconciles_rows(dialect: Dialect, layout: Layout) -> bool:
    """Whether a dialect has row-level concurrency on tables of a layout with deletion vectors."""
    rules = dialect.row_level
    if rules is None or layout is Layout.PARTITIONED:
        return False
    return layout is Layout.CLUSTERED or not rules.only_clustered_tables


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
