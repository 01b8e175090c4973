"""Tables on disk: races run on branches of them, changes of layout are tried on copies of rows."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from msgspec import Struct

from whitecap.engine.dialects import Dialect
from whitecap.engine.errors import (
    DeltaError,
    EngineError,
    InvalidInput,
    Problem,
    each_read,
    gathered,
)
from whitecap.engine.log.clustering import clustering_columns
from whitecap.engine.log.commit_file import LOG_DIRECTORY
from whitecap.engine.races.explain.case import RaceCase, ends_alike, play
from whitecap.engine.races.explain.checks import check_statements, require_readable, target_of
from whitecap.engine.races.explain.explanation import Explanation, explain
from whitecap.engine.races.explain.tables import described, rebuilt, snapshot_of
from whitecap.engine.races.interleaving.world import World
from whitecap.engine.refusals.table_errors import FILE_IS_GONE
from whitecap.engine.settings import Settings
from whitecap.engine.storage.disk.directory import DirectoryStore


class RealTables(Struct, frozen=True):
    """The directory of a table, and of those that are read beside it by name.

    `now_ms` is what statements take for the time, in epoch milliseconds.
    """

    target: Path
    others: Mapping[str, Path]
    dialect: Dialect
    settings: Settings
    now_ms: int

    def explained(self, statements: tuple[str, str]) -> Explanation:
        """Explain two statements. Raises `InvalidInput` with every problem."""
        try:
            return self._explained(statements)
        except DeltaError as error:
            if error.error_class != FILE_IS_GONE:
                raise
            text = f"{error} Statements are run on its rows, and perhaps the log alone was copied"
            raise InvalidInput([Problem(str(self.target), text)]) from None

    def require_tables(self) -> None:
        """Raises `InvalidInput` for every directory that holds no table."""
        with gathered() as problems:
            each_read((self.target, *self.others.values()), _checked, problems)

    def require_statements(self, statements: tuple[str, str]) -> None:
        """Raises `InvalidInput` with what is wrong with two statements; of their texts alone where
        a table is not there."""
        require_readable(statements)
        if all(map(_is_table, (self.target, *self.others.values()))):
            name = target_of(statements)
            check_statements(self._world(name), name, statements)

    def _explained(self, statements: tuple[str, str]) -> Explanation:
        world = self._world(target_of(statements))
        case = self._case(world, statements)
        copy, why_not = _copied(case, world)
        untried = "" if copy is not None else f"Other layouts were not tried: {why_not}."
        return explain(copy or case, world, untried)

    def _world(self, name: str) -> World:
        directories = {name: self.target, **self.others}
        paths = {each: _checked(path).resolve() for each, path in directories.items()}
        above = Path(os.path.commonpath(paths.values()))
        roots = {each: _root(path.relative_to(above)) for each, path in paths.items()}
        return World(
            DirectoryStore(above), roots, self.dialect, self.settings, begins_ms=self.now_ms
        )

    def _case(self, world: World, statements: tuple[str, str]) -> RaceCase:
        """The case on the tables as they are."""
        name = target_of(statements)
        columns = clustering_columns(snapshot_of(world, name))
        tables = {name: described(world, name)}
        return RaceCase(
            tables, name, statements, self.dialect, self.settings, columns, world, self.now_ms
        )


def _checked(path: Path) -> Path:
    """The directory of a Delta table. Raises `InvalidInput` for any other."""
    if not _is_table(path):
        text = f"is no Delta table: it has no {LOG_DIRECTORY}"
        raise InvalidInput([Problem(str(path), text)])
    return path


def _is_table(path: Path) -> bool:
    return (path / LOG_DIRECTORY).is_dir()


def _copied(case: RaceCase, world: World) -> tuple[RaceCase | None, str]:
    """The case on copies of the tables' rows; `None` and why, if that is not the same."""
    try:
        tables = {name: rebuilt(world, name) for name in world.roots}
        copy = replace(case, tables=tables, base=None)
        alike = ends_alike(copy.played(), play(world, case.statements))
    except EngineError as error:
        return None, str(error)
    return (copy, "") if alike else (None, "a copy of its rows behaves otherwise")


def _root(path: Path) -> str:
    """A table's root in the store: nothing where the store is the table's own directory."""
    return "" if path == Path() else f"{path.as_posix()}/"
