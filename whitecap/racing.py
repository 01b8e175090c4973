"""Commands raced pair by pair, on each table of a family in a process of its own."""

from __future__ import annotations

import gc
from collections.abc import Iterable
from functools import partial

from msgspec import Struct

from whitecap.engine.dialects import Dialect, dialect_named
from whitecap.engine.errors import InvalidInput, Problem
from whitecap.engine.races.matrix.catalogue import Command, commands_named, commands_of
from whitecap.engine.races.matrix.choice import Choice, variants
from whitecap.engine.races.matrix.family import Variant
from whitecap.engine.races.matrix.matrix import Matrix, matrix_of
from whitecap.engine.races.matrix.observing import (
    Observed,
    Pair,
    observe,
    ordered_pairs_of,
    pairs_of,
)
from whitecap.engine.settings import Settings
from whitecap.sim.machine.processes import Processes, at_a_time
from whitecap.terminal.progress import tracked


class Racing(Struct, frozen=True):
    """Who races: the dialect that is looked at, and that of the winners if it is another; a `pair`
    of commands, or all that both have. All by their names, which other processes can be sent."""

    dialect: str
    against: str | None = None
    pair: tuple[str, str] | None = None

    def dialects(self) -> tuple[Dialect, Dialect | None]:
        """The two."""
        against = None if self.against is None else dialect_named(self.against)
        return dialect_named(self.dialect), against

    def commands(self) -> list[Command]:
        """The commands, in the order of the catalogue."""
        dialect, against = self.dialects()
        if self.pair is not None:
            return commands_named(self.pair, dialect)
        theirs = commands_of(against or dialect)
        return [command for command in commands_of(dialect) if command in theirs]

    def pairs(self) -> Iterable[Pair]:
        """Each two commands that meet, in both orders where two dialects run them."""
        commands = self.commands()
        if self.against is not None:
            return ordered_pairs_of(commands)
        return pairs_of(commands) if self.pair is None else [(commands[0], commands[-1])]

    def tables(self, choice: Choice) -> list[Variant]:
        """The tables of a choice. Raises `InvalidInput`: none of them can be written by all."""
        dialect, against = self.dialects()
        writable = variants(against, choice) if against else ()
        tables = [
            table
            for table in variants(dialect, choice)
            if against is None or table.rows_reconciled or table in writable
        ]
        if not tables:
            raise InvalidInput([Problem("tables", "none of this kind can be written by all")])
        return tables


def raced(racing: Racing, choice: Choice) -> Matrix:
    """Race on all tables of a choice; says on stderr how far it is.

    A single pair is raced sooner than processes start. Raises `InvalidInput`.
    """
    tables = racing.tables(choice)
    observe_on = partial(_observed, racing)
    if racing.pair is not None:
        observed = list(map(observe_on, tables))
    else:
        with Processes(at_a_time(), _collect_less) as processes:
            each = processes.map(observe_on, tables)
            observed = list(tracked(each, len(tables), "racing on tables"))
    dialect, against = racing.dialects()
    return matrix_of(dialect, choice, racing.commands(), tables, observed, against)


def _collect_less() -> None:
    """Look for garbage less often than Python does: a table leaves some 15,000 objects of it."""
    gc.set_threshold(1_000_000, 10, 10)


def _observed(racing: Racing, table: Variant) -> Observed:
    dialect, against = racing.dialects()
    return observe(table, dialect, racing.pairs(), Settings(), against=against)
