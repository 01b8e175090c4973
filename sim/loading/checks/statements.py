"""Do a writer's statements and their parameters fit their tables and each other?"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from whitecap.engine.errors import InvalidInput, UnsupportedFeature, nearest
from whitecap.engine.sql.parsing.parse import parse_statement
from whitecap.engine.sql.parsing.statements import Merge, Statement
from whitecap.sim.loading.checks.parameters import parameter_problems
from whitecap.sim.loading.checks.tables import (
    TOO_DEEP,
    GivenTable,
    no_such_table,
    table_named,
)
from whitecap.sim.rehearsal.platform import Platform
from whitecap.sim.scenario.table import TableSection
from whitecap.sim.scenario.writers import JobPart, WriterGroup
from whitecap.sim.scenario.yaml_text import KeyPath, PlacedProblem, within


def statement_problems(
    group: WriterGroup, tables: Sequence[GivenTable], platform: Platform
) -> Iterator[PlacedProblem]:
    """Every problem of a group's statements and their parameters, at places within the group."""
    for number, part in enumerate(group.parts):
        place: KeyPath = () if group.statements is None else ("statements", number)
        yield from within(place, _of_part(part, tables, platform))


def _of_part(
    part: JobPart, tables: Sequence[GivenTable], platform: Platform
) -> Iterator[PlacedProblem]:
    name = target_of(part)
    if name is None or len(tables) == 1:
        yield from _on_table(part, tables[0], tables, platform)
    elif target := table_named(tables, name):
        yield from _on_table(part, target, tables, platform)
    else:
        yield ("statement",), *no_such_table(name, tables)


def _on_table(
    part: JobPart, target: GivenTable, tables: Sequence[GivenTable], platform: Platform
) -> Iterator[PlacedProblem]:
    """What is wrong with a statement that should write `target`, one of the tables."""
    if target.schema is None:
        return
    wrong = list(parameter_problems(part.parameters, target))
    yield from wrong
    if wrong or not target.is_sound(platform.maker):
        return
    others = [each.table.name for each in tables if each is not target]
    try:
        yield from _of_statement(part, target.table, others, platform)
    except RecursionError:
        yield ("statement",), TOO_DEEP, None


def _of_statement(
    part: JobPart, table: TableSection, others: Collection[str], platform: Platform
) -> Iterator[PlacedProblem]:
    # Imported here: the simulator is built on scenarios, and only this check on the simulator.
    from whitecap.sim.rehearsal.dry_run import refusals

    if not part.statement.strip():
        yield ("statement",), "is empty: it needs a statement in SQL", None
        return
    try:
        statement = parse_statement(part.statement)
    except (InvalidInput, UnsupportedFeature) as error:
        yield ("statement",), str(error), None
        return
    problems = [*_of_spark(statement), *_of_names(statement, part, table)]
    yield from problems
    if not problems:
        for said in refusals(statement, part.parameters, table, platform):
            yield ("statement",), _reads_another(said, others) or said, None


def target_of(part: JobPart) -> str | None:
    """The table that a statement writes; `None` if it cannot be read, which is told elsewhere."""
    try:
        return parse_statement(part.statement).table.name
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


def _of_names(statement: Statement, part: JobPart, table: TableSection) -> Iterator[PlacedProblem]:
    if statement.table.name.lower() != table.name.lower():
        said = f"writes {statement.table.name!r}, the table is {table.name!r}"
        yield ("statement",), said, table.name
    wanted = statement.template.parameter_names
    for name in sorted(wanted - part.parameters.keys()):
        said = f"nothing says what :{name} is: add it to parameters"
        yield ("statement",), said, nearest(name, part.parameters)
    for name in sorted(part.parameters.keys() - wanted):
        if not _decides_the_slice(name, part, table):
            said = f"is not used: the statement has no :{name}"
            yield ("parameters", name), said, nearest(name, wanted)


def _decides_the_slice(name: str, part: JobPart, table: TableSection) -> bool:
    """Whether a parameter that is no placeholder still says where keys and rows lie."""
    has_rows = any(parameter.keys or parameter.rows for parameter in part.parameters.values())
    return has_rows and name in table.values
