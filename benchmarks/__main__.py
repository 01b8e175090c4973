"""`make bench`: print the table of ratios."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console
from rich.table import Table

from benchmarks.measure import Measurement, measure
from benchmarks.workloads import MIXES

WRITERS = (10, 100, 1_000)
LIVE_FILES = (100, 10_000, 100_000)
FEW_FILES, SOME_WRITERS = 1_000, 10


def measurements() -> Iterator[Measurement]:
    """More writers on one table, then more files under the same writers."""
    for mix in MIXES:
        for writers in WRITERS:
            yield measure(mix, writers, FEW_FILES)
        for live_files in LIVE_FILES:
            yield measure(mix, SOME_WRITERS, live_files)


def main() -> None:
    """Measure everything and print it, a row as soon as it is known."""
    console = Console()
    table = Table(title="A run beside a bare SimPy loop of as many events, same process")
    headings = ("workload", "writers", "live files", "attempts", "attempts/s", "µs/attempt")
    for heading in (*headings, "events/s", "x bare SimPy"):
        table.add_column(heading, justify="left" if heading == "workload" else "right")
    for m in measurements():
        row = (m.mix, f"{m.writers:,}", f"{m.live_files:,}", f"{m.attempts:,}")
        speeds = (f"{m.attempts_per_second:,.0f}", f"{m.microseconds_per_attempt:,.0f}")
        table.add_row(*row, *speeds, f"{m.events_per_second:,.0f}", f"{m.ratio:.1f}")
        console.print(f"{m.mix}, {m.writers:,} writers, {m.live_files:,} files: {m.ratio:.1f}x")
    console.print(table)


if __name__ == "__main__":
    main()
