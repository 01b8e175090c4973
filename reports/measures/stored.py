"""Measured runs as rows, and back: what the tables of a report keep of every run.

`tallies`: numerator (`part`) and denominator (`whole`) of each measure; a count has one run as
its whole, a rate its minutes. Of a share `events` of `units` have a part: the same numbers, unless
it is one of milliseconds. `latencies`: every latency, a list per writer group. `left_out`:
what neither says. `aborts`: who stopped whom. `courses`: the warm-up, and in which series it is
looked for. Rows without a writer group are of all writers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from whitecap.engine.recorded import Measure
from whitecap.reports.arrays import FloatArray
from whitecap.reports.measures.counting import PERCENTILES
from whitecap.reports.measures.definitions import MEASURES
from whitecap.reports.measures.groups import WriterCommand
from whitecap.reports.measures.left_out import Due, JobsLeftOpen
from whitecap.reports.measures.measured_run import MeasuredPart, MeasuredRun
from whitecap.reports.measures.refusals import RefusalCount, ranked
from whitecap.reports.measures.tally import (
    Count,
    CountedShare,
    Latencies,
    MeasureTally,
    PerJob,
    PerMinute,
    PerMonth,
    WeightedShare,
)
from whitecap.reports.measures.truncation import SeriesCourse
from whitecap.reports.measures.warm_up import RunWarmUp

StoredRow = dict[str, Any]

WHOLE = WriterCommand("", "")
"""In rows, all writers of a run."""
_OF_STATEMENTS = ("succeeded", "without_effect", "repeated")
"""What is left out by statement, not by job."""


def tally_rows(run: MeasuredRun) -> Iterator[StoredRow]:
    """Every measure but latencies."""
    for group, part in {WHOLE: run.whole, **run.groups}.items():
        for measure, tally in part.tallies.items():
            if not isinstance(tally, Latencies):
                numbers = zip(STORED_NUMBERS, numbers_of(tally), strict=True)
                yield {**_named(group), "measure": measure.value, **dict(numbers)}


STORED_NUMBERS = ("part", "whole", "events", "units")


def numbers_of(
    tally: Count | CountedShare | WeightedShare | PerMinute | PerMonth | PerJob,
) -> tuple[float, ...]:
    """The `NUMBERS` of a tally, not numbers where it has none."""
    match tally:
        case Count(count):
            return count, 1.0, math.nan, math.nan
        case CountedShare(part, whole):
            return part, whole, part, whole
        case WeightedShare(part, whole, events, units):
            return part, whole, events, units
        case PerMinute(amount, over) | PerMonth(amount, over) | PerJob(amount, over):
            return amount, over, math.nan, math.nan


def latency_rows(run: MeasuredRun) -> Iterator[StoredRow]:
    """Every writer group's latencies in milliseconds, sorted."""
    for group, part in run.groups.items():
        latencies = part.tallies[Measure.LATENCY_P50_MS]
        assert isinstance(latencies, Latencies)
        yield {**_named(group), "latencies_ms": latencies.sorted_ms}


def left_out_rows(run: MeasuredRun) -> Iterator[StoredRow]:
    """What is open of each writer group and of all."""
    for group, part in {WHOLE: run.whole, **run.groups}.items():
        left_out = part.left_out
        yield {
            **_named(group),
            "jobs": left_out.jobs,
            Measure.IN_FLIGHT.value: left_out.in_flight,
            "given_up": left_out.given_up,
            Measure.HALF_DONE.value: left_out.half_done,
            "idle": left_out.idle,
            **{name: getattr(left_out, name) for name in _OF_STATEMENTS},
            "unfinished": left_out.unfinished,
            "writers": left_out.due.writers,
            "scheduled": left_out.due.scheduled,
            "jobs_due": left_out.due.jobs,
            "jobs_not_begun": left_out.due.not_begun,
        }


def abort_rows(run: MeasuredRun) -> Iterator[StoredRow]:
    """Who stopped whom."""
    for refusal in run.refusals:
        yield {
            **_named(refusal.loser),
            "winner_group": refusal.winner.writer_group,
            "winner_command": refusal.winner.command,
            "exception": refusal.exception,
            "count": refusal.count,
        }


