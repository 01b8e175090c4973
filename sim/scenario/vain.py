"""Expectations in vain: those that no run could miss, and those that none could meet.

A check that cannot fail says nothing and looks like one that passed, so each is bad input. That
something is impossible (`aborted equals 0`) may be expected: a run could miss it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from whitecap.engine.errors import InvalidInput, UnsupportedFeature, nearest
from whitecap.engine.recorded import CONFLICTS, EXCEPTIONS, OF_THE_TABLE, STREAMING, Measure, Unit
from whitecap.engine.sql.parsing.parse import parse_statement
from whitecap.sim.scenario.expect import Expectation
from whitecap.sim.scenario.writers import WriterGroup
from whitecap.sim.scenario.yaml.text import PlacedProblem

COUNTED_INSTEAD = {
    (Measure.JOB_SUCCESS_RATE, 1.0): Measure.GIVEN_UP,
    (Measure.ABORT_RATE, 0.0): Measure.ABORTED,
    (Measure.CONFLICT_RATE, 0.0): Measure.ABORTED,
    (Measure.WASTED_COMPUTE_SHARE, 0.0): Measure.ABORTED,
    (Measure.RERUN_RATE, 0.0): Measure.RERUNS,
}
"""A share that is all or nothing -> the count that must be 0, which each run tells exactly."""


def vain(expectation: Expectation) -> Iterator[PlacedProblem]:
    """What makes an expectation vain by itself, at places within it."""
    yield from _of_exception(expectation)
    yield from _of_the_whole_table(expectation)
    outside = list(_outside(expectation))
    yield from outside
    if not outside:
        yield from _undecidable(expectation)
        yield from _together(expectation)


def vain_among(
    expectation: Expectation, writers: Mapping[str, WriterGroup], *, with_tables: bool
) -> Iterator[PlacedProblem]:
    """A command that none of these writers runs, or not the group that is meant.

    `with_tables`: whether commands are recorded with their tables.
    """
    wanted, name = expectation.command, expectation.writer
    if wanted is None:
        return
    meant = {
        command
        for group_name, group in writers.items()
        for command in commands_of(group)
        if name in (None, group_name)
    }
    if with_tables:
        meant |= _on_tables(writers, name)
    if None in meant or wanted in meant:
        return
    own = sorted(command for command in meant if command)
    if name is not None:
        said = f"{name!r} runs {', '.join(own)}" if own else f"there is no writer {name!r}"
    else:
        said = f"no writer runs {wanted}: they run {', '.join(own)}"
    yield ("command",), said, nearest(wanted.upper(), own)


def _on_tables(writers: Mapping[str, WriterGroup], name: str | None) -> set[str | None]:
    """The commands of a writer, or of all, each with its table, as in `MERGE silver`."""
    commands: set[str | None] = set()
    for group_name, group in writers.items():
        if name not in (None, group_name):
            continue
        if group.streaming is not None and group.streaming.table is not None:
            commands.add(f"{STREAMING} {group.streaming.table}")
        for part in group.parts:
            try:
                statement = parse_statement(part.statement)
            except (InvalidInput, UnsupportedFeature):
                continue
            commands.add(f"{statement.command} {statement.table.name}")
    return commands


def commands_of(group: WriterGroup) -> list[str | None]:
    """The commands that a writer group's transactions are recorded with; `None` for a wrong one."""
    return [_command_of(part.statement) for part in group.parts] or [STREAMING]


def _command_of(statement: str) -> str | None:
    try:
        return parse_statement(statement).command
    except (InvalidInput, UnsupportedFeature):
        return None


def _of_exception(expectation: Expectation) -> Iterator[PlacedProblem]:
    name = expectation.exception
    if name is None:
        return
    if name not in EXCEPTIONS:
        said = f"there is no exception {name!r} that a transaction could be aborted by"
        yield ("exception",), said, nearest(name, EXCEPTIONS)
    elif expectation.measure is Measure.CONFLICT_RATE and name not in CONFLICTS:
        yield ("exception",), f"{name} is no conflict: conflict_rate counts none of them", None


def _of_the_whole_table(expectation: Expectation) -> Iterator[PlacedProblem]:
    if expectation.measure not in OF_THE_TABLE:
        return
    for key in ("writer", "command"):
        if getattr(expectation, key) is not None:
            yield (key,), f"goes not with {expectation.measure}, which is of the whole table", None


def _outside(expectation: Expectation) -> Iterator[PlacedProblem]:
    """Thresholds that are not values of the measure."""
    for key, value in expectation.thresholds.items():
        said = _why_outside(expectation.measure, key, value)
        if said is not None:
            yield (key,), said, None


def _why_outside(measure: Measure, key: str, value: float) -> str | None:
    """Why a threshold is no value of the measure, or one that every value meets."""
    is_share, is_counted = measure.unit is Unit.SHARE, measure.unit.is_counted
    match key:
        case _ if is_share and value > 1:
            return (
                f"{value:g} is no share, which is at most 1: write {value / 100:g} for {value:g} %"
            )
        case _ if is_share and value < 0:
            return f"{value:g} is no share: it is below 0"
        case "at_least" if value <= 0:
            return f"nothing could miss it: {measure} is never below 0"
        case _ if value < 0:
            return f"nothing could meet it: {measure} is never below 0"
        case "equals" if is_counted and value != round(value):
            return f"nothing could meet it: {measure} is a whole number"
        case "at_most" if is_share and value == 1:
            return "nothing could miss it: a share is never above 1"
    return None


def _undecidable(expectation: Expectation) -> Iterator[PlacedProblem]:
    """Thresholds that no interval over replications can be wholly at or beyond."""
    measure = expectation.measure
    if _is_one_number(expectation):
        return
    for key, value in expectation.thresholds.items():
        if key == "equals":
            yield (key,), _not_one_number(measure, value), None
        elif measure.unit is Unit.SHARE and (key, value) in (("at_least", 1), ("at_most", 0)):
            yield (key,), f"{never_shown(value)}: {_instead(measure, value)}", None


def never_shown(share: float) -> str:
    """Why a share that is all or nothing cannot be asked for."""
    return f"no number of runs shows that a share is {share:g}"


def _is_one_number(expectation: Expectation) -> bool:
    """Whether runs are held to it one by one, rather than by an interval over them."""
    return expectation.exactly or expectation.measure.unit.is_counted


def _not_one_number(measure: Measure, value: float) -> str:
    said = "an interval over replications is never one number"
    return f"{said}: {_instead(measure, value)} or at_least and at_most"


def _instead(measure: Measure, value: float) -> str:
    counted = COUNTED_INSTEAD.get((measure, value))
    return f"write {counted} equals 0, or exactly: true" if counted else "write exactly: true"


def _together(expectation: Expectation) -> Iterator[PlacedProblem]:
    low, high = expectation.at_least, expectation.at_most
    if expectation.equals is not None and len(expectation.thresholds) > 1:
        yield (), "equals stands alone: at_least and at_most decide nothing beside it", None
    elif low is not None and high is not None and low > high:
        yield (), f"nothing could meet it: at_least {low:g} is more than at_most {high:g}", None
    elif low is not None and low == high and not _is_one_number(expectation):
        yield (), _not_one_number(expectation.measure, low), None
