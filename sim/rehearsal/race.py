"""Two writers of a scenario as a race on a small table, so that it can be explained.

The table has the scenario's columns, layout and properties and a few rows of every slice; both
statements have the values of one job each.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import cycle
from math import prod

from msgspec import Struct

from whitecap.engine.isolation import ISOLATION_PROPERTY
from whitecap.engine.races.explain.case import RaceCase
from whitecap.engine.races.row_tables import DataFile, TableOf
from whitecap.engine.sql.parsing.parse import parse_statement, read_statement
from whitecap.sim.rehearsal.dry_run import DRAWS, FEW_ROWS
from whitecap.sim.scenario.model import Scenario
from whitecap.sim.scenario.parameters import Parameter
from whitecap.sim.scenario.table import Initial, TableSection
from whitecap.sim.scenario.writers import JobPart, Streaming, WriterGroup
from whitecap.sim.table.rows import ScenarioRows
from whitecap.sim.table.slices import KeysInUse
from whitecap.sim.writers.bind import bound
from whitecap.sim.writers.choices import Member
from whitecap.sim.writers.workload import NewKeys, Workload

MOST_ROWS = 240
"""Rows of the small table at most, which is made anew for every order of a race. Ours."""

FILES = 8
"""Files of the small table: enough that some are not touched, few enough to be made anew quickly.
"""

ROWS_OF_A_JOB = 3
"""Rows of a job or batch at most; what it conflicts with hardly depends on their number, and the
statement is shown. Ours.
"""

OTHER_DRAWS = (0.1, 0.9, 0.6, 0.3, 0.75)
NEWEST_DRAWS = (0.0, 0.3, 0.1, 0.4, 0.2)
"""The first value is the newest: what jobs share of which one always takes that."""

DRAWS_OF_BOTH = ((DRAWS, OTHER_DRAWS), (DRAWS, DRAWS), (NEWEST_DRAWS, NEWEST_DRAWS))
"""Of the two jobs of a race: for other values, for the same, and for the newest."""


class Contestant(Struct, frozen=True):
    """A statement of a writer group, by which rules it runs, and the table that it writes."""

    part: JobPart
    group: WriterGroup
    table: TableSection


def contestants(scenario: Scenario, name: str, command: str) -> list[Contestant]:
    """The statements of a writer group that a recording calls by this command.

    Of a streaming query it is the INSERT of a batch's rows: a blind append, as the batch is.
    """
    group = scenario.writers[name]
    tables = {table.name.lower(): table for table in scenario.all_tables}
    if group.streaming is not None:
        table = tables[(group.streaming.table or next(iter(tables))).lower()]
        return [Contestant(_batch(group, group.streaming, table), group, table)]
    matching: list[Contestant] = []
    for part in group.parts:
        statement = parse_statement(part.statement)
        table = tables[statement.table.name.lower()]
        words = (statement.command, *([table.name] if scenario.tells_statements_apart else ()))
        if len(group.parts) == 1 or command == " ".join(words):
            matching.append(Contestant(part, group, table))
    return matching


def _batch(group: WriterGroup, query: Streaming, table: TableSection) -> JobPart:
    parameters = {**group.parameters, "rows": Parameter(rows=query.rows)}
    return JobPart(statement=f"INSERT INTO {table.name} VALUES :rows", parameters=parameters)


def races_of(scenario: Scenario, loser: Contestant, winner: Contestant) -> Iterator[RaceCase]:
    """Two statements on one table, `loser`'s first: with different values, the same, the newest."""
    for members in _members(loser.group, winner.group):
        for draws in DRAWS_OF_BOTH:
            yield _race_of(scenario, loser, winner, members, draws)


def _members(loser: WriterGroup, winner: WriterGroup) -> Iterator[tuple[Member, Member]]:
    """Whose values the two have: those of two writers where there are two, and of one and the same
    where its jobs can meet."""
    first, second = Member(1, winner.count), Member(2, winner.count)
    if loser is not winner or winner.count == 1:
        yield Member(1, loser.count), first
        return
    yield first, second
    if winner.overlaps_itself:
        yield first, first


def _race_of(
    scenario: Scenario,
    loser: Contestant,
    winner: Contestant,
    members: tuple[Member, Member],
    draws: tuple[Sequence[float], Sequence[float]],
) -> RaceCase:
    table = loser.table
    rows = _few_rows(table, scenario)
    statements = [
        _text(each.part, rows, scenario.start_ms, member, own)
        for each, member, own in zip((loser, winner), members, draws, strict=True)
    ]
    return RaceCase(
        {table.name: _small_table(table, rows)},
        table.name,
        (statements[0], statements[1]),
        scenario.dialect_of(loser.group),
        scenario.settings_of(loser.group),
        tuple(table.cluster_by),
    )


def _few_rows(table: TableSection, scenario: Scenario) -> ScenarioRows:
    slices = prod(
        each.days or len(each.among or ()) for each in table.values.values()
    )  # an empty product is 1
    few = Initial(rows=min(max(FEW_ROWS, 2 * slices), MOST_ROWS))
    small = table.model_copy(update={"initial": few, "exists": True})
    return ScenarioRows.of(small, scenario.start_ms, scenario.session)


def _small_table(table: TableSection, rows: ScenarioRows) -> TableOf:
    keys = range(rows.initial.rows)
    made = rows.maker.rows(keys, rows.initial.slices_of(keys))
    names = rows.schema.names
    each = [dict(zip(names, row, strict=True)) for row in made]
    size = -(-len(each) // FILES)
    files = [DataFile({}, each[first : first + size]) for first in range(0, len(each), size)]
    level = {} if table.isolation is None else {ISOLATION_PROPERTY: table.isolation}
    return TableOf(
        schema=table.columns,
        partition_columns=list(table.partition_by),
        properties={**table.properties, **level},
        files=files,
        versions=0,
    )


def _text(
    part: JobPart, rows: ScenarioRows, start_ms: int, member: Member, drawn: Sequence[float]
) -> str:
    """The statement with the values of a job of a writer."""
    draws = cycle(drawn)
    keys, new_keys = KeysInUse(rows.initial), NewKeys(0, rows.initial.rows)
    parameters = {name: _of_few_rows(each) for name, each in part.parameters.items()}
    workload = Workload(rows, parameters, lambda _: draws, keys, new_keys, start_ms, member)
    return bound(read_statement(part.statement), workload.work(0, 0.0), rows.types).sql()


def _of_few_rows(parameter: Parameter) -> Parameter:
    if parameter.rows is None:
        return parameter
    few = {"count": min(parameter.rows.count, ROWS_OF_A_JOB)}
    return parameter.model_copy(update={"rows": parameter.rows.model_copy(update=few)})
