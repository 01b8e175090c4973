"""`whitecap.explain`: why two statements conflict on a table, and what would avoid it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from msgspec import Struct

from whitecap.arguments.kinds import of_its_kinds
from whitecap.engine.dialects import (
    DEFAULT_DIALECT,
    DIALECTS,
    Dialect,
    dialect_named,
    unknown_dialect,
)
from whitecap.engine.errors import InvalidInput, Problem, gathered, noted
from whitecap.engine.races.explain.checks import check_texts, require_readable
from whitecap.engine.races.explain.conflicts import Conflict
from whitecap.engine.races.explain.damage import RowDamage
from whitecap.engine.races.explain.document import answer, explanation_document
from whitecap.engine.races.explain.explanation import Explanation, explained, tables_for
from whitecap.engine.races.explain.orders import Order, Refusal
from whitecap.engine.races.explain.real_tables import RealTables
from whitecap.engine.races.explain.suggestions import Suggestion
from whitecap.engine.sql.parsing.unknown_columns import Schemas
from whitecap.engine.storage.disk.machine import wall_clock_ms
from whitecap.sim.bundled import read_named
from whitecap.sim.rehearsal.small_table import ReadCase, SmallCase, case_in, text_of

TableLike = str | Path | Mapping[str, Any]
"""The path of a table's YAML or of a real Delta table, YAML text, or its content."""


class Explained(Struct, frozen=True):
    """An explanation that shows itself in notebooks; `as_dict` has everything."""

    explanation: Explanation
    """All that was found, as the engine says it; the properties here are parts of it."""

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
    def damage(self) -> tuple[RowDamage, ...]:
        """Orders that abort nobody and leave rows that are doubled or come back."""
        return self.explanation.damage

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
        return explanation_document(self.explanation)

    def _repr_html_(self) -> str:
        from whitecap.reports.pages.explanation_page import explanation_part

        return explanation_part(self.as_dict())

    def __str__(self) -> str:
        return self.answer

    def __repr__(self) -> str:
        return self.answer


@of_its_kinds
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
    explanation = asked(table, a, b, dialect=dialect, settings=settings, others=others)
    return Explained(explanation())


def asked(
    table: TableLike,
    a: str | None,
    b: str | None,
    *,
    dialect: str | None,
    settings: Mapping[str, str] | None,
    others: Mapping[str, str | Path] | None,
) -> Callable[[], Explanation]:
    """What `explain` is asked, as something to be called once all of it is known to be right.

    Raises `InvalidInput` with every problem that can be told before.
    """
    if isinstance(table, str | Path) and (directory := _directory(table)) is not None:
        beside = {name: Path(path) for name, path in (others or {}).items()}
        return _asked_of_real(directory, beside, dialect, settings or {}, (a, b))
    with gathered() as problems:
        if others:
            problems.append(Problem("others", "a table in YAML names its own `other_tables`"))
        chosen = _dialect_or_nearest(dialect, problems)
        if (a, b) != (None, None):  # looked at though there may be no table
            with noted(problems):
                require_readable(_both(a, b, ()))
        read = read_case(table)
        problems += read.problems
        small = _with_settings(read.part(), settings or {})
        both = _statements_for(read, a, b)
        rules = chosen or _dialect_or_nearest(small.dialect, []) or DEFAULT_DIALECT.name
        with noted(problems):
            case = small.case(both, rules, wall_clock_ms())
            if not read.problems:
                world = tables_for(case)
        if problems:
            with noted(problems):
                _check_texts(small, both, read.schemas(), dialect_named(rules))
    return partial(explained, case, world)


def _statements_for(read: ReadCase, a: str | None, b: str | None) -> tuple[str, str]:
    """Those that are given, or stand in the file; told once if they are wrong there."""
    if "statements" in read.broken and a is None and b is None:
        raise InvalidInput(read.problems)
    return _both(a, b, read.part().statements)


def _check_texts(
    small: SmallCase, both: tuple[str, str], schemas: Schemas, dialect: Dialect
) -> None:
    """Raises `InvalidInput` with what is wrong with statements beside a table that is wrong too."""
    refused = {problem.place for problem in dialect.settings_problems(small.settings)}
    sound = {k: v for k, v in small.settings.items() if f"settings.{k}" not in refused}
    if schemas:
        settings = dialect.adjusted(dialect.settings_of(sound))
        check_texts(small.name, both, schemas, settings)
    else:
        require_readable(both)


def _dialect_or_nearest(name: str | None, problems: list[Problem]) -> str | None:
    """The dialect; of a misspelt name, which is noted, the nearest, to look at other things by."""
    if name is None or name in DIALECTS:
        return name
    with noted(problems):
        dialect_named(name)
    return unknown_dialect(name)[1]


def _with_settings(small: SmallCase, settings: Mapping[str, str]) -> SmallCase:
    return small.model_copy(update={"settings": {**small.settings, **settings}})


def _asked_of_real(
    directory: Path,
    beside: Mapping[str, Path],
    name: str | None,
    settings: Mapping[str, str],
    statements: tuple[str | None, str | None],
) -> Callable[[], Explanation]:
    with gathered() as problems:
        dialect = dialect_named(_dialect_or_nearest(name, problems) or DEFAULT_DIALECT.name)
        checked = dialect.settings_of({})
        with noted(problems):
            checked = dialect.checked_settings(settings)
        real = RealTables(directory, beside, dialect, checked, wall_clock_ms())
        with noted(problems):
            real.require_tables()
        both = _both(*statements, ())
        if problems:  # else they are told when they are explained
            real.require_statements(both)
    return partial(real.explained, both)


def read_case(table: TableLike) -> ReadCase:
    """A table that is not a directory, as far as it is sound. Raises `InvalidInput` for no YAML."""
    match table:
        case Mapping():
            return case_in(text_of(table))
        case str() if "\n" in table:
            return case_in(text_of(table))
        case _:
            return case_in(read_named(Path(str(table)), tables=True))


def _directory(table: str | Path) -> Path | None:
    if isinstance(table, str) and "\n" in table:
        return None
    path = Path(table)
    return path if path.is_dir() else None


def _both(a: str | None, b: str | None, named: list[str] | tuple[str, ...]) -> tuple[str, str]:
    """The two statements, given or named in the file."""
    if a is None and b is None and named:
        return named[0], named[1]
    if a is None or b is None:
        raise InvalidInput([Problem("statements", "two are needed, A and B")])
    return a, b
