"""Trying what a writer does once on a small table, so that what cannot work is told before a run.

The table has the scenario's columns, layout and properties and a few rows; the engine itself judges
the statement, or the batch of a stream. Nothing of this is part of any run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import cycle
from typing import Self

from whitecap.engine.commands.rows.streaming import Batch
from whitecap.engine.commands.run import run_batch, run_statement
from whitecap.engine.errors import DeltaError, InvalidInput, UnsupportedFeature
from whitecap.engine.outcomes import Outcome
from whitecap.engine.session.table import Table
from whitecap.engine.sql.parsing.statements import Statement
from whitecap.engine.sql.parsing.table_statements import CreateTable, Restore
from whitecap.engine.sql.predicates.predicate import session_of
from whitecap.engine.storage.memory import counting_ids, run
from whitecap.engine.storage.requests import Steps
from whitecap.sim.rehearsal.platform import Platform
from whitecap.sim.scenario.parameters import Parameter, RowsSection
from whitecap.sim.scenario.table import Initial, TableSection
from whitecap.sim.store.at_once import AtOnce
from whitecap.sim.store.contents.objects import FakeStore
from whitecap.sim.table.initial_table import NewTable, create_table
from whitecap.sim.table.rows import ScenarioRows
from whitecap.sim.table.slices import KeysInUse
from whitecap.sim.writers.bind import bound
from whitecap.sim.writers.workload import ROWS, NewKeys, Workload

FEW_ROWS = 24
"""Rows of the table on which statements are tried. Ours."""

DRAWS = (0.5, 0.2, 0.8, 0.35, 0.65)
"""Chosen are values from the middle on, and several keys where several are asked for."""

MOST_TRIES = 20
"""Values of a list that are tried at most, from the first on: each try makes a table."""


def refusals(
    template: Statement,
    parameters: dict[str, Parameter],
    table: TableSection,
    platform: Platform,
) -> list[str]:
    """Why the statement cannot run on such a table; nothing if it can.

    Raises nothing of the engine's: what the engine would raise is what is returned.
    """
    if isinstance(template, Restore):
        return []  # which versions there will be, only the run can tell
    return list(_tried(_Trial.of(template, parameters, table, platform)))


def batch_refusals(
    rows: RowsSection, parameters: dict[str, Parameter], table: TableSection, platform: Platform
) -> list[str]:
    """Why a stream cannot append its rows to such a table; nothing if it can."""
    return list(_tried(_Trial.of(rows, parameters, table, platform)))


def _small(table: TableSection) -> TableSection:
    few = Initial(rows=FEW_ROWS, rows_per_file=4)
    return table.model_copy(update={"initial": few, "exists": True})


@dataclass(frozen=True, slots=True)
class _Trial:
    """A statement, or a batch of rows, on a small table: the same as another of the same `text`."""

    text: str
    work: Statement | RowsSection = field(compare=False)
    parameters: dict[str, Parameter] = field(compare=False)
    table: TableSection = field(compare=False)
    platform: Platform = field(compare=False)

    @classmethod
    def of(
        cls,
        work: Statement | RowsSection,
        parameters: dict[str, Parameter],
        table: TableSection,
        platform: Platform,
    ) -> Self:
        """The trial of a writer's work on a table with few rows."""
        small = _small(table)
        words = work if isinstance(work, RowsSection) else work.template
        who = platform.dialect.name, platform.maker.name, platform.settings, platform.start_ms
        text = f"{words!r} {parameters!r} {small!r} {who!r}"
        return cls(text, work, parameters, small, platform)


@lru_cache(maxsize=512)
def _tried(trial: _Trial) -> tuple[str, ...]:
    """Try it, each trial once in a process: variations of a scenario repeat most of them."""
    if isinstance(trial.work, RowsSection):
        return _of_batch(trial.work, trial)
    return _of_statement(trial.work, trial)


def _of_batch(rows: RowsSection, trial: _Trial) -> tuple[str, ...]:
    def batch(client: Table, workload: Workload, brought: ScenarioRows) -> Steps[Outcome]:
        work = workload.work(0, 0.0).of_batch(brought.schema, brought.brought)
        return run_batch(client, Batch("query", 0, work.values[ROWS], brought.brought))

    given = {**trial.parameters, ROWS: Parameter(rows=rows)}
    return _refusals(batch, given, trial.table, trial.platform)


def _of_statement(template: Statement, trial: _Trial) -> tuple[str, ...]:
    def statement(client: Table, workload: Workload, rows: ScenarioRows) -> Steps[Outcome]:
        statement = bound(template, workload.work(0, 0.0), rows.types)
        return run_statement(statement, {client.name: client})

    makes = isinstance(template, CreateTable) and not template.replace
    table = trial.table.model_copy(update={"exists": not makes})
    for given in _each_of_lists(trial.parameters):
        if refused := _refusals(statement, given, table, trial.platform):
            return refused
    return ()


def _each_of_lists(parameters: dict[str, Parameter]) -> Iterator[dict[str, Parameter]]:
    """The parameters once for every value that a list gives them: these may be of several types."""
    longest = max((len(each.among or ()) for each in parameters.values()), default=0)
    for number in range(max(1, min(longest, MOST_TRIES))):
        yield {name: _chosen(each, number) for name, each in parameters.items()}


def _chosen(parameter: Parameter, number: int) -> Parameter:
    if parameter.among is None:
        return parameter
    value = parameter.among[number % len(parameter.among)]
    return parameter.model_copy(update={"among": None, "value": value})


def _refusals(
    play: Callable[[Table, Workload, ScenarioRows], Steps[Outcome]],
    parameters: dict[str, Parameter],
    small: TableSection,
    platform: Platform,
) -> tuple[str, ...]:
    """What is wrong with a play on a small table, which it may have to make itself."""
    rows = ScenarioRows.of(small, platform.start_ms, session_of(platform.settings))
    store = FakeStore(platform.start_ms, small.bytes_per_row)
    ids = counting_ids()
    keys = KeysInUse(rows.initial)
    draws = cycle(DRAWS)
    workload = Workload(
        rows, parameters, lambda _: draws, keys, NewKeys(0, FEW_ROWS), platform.start_ms
    )
    try:
        create_table(NewTable(small, rows, store, ids.__next__, platform.maker))
        client = Table(small.name, settings=platform.settings, dialect=platform.dialect)
        run(play(client, workload, rows), AtOnce(store, ids))
    except InvalidInput as error:
        return tuple(str(problem) for problem in error.problems)
    except (DeltaError, UnsupportedFeature) as error:
        return (str(error),)
    return ()
