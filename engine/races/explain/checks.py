"""What is wrong with two statements: everything that can be told before they race."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from sqlglot import exp

from whitecap.engine.errors import DeltaError, InvalidInput, Problem, UnsupportedFeature, nearest
from whitecap.engine.log.schema import Schema
from whitecap.engine.races.explain.case import NAMES, snapshot_of, start_of
from whitecap.engine.races.interleaving.world import World
from whitecap.engine.sql.expressions.columns import columns_outside_queries
from whitecap.engine.sql.parsing.parse import parse_statement
from whitecap.engine.sql.parsing.statements import (
    Delete,
    Insert,
    Merge,
    Optimize,
    Statement,
    TableName,
    Update,
)
from whitecap.engine.sql.predicates.predicate import Predicate
from whitecap.engine.storage.memory import run

_READING = ("SELECT", "WITH", "SHOW", "DESCRIBE", "ANALYZE")

Schemas = Mapping[str, Schema]
"""The columns of the tables by name, in lower case."""


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
    parsed = _parsed(sql)
    if not isinstance(parsed, Statement):
        yield from parsed
    elif parsed.table.name.lower() != target.lower():
        yield Problem("", f"writes {parsed.table.name}, not {target}")
    else:
        adds_columns = _may_add_columns(parsed, world)
        unknown = [] if adds_columns else list(_unknown_columns(parsed, schemas))
        yield from unknown or _refused_alone(world, sql)


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


def _may_add_columns(statement: Statement, world: World) -> bool:
    """Whether columns that the table does not have would be added to it."""
    match statement:
        case Merge(schema_evolution=True):
            return True
        case Insert() if statement.is_set("mergeSchema"):
            return True
    return world.settings.schema_auto_merge


def _unknown_columns(statement: Statement, schemas: Schemas) -> Iterator[Problem]:
    """Columns that no table has; those of subqueries are found when it is run."""
    schema = schemas.get(statement.table.name.lower())
    if schema is None:
        return
    match statement:
        case Merge():
            yield from _unknown_in_merge(statement, schema, schemas)
        case Update(assignments=assignments, condition=condition):
            for name, value in assignments:
                yield from _unknown([name], schema)
                yield from _unknown_in(value, statement.table, schema)
            yield from _unknown_in(condition, statement.table, schema)
        case Delete(condition=condition):
            yield from _unknown_in(condition, statement.table, schema)
        case Optimize(condition=condition, zorder_by=columns):
            yield from _unknown_in(condition, statement.table, schema)
            yield from _unknown(columns, schema)
        case Insert(columns=columns, replace_where=condition):
            yield from _unknown(columns, schema)
            yield from _unknown_in(condition, statement.table, schema)


def _unknown_in(
    part: exp.Expr | Predicate | None, table: TableName, schema: Schema
) -> Iterator[Problem]:
    """Columns of a condition or a value; what is qualified still is of no table, or a field."""
    if part is None:
        return
    columns = columns_outside_queries(part.node if isinstance(part, Predicate) else part)
    yield from _unknown([column.name for column in columns if not column.table], schema)
    for column in columns:
        if column.table and schema.get(column.table) is None:
            shown = f"{column.table}.{column.name}"
            yield Problem(shown, "no such table here", nearest(column.table, table.names))


def _unknown(names: Iterable[str], schema: Schema) -> Iterator[Problem]:
    for name in dict.fromkeys(names):
        if name and schema.get(name) is None:
            yield Problem(name, "no such column", nearest(name, schema.names))


def _unknown_in_merge(merge: Merge, target: Schema, schemas: Schemas) -> Iterator[Problem]:
    sides = {name.lower(): target for name in merge.table.names}
    source = merge.source
    if isinstance(source, TableName) and source.name.lower() in schemas:
        sides |= {name.lower(): schemas[source.name.lower()] for name in source.names}
    yield from _unknown_qualified(merge.on, sides)
    for clause in merge.clauses:
        if clause.condition is not None:
            yield from _unknown_qualified(clause.condition, sides)
        for name, value in clause.assignments or ():
            yield from _unknown([name], target)
            yield from _unknown_qualified(value, sides)


def _unknown_qualified(node: exp.Expr, sides: Schemas) -> Iterator[Problem]:
    """Those that are qualified by a table whose columns are known."""
    for column in columns_outside_queries(node):
        schema = sides.get(column.table.lower())
        if schema is not None and column.name and schema.get(column.name) is None:
            shown = f"{column.table}.{column.name}"
            yield Problem(shown, "no such column", nearest(column.name, schema.names))
