"""Two recorded runs or sweeps, side by side in the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console

from whitecap.checking.recorded import Compared
from whitecap.reports.comparisons.changes import ChangeVerdict, MeasureChange
from whitecap.reports.comparisons.wording import (
    basis_text,
    counts_text,
    notes_of,
    writers_text,
)
from whitecap.reports.measures import MEASURES, written
from whitecap.reports.statistics import written_difference_bounds, written_gap
from whitecap.reports.words import sentence
from whitecap.terminal.console import new_console
from whitecap.terminal.table import PrintedColumn, print_indented, print_named, show_table

COLUMNS = (
    PrintedColumn("", text=True),
    PrintedColumn("before", leave=0),
    PrintedColumn("after"),
    PrintedColumn("difference"),
    PrintedColumn("interval", text=True),
    PrintedColumn(""),
)

SHOWN = tuple(verdict for verdict in ChangeVerdict if verdict is not ChangeVerdict.SAME)

STRESSED = (ChangeVerdict.WORSE, ChangeVerdict.BETTER, ChangeVerdict.DIFFERENT)


def show_compared(compared: Compared) -> None:
    """A table for each cell of what differs at all, then what it rests on."""
    console, changes = new_console(), compared.changes
    print_named(console, {"before": compared.before.place, "after": compared.after.place}, by=0)
    console.print()
    for cell in dict.fromkeys(change.cell for change in changes.having(*SHOWN)):
        _show_cell(console, cell, [each for each in changes.having(*SHOWN) if each.cell == cell])
        console.print()
    print_indented(console, f"{counts_text(changes)} ({basis_text(changes)})", by=0)
    for note in (*compared.notes, *notes_of(changes)):
        print_indented(console, sentence(note), by=0, style="yellow")


def _show_cell(console: Console, cell: str, changes: Sequence[MeasureChange]) -> None:
    """Writer groups as headings, their measures below."""
    rows: list[list[str]] = []
    stressed = []
    for group in dict.fromkeys(change.group for change in changes):
        own = [change for change in changes if change.group == group]
        rows.append([writers_text(own[0]), *[""] * (len(COLUMNS) - 1)])
        for change in own:
            if change.verdict in STRESSED:
                stressed.append(len(rows))
            rows.append(_row(change))
    show_table(console, COLUMNS, rows, stressed=stressed, title=cell)


def _row(change: MeasureChange) -> list[str]:
    unit, gap = change.measure.unit, change.difference
    return [
        f"  {MEASURES[change.measure].called}",
        written(change.then.point, unit),
        written(change.now.point, unit),
        written_gap(gap, unit),
        written_difference_bounds(gap, unit),
        change.verdict.value if change.verdict in STRESSED else "",
    ]
