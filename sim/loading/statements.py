"""Do a writer's statement and its parameters fit the table and each other?"""

from __future__ import annotations

from collections.abc import Iterator

from whitecap.engine.dialects import MICRO_BATCH, Dialect
from whitecap.engine.errors import InvalidInput, UnsupportedFeature, nearest
from whitecap.engine.sql.parsing.parse import parse_statement
from whitecap.engine.sql.parsing.statements import Merge, Statement
from whitecap.sim.rehearsal.platform import Platform
from whitecap.sim.scenario.table import Table
from whitecap.sim.scenario.writers import WriterGroup
from whitecap.sim.scenario.yaml_text import Place

NOT_OF_STREAMS = "a batch belongs to its checkpoint, and so to no member of a group"

Finding = tuple[Place, str, str | None]


def statement_problems(group: WriterGroup, table: Table, platform: Platform) -> Iterator[Finding]:
    """Every problem of a writer's statement, at its place within the writer."""
    # Imported here: the simulator is built on scenarios, and only this check on the simulator.
    from whitecap.sim.rehearsal.dry_run import refusals

    if group.statement is None:
        yield from _streaming_problems(group, table)
        yield from _not_streamed(platform.dialect)
        return
    if not group.statement.strip():
        yield ("statement",), "is empty: it needs a statement in SQL", None
        return
    try:
        statement = parse_statement(group.statement)
    except (InvalidInput, UnsupportedFeature) as error:
        yield ("statement",), str(error), None
        return
    known = [*_of_spark(statement), *_of_names(statement, group, table)]
    yield from known
    if not known:
        for said in refusals(statement, group.parameters, table, platform):
            yield ("statement",), said, None


def _not_streamed(dialect: Dialect) -> Iterator[Finding]:
    try:
        dialect.require([MICRO_BATCH])
    except UnsupportedFeature as error:
        yield ("streaming",), str(error), None


def _of_spark(statement: Statement) -> Iterator[Finding]:
    """What is taken here and refused by Spark's parser, so that no replay could run it."""
    if isinstance(statement, Merge) and statement.not_spark:
        right = "(SELECT * FROM VALUES ... AS v(a, b)) AS s"
        yield ("statement",), f"{statement.not_spark}, which Spark refuses: write {right}", None


def _of_names(statement: Statement, group: WriterGroup, table: Table) -> Iterator[Finding]:
    if statement.table.name.lower() != table.name.lower():
        said = f"writes {statement.table.name!r}, the table is {table.name!r}"
        yield ("statement",), said, table.name
    wanted = statement.template.parameter_names
    for name in sorted(wanted - group.parameters.keys()):
        said = f"nothing says what :{name} is: add it to parameters"
        yield ("statement",), said, nearest(name, group.parameters)
    for name in sorted(group.parameters.keys() - wanted):
        if not _decides_the_slice(name, group, table):
            said = f"is not used: the statement has no :{name}"
            yield ("parameters", name), said, nearest(name, wanted)


def _streaming_problems(group: WriterGroup, table: Table) -> Iterator[Finding]:
    of_members = {name for name, each in group.parameters.items() if each.of_member}
    for name in sorted(of_members):
        yield ("parameters", name), NOT_OF_STREAMS, None
    if group.streaming is not None and group.streaming.rows.choose.member:
        yield ("streaming", "rows", "choose"), NOT_OF_STREAMS, None
    for name in sorted(group.parameters.keys() - of_members):
        if name not in table.values:
            said = "is not used: a batch takes only columns with listed values"
            yield ("parameters", name), said, nearest(name, table.values)


def _decides_the_slice(name: str, group: WriterGroup, table: Table) -> bool:
    """Whether a parameter that is no placeholder still says where keys and rows lie."""
    has_rows = any(parameter.keys or parameter.rows for parameter in group.parameters.values())
    return has_rows and name in table.values
