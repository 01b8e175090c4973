"""What is wrong with two statements: everything that can be told before they race."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from whitecap.engine.errors import DeltaError, InvalidInput, Problem, UnsupportedFeature
from whitecap.engine.races.explain.tables import snapshot_of
from whitecap.engine.races.interleaving.contender import start_of
from whitecap.engine.races.interleaving.story import NAMES
from whitecap.engine.races.interleaving.world import World
from whitecap.engine.settings import Settings
from whitecap.engine.sql.parsing.parse import parse_statement
from whitecap.engine.sql.parsing.statements import Statement
from whitecap.engine.sql.parsing.unknown_columns import Schemas, may_add_columns, unknown_columns
from whitecap.engine.storage.memory import run

_READING = ("SELECT", "WITH", "SHOW", "DESCRIBE", "ANALYZE")


def target_of(statements: tuple[str, str]) -> str:
    """The table that A writes; B, if A cannot be read. Raises `InvalidInput` if neither can."""
    for statement in map(_parsed, statements):
        if isinstance(statement, Statement):
            return statement.table.name
    require_readable(statements)
    raise AssertionError("two texts that cannot be read have problems")


def require_readable(statements: tuple[str, str]) -> None:
    """Raises `InvalidInput` with what is wrong with their texts, whatever tables there are."""
    parsed = {who: _parsed(sql) for who, sql in zip(NAMES, statements, strict=True)}
    _raise_all({who: own for who, own in parsed.items() if not isinstance(own, Statement)})


def check_texts(
    target: str, statements: tuple[str, str], schemas: Schemas, settings: Settings
) -> None:
    """Raises `InvalidInput` with what is wrong with their texts and the names in them.

    For tables that are not made, because something is wrong with them too.
    """
    each = zip(NAMES, statements, strict=True)
    _raise_all({who: _problems_of_text(target, sql, schemas, settings) for who, sql in each})


def check_statements(world: World, target: str, statements: tuple[str, str]) -> None:
    """Raises `InvalidInput` with all problems that the statements have on these tables."""
    schemas = {name.lower(): snapshot_of(world, name).schema for name in world.roots}
    problems = {
        who: list(_problems(world, target, sql, schemas))
        for who, sql in zip(NAMES, statements, strict=True)
    }
    _raise_all(problems)


def _problems(world: World, target: str, sql: str, schemas: Schemas) -> Iterator[Problem]:
    """Of the text, else of the names in it, else what running it alone finds."""
    told_by_text = _problems_of_text(target, sql, schemas, world.settings)
    yield from told_by_text or _refused_alone(world, sql)


def _problems_of_text(target: str, sql: str, schemas: Schemas, settings: Settings) -> list[Problem]:
    """Of the text, else of the names in it."""
    parsed = _parsed(sql)
    if not isinstance(parsed, Statement):
        return parsed
    if parsed.table.name.lower() != target.lower():
        return [Problem("", f"writes {parsed.table.name}, not {target}")]
    if may_add_columns(parsed, settings):
        return []
    return list(unknown_columns(parsed, schemas))


def _raise_all(by_statement: Mapping[str, list[Problem]]) -> None:
    problems = [_of_statement(who, problem) for who, own in by_statement.items() for problem in own]
    if problems:
        raise InvalidInput(problems)


def _of_statement(who: str, problem: Problem) -> Problem:
    place = f"statement {who}: {problem.place}" if problem.place else f"statement {who}"
    return Problem(place, problem.text, problem.nearest)


def _parsed(sql: str) -> Statement | list[Problem]:
    """The statement, or what is wrong with its text."""
    if not sql.strip():
        return [Problem("", "is empty")]
    try:
        return parse_statement(sql)
    except InvalidInput as error:
        return list(error.problems)
    except UnsupportedFeature as error:
        word = sql.split(None, 1)[0].upper()
        if word not in _READING:
            return [Problem("", f"is not modelled: {error}")]
        text = f"{word} writes nothing: whoever only reads sees one version and conflicts with"
        return [Problem("", f"{text} nobody")]


def _refused_alone(world: World, sql: str) -> Iterator[Problem]:
    """What running it alone finds; what Delta itself would refuse is part of the answer."""
    scene = world.branch()
    try:
        run(start_of(sql)(scene.client()), scene.store)
    except InvalidInput as error:
        yield from error.problems
    except UnsupportedFeature as error:
        yield Problem("", str(error))
    except DeltaError:
        return
