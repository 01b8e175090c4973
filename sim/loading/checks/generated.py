"""Generated columns of a table: expressions can be computed, and listed values agree with them."""

from __future__ import annotations

from collections.abc import Iterator

from whitecap.engine.errors import DeltaError, InvalidInput, UnsupportedFeature
from whitecap.engine.log.column_keys import GENERATION_EXPRESSION
from whitecap.engine.log.schema import Field, Schema
from whitecap.engine.storage.requests import Row
from whitecap.engine.values.types import DEFAULT_SESSION
from whitecap.engine.writing.generation import Completion, check_expression, completion
from whitecap.sim.quantities.units import shown
from whitecap.sim.scenario.table import Initial, TableSection
from whitecap.sim.scenario.yaml.text import KeyPath, PlacedProblem
from whitecap.sim.table.derived import completed_rows, is_generated
from whitecap.sim.table.rows import ScenarioRows

FEW_ROWS = 100
"""Rows that are tried, and the last one: usual lists of values are shorter."""

_REFUSALS = DeltaError, InvalidInput, UnsupportedFeature


def generated_problems(
    place: KeyPath, table: TableSection, schema: Schema, start_ms: int
) -> Iterator[PlacedProblem]:
    """What is wrong with the generated columns of a table, at its place of the document.

    `start_ms` is the wall clock at its start, in epoch milliseconds.
    """
    generated = [column for column in schema if is_generated(column)]
    refusals = [said for said in (_refusal(column, schema) for column in generated) if said]
    if refusals or not generated:
        yield from (((*place, "schema"), said, None) for said in refusals)
        return
    try:
        rows = list(_few_rows(table, schema, start_ms))
    except DeltaError as error:
        yield (*place, "schema"), str(error), None
        return
    for column in generated:
        said = _disagreement(column, schema.index(column.name), rows)
        if said is not None and column.name in table.values:
            yield (*place, "values", column.name), said, None


def _refusal(column: Field, schema: Schema) -> str | None:
    """Why a column cannot be generated so."""
    try:
        check_expression(column, schema, DEFAULT_SESSION)
    except _REFUSALS as error:
        return f"{column.name}: {error}"
    return None


def _few_rows(table: TableSection, schema: Schema, start_ms: int) -> Iterator[tuple[Row, Row]]:
    """Rows as the scenario has them, each with what the table's expressions make of it.

    Raises `DeltaError` where one cannot be computed.
    """
    few = table.model_copy(update={"initial": Initial(rows=FEW_ROWS)})
    described = ScenarioRows.of(few, start_ms)
    given = [column.name for column in schema if not is_generated(column)]
    complete = completion(schema, given, DEFAULT_SESSION)
    assert complete is not None
    yield from _computed(described, range(FEW_ROWS), complete)
    everything = ScenarioRows.of(table, start_ms)
    last = everything.initial.rows - 1
    if last >= FEW_ROWS:
        yield from _computed(everything, range(last, last + 1), complete)


def _computed(rows: ScenarioRows, keys: range, complete: Completion) -> Iterator[tuple[Row, Row]]:
    made = rows.maker.rows(keys, rows.initial.slices_of(keys))
    return zip(made, completed_rows(made, complete, rows.schema), strict=True)


def _disagreement(column: Field, at: int, rows: list[tuple[Row, Row]]) -> str | None:
    """Where a row has another value than the expression makes."""
    different = ((row[at], computed[at]) for row, computed in rows if row[at] != computed[at])
    listed, computed = next(different, (None, None))
    if listed is computed is None:
        return None
    text = column.metadata[GENERATION_EXPRESSION]
    return (
        f"a row with {shown(listed)} has {shown(computed)} by {text}; leave it out here, as it "
        "follows from its row, or declare it as a plain column"
    )
