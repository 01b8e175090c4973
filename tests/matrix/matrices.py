"""Matrices of the published commands, made once for all tests of this folder."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from whitecap.engine.dialects import dialect_named
from whitecap.engine.isolation import IsolationLevel
from whitecap.engine.races.matrix.catalogue import PUBLISHED, Command, commands_named
from whitecap.engine.races.matrix.cells import Cell
from whitecap.engine.races.matrix.choice import choice_of, variants
from whitecap.engine.races.matrix.matrix import DerivedCell, Matrix, matrix_of
from whitecap.engine.races.matrix.observing import observe, pairs_of
from whitecap.engine.settings import Settings

CHANGES = "UPDATE, DELETE, MERGE INTO"


@cache
def published_matrix(dialect: str) -> Matrix:
    """All tables of a dialect, the commands that the vendors' tables speak of."""
    return matrix(dialect, tuple(command.name for command in PUBLISHED))


@cache
def matrix(
    dialect: str,
    names: tuple[str, ...],
    isolation: IsolationLevel | None = None,
    rows_reconciled: bool | None = None,
    deletion_vectors: bool | None = None,
    partitioned: bool | None = None,
    clustered: bool | None = None,
) -> Matrix:
    """The matrix of some commands over a part of the family."""
    resolved = dialect_named(dialect)
    commands: list[Command] = commands_named(names, resolved)
    choice = choice_of(
        resolved, isolation, rows_reconciled, deletion_vectors, partitioned, clustered
    )
    tables = variants(resolved, choice)
    observed = [observe(variant, resolved, pairs_of(commands), Settings()) for variant in tables]
    return matrix_of(resolved, choice, commands, tables, observed)


def cell_of(dialect: str, table: str, row: str, column: str) -> DerivedCell:
    """One cell of a published table."""
    (derived,) = (each for each in published_matrix(dialect).tables if each.published.name == table)
    (cell,) = (c for c in derived.cells if (c.published.row, c.published.column) == (row, column))
    return cell


def cells_of(made: Matrix, rows_reconciled: bool = False) -> Mapping[tuple[str, str], Cell]:
    """The cells by (loser, winner), on tables with row-level concurrency or without."""
    (grid,) = (each for each in made.grids if each.rows_reconciled == rows_reconciled)
    return grid.cells