def course_rows(run: MeasuredRun) -> Iterator[StoredRow]:
    """The warm-up, and every series in which to look for it."""
    for name, course in run.warm_up.courses.items():
        yield {
            "series": name,
            "started_ms": course.started_ms,
            "values": course.values,
            "warm_up_ms": run.warm_up.used_ms,
            "is_auto": run.warm_up.is_auto,
            "duration_ms": run.warm_up.duration_ms,
        }


def _warm_up(rows: Sequence[StoredRow]) -> RunWarmUp:
    if not rows:
        return RunWarmUp()
    courses = {
        row["series"]: SeriesCourse(
            *(np.asarray(row[name], float) for name in ("started_ms", "values"))
        )
        for row in rows
    }
    first = rows[0]
    return RunWarmUp(
        float(first["warm_up_ms"]), bool(first["is_auto"]), float(first["duration_ms"]), courses
    )


def run_of_rows(
    tallies: Iterable[StoredRow],
    latencies: Iterable[StoredRow],
    left_out: Iterable[StoredRow],
    aborts: Iterable[StoredRow],
    courses: Sequence[StoredRow],
) -> MeasuredRun:
    """One measured run from its rows."""
    latencies_ms = {_group(row): np.asarray(row["latencies_ms"], float) for row in latencies}
    every = list(latencies_ms.values())
    latencies_ms[WHOLE] = np.sort(np.concatenate(every)) if every else np.empty(0)
    counted: dict[WriterCommand, dict[Measure, MeasureTally]] = {}
    for row in tallies:
        measure = MEASURES[row["measure"]].measure
        counted.setdefault(_group(row), {})[measure] = tally_of(measure, row)
    parts = {
        group: MeasuredPart(_complete(counted[group], latencies_ms[group]), open_)
        for group, open_ in map(left_out_of_row, left_out)
    }
    whole = parts.pop(WHOLE)
    refusals = ranked(_refusal(row) for row in aborts)
    return MeasuredRun(whole, parts, refusals, _warm_up(courses))


def _complete(
    counted: Mapping[Measure, MeasureTally], latencies_ms: FloatArray
) -> dict[Measure, MeasureTally]:
    """All tallies in the order of the definitions, the percentiles of the latencies among them."""
    percentiles = {m: Latencies(latencies_ms, percent) for m, percent in PERCENTILES.items()}
    tallies: dict[Measure, MeasureTally] = {**counted, **percentiles}
    return {each.measure: tallies[each.measure] for each in MEASURES.values()}


def tally_of(measure: Measure, row: Mapping[str, Any]) -> MeasureTally:
    """The tally of any measure but a latency, back from its `NUMBERS`."""
    kind = MEASURES[measure].kind
    made: Callable[..., MeasureTally] = kind
    numbers = (float(row[name]) for name in STORED_NUMBERS[: len(kind.__struct_fields__)])
    return made(*numbers)


def left_out_of_row(row: Mapping[Any, Any]) -> tuple[WriterCommand, JobsLeftOpen]:
    """A row of what is left out: of which writer group (or `WHOLE`), and what."""
    due = Due(row["writers"], row["scheduled"], row["jobs_due"], row["jobs_not_begun"])
    open_jobs = row[Measure.IN_FLIGHT.value], row["given_up"], row["unfinished"]
    of_ended = row[Measure.HALF_DONE.value], row["idle"]
    of_statements = (row.get(name, 0) for name in _OF_STATEMENTS)
    left_out = JobsLeftOpen(row["jobs"], *open_jobs, due, *of_ended, *of_statements)
    return _group(row), left_out


def _refusal(row: StoredRow) -> RefusalCount:
    winner = WriterCommand(row["winner_group"], row["winner_command"])
    return RefusalCount(_group(row), winner, row["exception"], row["count"], row["count"])


def _named(group: WriterCommand) -> StoredRow:
    """The columns of a group; none of its names where all writers are meant."""
    return {"writer_group": group.writer_group or None, "command": group.command or None}


def _group(row: Mapping[Any, Any]) -> WriterCommand:
    names = (row["writer_group"], row["command"])
    return WriterCommand(*("" if _is_missing(name) else name for name in names))


def _is_missing(name: Any) -> bool:
    return name is None or (isinstance(name, float) and math.isnan(name))
