"""What one run did: in the terminal, and as plain values for `--json`."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from rich.text import Text

from whitecap.reports.natural_order import natural
from whitecap.sim.recording import Recording
from whitecap.sim.summary import Line, heading, shown_latency, summary_of
from whitecap.terminal.console import new_console
from whitecap.terminal.table import EMPTY, Column, print_indented, show_table

COLUMNS = (
    Column("writer", text=True),
    Column("command", text=True),
    Column("submitted"),
    Column("committed"),
    Column("aborted"),
    Column("unknown"),
    Column("open"),
    Column("reruns", leave=3),
    Column("given up"),
    Column("attempts", leave=1),
    Column("p50", leave=4),
    Column("p95"),
    Column("p99", leave=2),
    Column("wasted"),
)
NAMES = 2
"""The columns that say whose line it is."""

CAPTION = "p50, p95, p99: first submission to commit. wasted: compute lost to aborts."


def show_run(recording: Recording) -> None:
    """A table per writer group and command, then why transactions were aborted."""
    console = new_console()
    lines = _lines(recording)
    console.print(Text(" · ".join(heading(recording))))
    console.print()
    rows = [list(_cells(line)) for line in lines]
    used = [at for at in range(len(COLUMNS)) if any(row[at] != EMPTY for row in rows)]
    show_table(
        console,
        [COLUMNS[at] for at in used],
        [[row[at] for at in used] for row in rows],
        names=NAMES,
        stressed=[at for at, line in enumerate(lines) if not line.command],
        caption=CAPTION,
    )
    for line in lines:
        if line.reasons and line.command:
            told = ", ".join(f"{name} {count:,}" for name, count in line.reasons.items())
            print_indented(console, f"{line.writer} {line.command} aborted: {told}", by=0)


def _lines(recording: Recording) -> list[Line]:
    """In the order in which people count, all together last."""
    return sorted(summary_of(recording), key=lambda line: (not line.command, natural(line.writer)))


def _cells(line: Line) -> Iterator[str]:
    yield line.writer
    yield line.command
    for count in (
        line.submitted, line.committed, line.aborted, line.unknown, line.in_flight, line.reruns,
        line.given_up, line.attempts,
    ):  # fmt: skip
        yield f"{count:,}" if count else EMPTY
    for latency_ms in (line.latency_p50_ms, line.latency_p95_ms, line.latency_p99_ms):
        yield shown_latency(latency_ms)
    wasted = line.wasted_compute_share
    yield EMPTY if math.isnan(wasted) else f"{wasted:.0%}".replace("%", " %")


def run_document(recording: Recording) -> dict[str, Any]:
    """The same, with the numbers as they are."""
    manifest = recording.manifest
    kept = (
        "scenario_name", "scenario_hash", "seed", "replication", "dialect", "labels",
        "duration_ms", "warm_up_ms",
    )  # fmt: skip
    return {**{key: manifest[key] for key in kept}, "writers": _lines(recording)}
