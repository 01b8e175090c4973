"""Two writers of a scenario as a race on a small table, so that it can be explained.

The table has the scenario's columns, layout and properties and a few rows of every slice; both
statements have the values of one job each.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle
from math import prod

from whitecap.engine.errors import InvalidInput, Problem
from whitecap.engine.isolation import ISOLATION_PROPERTY
from whitecap.engine.races.explain.case import RaceCase
from whitecap.engine.races.row_tables import DataFile, TableOf
from whitecap.engine.sql.parsing.parse import read_statement
from whitecap.sim.rehearsal.dry_run import DRAWS, FEW_ROWS
from whitecap.sim.scenario.model import Scenario
from whitecap.sim.scenario.table import Initial, Table
from whitecap.sim.scenario.writers import JobPart, WriterGroup
from whitecap.sim.table.rows import KeysInUse, TableRows
from whitecap.sim.writers.bind import bound
from whitecap.sim.writers.workload import NewKeys, Workload

MOST_ROWS = 240
FILES = 8
"""Of the small table: enough that some are not touched, few enough to be made anew quickly."""


OTHER_DRAWS = (0.1, 0.9, 0.6, 0.3, 0.75)
"""Those of the second job, where the two are not to be of the same values."""


def race_of(scenario: Scenario, loser: str, winner: str, *, alike: bool) -> RaceCase:
    """The statements of two writer groups, `loser`'s first, of the same values or of others.

    Raises `InvalidInput` for what has no one statement on one table.
    """
    if scenario.table is None:
        raise InvalidInput([Problem("tables", "statements on several tables are not raced here")])
    groups = scenario.writers[loser], scenario.writers[winner]
    parts = [_only_part(name, group) for name, group in zip((loser, winner), groups, strict=True)]
    rows = _few_rows(scenario.table, scenario.start_ms)
    draws = DRAWS, DRAWS if alike else OTHER_DRAWS
    statements = [
        _text(part, rows, scenario.start_ms, own) for part, own in zip(parts, draws, strict=True)
    ]
    return RaceCase(
        {scenario.table.name: _small_table(scenario.table, rows)},
        scenario.table.name,
        (statements[0], statements[1]),
        scenario.dialect_of(groups[0]),
        scenario.settings_of(groups[0]),
        tuple(scenario.table.cluster_by),
    )


def _only_part(name: str, group: WriterGroup) -> JobPart:
    match group.parts:
        case [part]:
            return part
        case []:
            raise InvalidInput([Problem(name, "is a streaming query, which has no statement")])
        case _:
            raise InvalidInput([Problem(name, "runs several statements in a job")])


def _few_rows(table: Table, start_ms: int) -> TableRows:
    slices = prod(
        each.days or len(each.among or ()) for each in table.values.values()
    )  # an empty product is 1
    few = Initial(rows=min(max(FEW_ROWS, 2 * slices), MOST_ROWS))
    return TableRows.of(table.model_copy(update={"initial": few, "exists": True}), start_ms)


def _small_table(table: Table, rows: TableRows) -> TableOf:
    keys = range(rows.initial.rows)
    made = rows.maker.rows(keys, [rows.initial.slice_of(key) for key in keys])
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


def _text(part: JobPart, rows: TableRows, start_ms: int, drawn: Sequence[float]) -> str:
    """The statement with the values of a job."""
    draws = cycle(drawn)
    keys, new_keys = KeysInUse(rows.initial), NewKeys(0, rows.initial.rows)
    workload = Workload(rows, part.parameters, lambda _: draws, keys, new_keys, start_ms)
    return bound(read_statement(part.statement), workload.work(0, 0.0), rows.types).sql()
