"""`whitecap.explain`: why two statements conflict on a table, and what would avoid it."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.dialects import Dialect, dialect_named
from engine.errors import EngineError, InvalidInput, Problem, UnsupportedFeature
from engine.explain.case import Case, described, ends_alike, play, rebuilt, snapshot_of
from engine.explain.checks import target_of
from engine.explain.conflicts import Conflict
from engine.explain.explanation import Explanation
from engine.explain.explanation import explain as explained
from engine.explain.orders import Order, Refusal
from engine.explain.plain import answer, plain
from engine.explain.suggestions import Suggestion
from engine.interleaving.world import World
from engine.log.clustering import clustering_columns
from engine.log.commit_file import LOG_DIRECTORY
from engine.settings import Settings
from engine.storage.directory import DirectoryStore
from sim.small_table import SmallCase, load_small_case, small_case_of

DEFAULT_DIALECT = "delta-oss-4.4"

TableLike = str | Path | Mapping[str, Any]
"""The path of a table's YAML or of a real Delta table, YAML text, or its content."""


@dataclass(frozen=True, slots=True)
class Explained:
    """An explanation that shows itself in notebooks; `as_dict` has everything."""

    explanation: Explanation

    @property
    def answer(self) -> str:
        """The answer in a sentence or two."""
        return answer(self.explanation)

    @property
    def can_conflict(self) -> bool:
        """Whether any order of the two ends in a conflict."""
        return self.explanation.can_conflict

    @property
    def orders(self) -> tuple[Order, ...]:
        """Every order of snapshots and commits."""
        return self.explanation.orders

    @property
    def conflicts(self) -> tuple[Conflict, ...]:
        """Each way in which one is aborted."""
        return self.explanation.conflicts

    @property
    def refusals(self) -> tuple[Refusal, ...]:
        """What Delta refuses for other reasons than a conflict."""
        return self.explanation.refusals

    @property
    def suggestions(self) -> tuple[Suggestion, ...]:
        """What avoids the conflicts, each checked by running it."""
        return self.explanation.suggestions

    def as_dict(self) -> dict[str, Any]:
        """The whole explanation as plain values."""
        return plain(self.explanation)

    def _repr_html_(self) -> str:
        from reports.explanation_page import explanation_part

        return explanation_part(self.as_dict())

    def __str__(self) -> str:
        return self.answer


def explain(
    table: TableLike,
    a: str | None = None,
    b: str | None = None,
    *,
    dialect: str | None = None,
    settings: Mapping[str, str] | None = None,
    others: Mapping[str, str | Path] | None = None,
) -> Explained:
    """Race statements `a` and `b` in every order on a table, and explain what happens.

    `table` is a YAML file (or its text or content), or the directory of a Delta table, which is
    only read. A YAML file may name the statements itself. `settings` are those of the session, by
    Spark's keys; `others` the directories of tables that the statements read beside a real one, by
    name. Raises `InvalidInput` with every problem.
    """
    if isinstance(table, str | Path) and (directory := _directory(table)) is not None:
        real = _RealTables(directory, {name: Path(path) for name, path in (others or {}).items()})
        return Explained(real.explained(_both(a, b, ()), dialect, settings or {}))
    if others:
        raise InvalidInput([Problem("others", "a table in YAML names its own `other_tables`")])
    small = small_case(table)
    if settings:
        small = small.model_copy(update={"settings": {**small.settings, **settings}})
    return Explained(explained(small.case(_both(a, b, small.statements), dialect)))


def small_case(table: TableLike) -> SmallCase:
    """A table that is not a directory. Raises `InvalidInput`."""
    match table:
        case Mapping():
            return small_case_of(table)
        case str() if "\n" in table:
            return small_case_of(table)
        case _:
            return load_small_case(Path(str(table)))


def _directory(table: str | Path) -> Path | None:
    if isinstance(table, str) and "\n" in table:
        return None
    path = Path(table)
    return _checked(path) if path.is_dir() else None


def _checked(path: Path) -> Path:
    """The directory of a Delta table. Raises `InvalidInput` for any other."""
    if not (path / LOG_DIRECTORY).is_dir():
        text = f"is no Delta table: it has no {LOG_DIRECTORY}"
        raise InvalidInput([Problem(str(path), text)])
    return path


def _both(a: str | None, b: str | None, named: list[str] | tuple[str, ...]) -> tuple[str, str]:
    """The two statements, given or named in the file."""
    if a is None and b is None and named:
        return named[0], named[1]
    if a is None or b is None:
        raise InvalidInput([Problem("statements", "two are needed, A and B")])
    return a, b


@dataclass(frozen=True, slots=True)
class _RealTables:
    """A table on disk, and those that are read beside it by name."""

    target: Path
    others: Mapping[str, Path]

    def explained(
        self, statements: tuple[str, str], dialect: str | None, conf: Mapping[str, str]
    ) -> Explanation:
        """Race on branches of the tables; changes are tried on copies of their rows in memory."""
        chosen = dialect_named(dialect or DEFAULT_DIALECT)
        name = target_of(statements)
        try:
            settings = chosen.settings_of(conf)
        except UnsupportedFeature as error:
            raise InvalidInput([Problem("settings", str(error))]) from error
        world = self._world(name, chosen, settings)
        columns = clustering_columns(snapshot_of(world, name))
        described_only = {name: described(world, name)}
        case = Case(described_only, name, statements, chosen, settings, columns, world)
        copy, why_not = _copied(case, world)
        untried = "" if copy is not None else f"Other layouts were not tried: {why_not}."
        return explained(copy or case, world, untried)

    def _world(self, name: str, dialect: Dialect, settings: Settings) -> World:
        paths = {name: self.target.resolve()}
        paths |= {other: _checked(path).resolve() for other, path in self.others.items()}
        above = Path(os.path.commonpath(paths.values()))
        roots = {each: _root(path.relative_to(above)) for each, path in paths.items()}
        return World(DirectoryStore(above), roots, dialect, settings)


def _copied(case: Case, world: World) -> tuple[Case | None, str]:
    """The case on copies of the tables' rows; `None` and why, if that is not the same."""
    try:
        tables = {name: rebuilt(world, name) for name in world.roots}
        copy = dataclasses.replace(case, tables=tables, base=None)
        alike = ends_alike(copy.played(), play(world, case.statements))
    except EngineError as error:
        return None, str(error)
    return (copy, "") if alike else (None, "a copy of its rows behaves otherwise")


def _root(path: Path) -> str:
    """A table's root in the store: nothing where the store is the table's own directory."""
    return "" if path == Path() else f"{path.as_posix()}/"
