"""Do a writer's statements and their parameters fit their tables and each other?"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from whitecap.engine.errors import InvalidInput, UnsupportedFeature, nearest
from whitecap.engine.sql.parsing.parameter_places import places_of_one
from whitecap.engine.sql.parsing.parse import parse_statement
from whitecap.engine.sql.parsing.statements import Merge, Statement
from whitecap.engine.sql.parsing.unknown_columns import may_add_columns, unknown_columns
from whitecap.sim.loading.checks.parameters import lacks_values, parameter_problems
from whitecap.sim.loading.checks.tables import (
    TOO_DEEP,
    GivenTable,
    no_such_table,
    table_named,
)
from whitecap.sim.rehearsal.platform import Platform
from whitecap.sim.scenario.table import TableSection
from whitecap.sim.scenario.writers import JobPart, WriterGroup
from whitecap.sim.scenario.yaml.text import KeyPath, PlacedProblem, within


def statement_problems(
    group: WriterGroup, tables: Sequence[GivenTable], platform: Platform
) -> Iterator[PlacedProblem]:
    """Every problem of a group's statements and their parameters, at places within the group."""
    for number, part in enumerate(group.parts):
        place: KeyPath = () if group.statements is None else ("statements", number)
        yield from within(place, _of_part(part, tables, platform))


def text_problems(
    sql: str, tables: Sequence[GivenTable], platform: Platform
) -> Iterator[PlacedProblem]:
    """What is wrong with a statement whatever its parameters are, at a place within its part."""
    target = _target(sql, tables)
    if isinstance(target, GivenTable):
        yield from _untried(sql, target, platform)
    else:
        yield ("statement",), *no_such_table(target, tables)


def _of_part(
    part: JobPart, tables: Sequence[GivenTable], platform: Platform
) -> Iterator[PlacedProblem]:
    target = _target(part.statement, tables)
    if isinstance(target, GivenTable):
        yield from _on_table(part, target, tables, platform)
    else:
        yield ("statement",), *no_such_table(target, tables)


def _target(sql: str, tables: Sequence[GivenTable]) -> GivenTable | str:
    """The table that a statement is held against; a name that none of several has."""
    name = target_of(sql)
    if name is None or len(tables) == 1:
        return tables[0]
    return table_named(tables, name) or name


def _on_table(
    part: JobPart, target: GivenTable, tables: Sequence[GivenTable], platform: Platform
) -> Iterator[PlacedProblem]:
    """What is wrong with a statement that should write `target`, one of the tables."""
    if target.schema is None:
        return
    wrong = list(parameter_problems(part.parameters, target))
    yield from wrong
    if wrong or not target.is_sound(platform.maker, platform.start_ms):
        yield from _untried(part.statement, target, platform, part)
        return
    others = [each.table.name for each in tables if each is not target]
    try:
        yield from _of_statement(part, target, others, platform)
    except RecursionError:
        yield ("statement",), TOO_DEEP, None


def _untried(
    sql: str, target: GivenTable, platform: Platform, part: JobPart | None = None
) -> Iterator[PlacedProblem]:
    """What is wrong with a statement as far as it can be told without running it.

    Without its `part` nothing is said of its parameters.
    """
    try:
        statement = _read(sql)
        if isinstance(statement, Statement):
            yield from _of_table(statement, target.table)
            if part is not None:
                yield from _of_parameters(statement, part, target.table)
            yield from _of_columns(statement, target, platform)
        else:
            yield ("statement",), statement, None
    except RecursionError:
        yield ("statement",), TOO_DEEP, None


def _read(sql: str) -> Statement | str:
    """The statement, or why it cannot be read."""
    if not sql.strip():
        return "is empty: it needs a statement in SQL"
    try:
        return parse_statement(sql)
    except (InvalidInput, UnsupportedFeature) as error:
        return str(error)


def _of_statement(
    part: JobPart, target: GivenTable, others: Collection[str], platform: Platform
) -> Iterator[PlacedProblem]:
    # Imported here: the simulator is built on scenarios, and only this check on the simulator.
    from whitecap.sim.rehearsal.dry_run import refusals

    statement = _read(part.statement)
    if not isinstance(statement, Statement):
        yield ("statement",), statement, None
        return
    columns = _of_columns(statement, target, platform)
    untried = [
        *_of_spark(statement),
        *_of_table(statement, target.table),
        *_of_parameters(statement, part, target.table),
    ]
    if untried:
        yield from (*untried, *columns)
    elif said := refusals(statement, part.parameters, target.table, platform):
        refused = (_reads_another(each, others) or each for each in said)
        yield from list(columns) or [(("statement",), each, None) for each in refused]


def _of_columns(
    statement: Statement, target: GivenTable, platform: Platform
) -> Iterator[PlacedProblem]:
    """All columns that the table does not have; when it is run it stops at the first."""
    if target.schema is None or may_add_columns(statement, platform.settings):
        return
    for problem in unknown_columns(statement, {statement.table.name.lower(): target.schema}):
        yield ("statement",), f"{problem.place}: {problem.text}", problem.nearest


def target_of(sql: str) -> str | None:
    """The table that a statement writes; `None` if it cannot be read, which is told elsewhere."""
    try:
        return parse_statement(sql).table.name
    except (InvalidInput, UnsupportedFeature, RecursionError):
        return None


def _reads_another(said: str, others: Collection[str]) -> str | None:
    """What a statement lacks that was refused because the rehearsal has only its own table."""
    for name in others:
        if said.lower().startswith(f"{name.lower()}: no such table"):
            return f"reads {name!r}: simulated statements read no table but the one they write"
    return None


def _of_spark(statement: Statement) -> Iterator[PlacedProblem]:
    """What our parser takes and Spark's refuses, so that no replay could run it."""
    if isinstance(statement, Merge) and statement.not_spark:
        right = "(SELECT * FROM VALUES ... AS v(a, b)) AS s"
        yield ("statement",), f"{statement.not_spark}, which Spark refuses: write {right}", None


def _of_table(statement: Statement, table: TableSection) -> Iterator[PlacedProblem]:
    if statement.table.name.lower() != table.name.lower():
        said = f"writes {statement.table.name!r}, the table is {table.name!r}"
        yield ("statement",), said, table.name


def _of_parameters(
    statement: Statement, part: JobPart, table: TableSection
) -> Iterator[PlacedProblem]:
    """Those that nothing says, and those that nothing asks for."""
    wanted = statement.template.parameter_names
    for name in sorted(wanted - part.parameters.keys()):
        said = f"nothing says what :{name} is: add it to parameters"
        yield ("statement",), said, nearest(name, part.parameters)
    for name in sorted(part.parameters.keys() - wanted):
        if not _decides_the_slice(name, part, table):
            said = f"is not used: the statement has no :{name}"
            yield ("parameters", name), said, nearest(name, wanted)
    for name, several in sorted(places_of_one(statement.template).items()):
        parameter = part.parameters.get(name)
        if parameter is not None and parameter.keys is not None and parameter.keys.count > 1:
            said = f":{name} stands for keys of several rows: write {several}"
            yield ("statement",), said, None


def _decides_the_slice(name: str, part: JobPart, table: TableSection) -> bool:
    """Whether a parameter that is no placeholder still says, or was meant to, where rows lie."""
    has_rows = any(parameter.keys or parameter.rows for parameter in part.parameters.values())
    is_meant_to = lacks_values(name, part.parameters[name], table)
    return has_rows and (name in table.values or is_meant_to)
