"""Recorded arrivals: CSV with a line for each job, when it came and how long it took.

    at,takes
    2026-01-14 08:00:05,12 s
    2026-01-14 08:03:10,1.5 min

An instant is a wall clock (UTC unless it says otherwise) or the time since the run began (`90 s`).
Columns that name a unit hold bare numbers: `at_s`, `takes_ms`.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import lru_cache

from msgspec import Struct

from whitecap.sim.quantities.bounds import MAX_TRACE_BYTES, MAX_TRACED_JOBS
from whitecap.sim.quantities.units import MS_PER, parse_duration, shown

AT, TAKES = "at", "takes"

SHORTEST_TRACE = f"{AT}\n0 s\n"
"""Stands for a trace whose file has not been read, or is wrong, which is told already."""

_COLUMN = re.compile(rf"({AT}|{TAKES})(?:_({'|'.join(MS_PER)}))?")

MOST_TOLD = 20
"""Wrong lines that are told one by one: further ones are wrong in the same way."""


class TracedJob(Struct, frozen=True):
    """One line: the instant, from the run's beginning or as epoch milliseconds, and the time."""

    at_ms: float
    is_wall_clock: bool
    takes_ms: float | None

    def due_ms(self, start_ms: int) -> float:
        """The simulated instant, if simulated time begins at that wall clock."""
        return self.at_ms - start_ms if self.is_wall_clock else self.at_ms


class WrongLine(Struct, frozen=True):
    """What is wrong with a line of a trace, the first being number 1."""

    line: int
    said: str


@lru_cache(maxsize=64)
def read_trace(text: str) -> tuple[tuple[TracedJob, ...], tuple[WrongLine, ...]]:
    """The jobs of a trace in the order of its lines, and all that is wrong with it."""
    if len(text) > MAX_TRACE_BYTES:
        return (), (WrongLine(1, f"is larger than {MAX_TRACE_BYTES >> 10} KiB"),)
    if text.count("\n") > MAX_TRACED_JOBS + 1:
        return (), (WrongLine(1, f"has more than {MAX_TRACED_JOBS:,} jobs"),)
    lines = csv.reader(text.splitlines(), skipinitialspace=True)
    header = [name.strip() for name in next(lines, [])]
    columns, wrong = _columns(header)
    if wrong:
        return (), (WrongLine(1, wrong),)
    jobs: list[TracedJob] = []
    bad: list[WrongLine] = []
    for line in lines:
        if not any(part.strip() for part in line):
            continue
        try:
            jobs.append(_job(line, columns))
        except ValueError as error:
            bad.append(WrongLine(lines.line_num, str(error)))
    if not jobs and not bad:
        bad.append(WrongLine(1, "has no jobs"))
    return tuple(jobs), tuple(_few(bad))


_Column = tuple[int, Callable[[str], float]]


def _columns(header: list[str]) -> tuple[dict[str, _Column], str]:
    """Where each column stands and how its durations are read; or what is wrong with the header."""
    columns: dict[str, _Column] = {}
    for position, name in enumerate(header):
        column = _COLUMN.fullmatch(name)
        if column is None:
            continue
        if column[1] in columns:
            return {}, f"has two columns for {column[1]!r}"
        unit = column[2]
        columns[column[1]] = position, _number_of(unit) if unit else parse_duration
    if AT not in columns:
        return {}, f"has no column {AT!r} (or 'at_s', ...): the first line must name the columns"
    return columns, ""


def _number_of(unit: str) -> Callable[[str], float]:
    def read(text: str) -> float:
        try:
            float(text)
        except ValueError:
            raise ValueError(f"{shown(text)} is not a number") from None
        return parse_duration(f"{text.strip()} {unit}")

    return read


def _job(line: list[str], columns: dict[str, _Column]) -> TracedJob:
    values = {
        name: line[position].strip() if position < len(line) else ""
        for name, (position, _) in columns.items()
    }
    missing = [name for name, value in values.items() if not value]
    if missing:
        raise ValueError(f"has no value for {missing[0]!r}")
    takes_ms = columns[TAKES][1](values[TAKES]) if TAKES in values else None
    wall_clock = _wall_clock_ms(values[AT]) if columns[AT][1] is parse_duration else None
    if wall_clock is not None:
        return TracedJob(wall_clock, True, takes_ms)
    return TracedJob(columns[AT][1](values[AT]), False, takes_ms)


def _wall_clock_ms(text: str) -> float | None:
    try:
        instant = datetime.fromisoformat(text)
    except ValueError:
        return None
    return (instant if instant.tzinfo else instant.replace(tzinfo=UTC)).timestamp() * 1000


def _few(wrong: list[WrongLine]) -> Iterator[WrongLine]:
    yield from wrong[:MOST_TOLD]
    if len(wrong) > MOST_TOLD:
        said = f"and {len(wrong) - MOST_TOLD:,} further lines are wrong"
        yield WrongLine(wrong[MOST_TOLD].line, said)
