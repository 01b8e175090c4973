"""docs/speed.md: what a commit attempt costs, and what its time goes into."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator, Sequence
from datetime import date
from pathlib import Path

from msgspec import Struct

from benchmarks.markdown import table
from benchmarks.measure import Measurement
from benchmarks.profiler import PARTS
from benchmarks.workloads import TimedScenario

PAGE = Path(__file__).parents[1] / "docs" / "speed.md"

INTRODUCTION = """\
# What a commit attempt costs

`make bench` writes this page; last on {day}, with Python {python} on {cores} cores. What a sweep
takes follows from it: attempts are in every result (`attempts` of `whitecap run --json`).

CPU time, one core, from the start of the simulation to the closed recording, for each commit
attempt. A unit is one bare SimPy timeout in the same process, {unit:.2f} µs here, so that machines
compare. Made workloads have ten writers at one commit rate, and more of them at the same;
cells are those of `scenarios/events.yaml`, from the 2nd to the 4th simulated hour. A *goal* is what
the project wants and had hoped for from prototypes; bold is within it.
"""

PARTS_OF_TIME = """\
## What the time goes into

Units an attempt of the part of the product that was at work (`benchmarks/profiler.py`), in another
run of the same: `waiting` is SimPy and the processes' clocks, `requests` what a transaction asks of
the store and waits for, with listings that grow with the log, `rows` where values are, which files
hold them and how rewritten files share them.
"""

FLOOR = """\
No part is most of it. An append is some 400 calls of functions and 7,200 bytecodes, the longest
function a tenth of these; of its 590,000 machine instructions a third are the interpreter's own
loop (counted under valgrind, 2026-11-25). What a prototype for one statement and one schema left
out (listings that grow with the log, checksums, checkpoints, recordings, rows that files share) is
what remains; compiling the hot modules took a seventh off an append
([decision 158](decisions.md)).
"""


class Speed(Struct, frozen=True):
    """What a workload costs; `unit_us`: a bare timeout then; `shares` of its time by part."""

    workload: TimedScenario
    measured: Measurement
    unit_us: float
    shares: dict[str, float]

    @property
    def units(self) -> float:
        """Bare timeouts for each attempt."""
        return self.measured.us_per_attempt / self.unit_us

    @property
    def cells(self) -> tuple[str, ...]:
        """A row of the table, without the goal."""
        measured = self.measured
        return (
            self.workload.name,
            f"{measured.attempts:,}",
            f"{measured.events_per_attempt:.1f}",
            f"{measured.us_per_attempt:,.0f}",
            f"{self.units:,.0f}",
        )

    def line(self) -> str:
        """The same for a terminal, with its head."""
        return " | ".join(
            f"{cell} {head}".rstrip() for head, cell in zip(_HEADS, self.cells, strict=True)
        )


_HEADS = ("", "attempts", "events", "µs", "units")


def write(rows: Sequence[Speed], day: date) -> None:
    """Write the page."""
    PAGE.write_text("\n".join(page_of(rows, day)), encoding="utf-8")


def page_of(rows: Sequence[Speed], day: date) -> Iterator[str]:
    """Its lines."""
    yield INTRODUCTION.format(
        day=day.isoformat(),
        python=platform.python_version(),
        cores=os.cpu_count(),
        unit=min(row.unit_us for row in rows),
    )
    yield from _table(rows)
    yield PARTS_OF_TIME
    yield from _parts([row for row in rows if row.shares])
    yield FLOOR.rstrip("\n")
    yield ""


def _table(rows: Sequence[Speed]) -> Iterator[str]:
    head = ("workload", "attempts", "events an attempt", "µs", "units", "goal")
    yield from table(head, map(_beside_its_goal, rows), numbers=True)
    yield ""


def _beside_its_goal(row: Speed) -> tuple[object, ...]:
    """Units that keep the goal are bold."""
    *cells, units = row.cells
    goal = row.workload.goal
    is_kept = goal is not None and row.units <= goal
    return (*cells, f"**{units}**" if is_kept else units, goal or "")


def _parts(rows: Sequence[Speed]) -> Iterator[str]:
    shares = ((part, *(f"{row.units * row.shares[part]:.0f}" for row in rows)) for part in PARTS)
    yield from table(("", *(row.workload.name for row in rows)), shares, numbers=True)
    yield ""
