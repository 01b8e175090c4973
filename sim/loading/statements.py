"""Do a writer's statements and their parameters fit their tables and each other?"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from whitecap.engine.dialects import MICRO_BATCH, Dialect
from whitecap.engine.errors import InvalidInput, UnsupportedFeature, nearest
from whitecap.engine.sql.parsing.parse import parse_statement
from whitecap.engine.sql.parsing.statements import Merge, Statement
from whitecap.sim.rehearsal.platform import Platform
from whitecap.sim.scenario.table import TableSection
from whitecap.sim.scenario.writers import JobPart, WriterGroup
from whitecap.sim.scenario.yaml_text import KeyPath, PlacedProblem

NOT_OF_STREAMS = "a batch belongs to its checkpoint, and so to no member of a group"


def statement_problems(
    part: JobPart, table: TableSection, others: Collection[str], platform: Platform
) -> Iterator[PlacedProblem]:
    """Every problem of a job's statement that should write `table`, at its place within it.

    `others` are the other tables of the scenario.
    """
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


def _not_streamed(dialect: Dialect) -> Iterator[PlacedProblem]:
    try:
        dialect.require([MICRO_BATCH])
    except UnsupportedFeature as error:
        yield ("streaming",), str(error), None


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


def function_problems(group: WriterGroup, platform: Platform) -> Iterator[PlacedProblem]:
    """Every problem of a query whose function runs a writer's statements."""
    for _, said, hint in _not_streamed(platform.dialect):
        yield ("foreach_batch",), said, hint
    for number, part in enumerate(group.parts):
        place: KeyPath = () if group.statements is None else ("statements", number)
        for name in sorted(name for name, each in part.parameters.items() if each.of_member):
            yield (*place, "parameters", name), NOT_OF_STREAMS, None


def streaming_problems(
    group: WriterGroup, table: TableSection, platform: Platform
) -> Iterator[PlacedProblem]:
    """Every problem of a streaming query and its parameters, at its place within the writer."""
    yield from _not_streamed(platform.dialect)
    of_members = {name for name, each in group.parameters.items() if each.of_member}
    for name in sorted(of_members):
        yield ("parameters", name), NOT_OF_STREAMS, None
    if group.streaming is not None and group.streaming.rows.choose.member:
        yield ("streaming", "rows", "choose"), NOT_OF_STREAMS, None
    for name in sorted(group.parameters.keys() - of_members):
        if name not in table.values:
            said = "is not used: a batch takes only columns with listed values"
            yield ("parameters", name), said, nearest(name, table.values)


def _decides_the_slice(name: str, part: JobPart, table: TableSection) -> bool:
    """Whether a parameter that is no placeholder still says where keys and rows lie."""
    has_rows = any(parameter.keys or parameter.rows for parameter in part.parameters.values())
    return has_rows and name in table.values
