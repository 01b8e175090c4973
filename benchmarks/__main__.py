"""`make bench`: print the table. Names on the command line choose workloads by how they begin."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterator
from functools import partial

from rich.console import Console
from rich.table import Table

from benchmarks.bare_simpy import unit_seconds
from benchmarks.measure import Measurement, measure
from benchmarks.workloads import MIXES, demo_cells, made

WRITERS = (10, 100, 1_000)
LIVE_FILES = (100, 10_000, 100_000, 1_000_000)
FEW_FILES, SOME_WRITERS, ATTEMPTS = 1_000, 10, 4_000
LATE = 12_000
"""Transactions of a long run of merges, some 21,000 attempts: its last tenth is measured."""


def workloads() -> Iterator[tuple[str, Callable[[], Measurement]]]:
    """Each mix, more writers at the same rate, more files, and the demo's cells."""
    for mix in MIXES:
        yield _made(mix, SOME_WRITERS, FEW_FILES)
    yield _late("merge-heavy")
    for writers in WRITERS[1:]:
        yield _made("append-heavy", writers, FEW_FILES)
    for files in LIVE_FILES:
        yield _made("merge-heavy", SOME_WRITERS, files)
    for name, scenario in demo_cells():
        yield f"events · {name}", partial(measure, name, scenario, from_share=0.5)


def _made(mix: str, writers: int, files: int) -> tuple[str, Callable[[], Measurement]]:
    name = f"{mix} · {writers:,} writers · {files:,} files"
    return name, lambda: measure(name, made(mix, writers, files, ATTEMPTS))


def _late(mix: str) -> tuple[str, Callable[[], Measurement]]:
    name = f"{mix} · {SOME_WRITERS} writers · {FEW_FILES:,} files · late"
    scenario = made(mix, SOME_WRITERS, FEW_FILES, LATE)
    return name, lambda: measure(name, scenario, from_share=0.9)


def _chosen(beginnings: tuple[str, ...]) -> list[tuple[str, Callable[[], Measurement]]]:
    """The workloads whose names begin so. Exits where some beginning is that of none."""
    offered = list(workloads())
    wrong = [each for each in beginnings if not any(name.startswith(each) for name, _ in offered)]
    if wrong:
        names = "\n".join(f"  {name}" for name, _ in offered)
        print(
            f"error: no workload begins with {', '.join(wrong)}; there are\n{names}",
            file=sys.stderr,
        )
        raise SystemExit(2)
    return [(name, run) for name, run in offered if not beginnings or name.startswith(beginnings)]


def main() -> None:
    """Measure and print, a row as soon as it is known."""
    chosen = _chosen(tuple(sys.argv[1:]))
    console = Console()
    table = Table(title="CPU per commit attempt, in bare SimPy timeouts of the same process")
    for heading in ("workload", "attempts", "events/attempt", "µs/attempt", "units/attempt"):
        table.add_column(heading, justify="left" if heading == "workload" else "right")
    unit_s = unit_seconds()
    for name, run in chosen:
        gc.collect()
        measured, before_s = run(), unit_s
        unit_s = unit_seconds()
        units = measured.us_per_attempt / (1e6 * min(before_s, unit_s))
        shown = (
            f"{measured.attempts:,}", f"{measured.events_per_attempt:.1f}",
            f"{measured.us_per_attempt:,.0f}", f"{units:,.0f}",
        )  # fmt: skip
        table.add_row(name, *shown)
        console.print(" | ".join((name, *shown)))
    console.print(table)


if __name__ == "__main__":
    main()
