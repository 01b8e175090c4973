"""What moves a result, in the terminal: a table per measure, the largest effect first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from rich.text import Text

from whitecap.reports.measures import written
from whitecap.reports.sensitivity.result import MovedMeasure, Sensitivity
from whitecap.reports.sensitivity.wording import (
    change_text,
    effect_text,
    headline,
    notes,
    verdict,
)
from whitecap.terminal.console import new_console
from whitecap.terminal.deciding.giving import print_files
from whitecap.terminal.table import EMPTY, CellText, PrintedColumn, print_indented, show_table

COLUMNS = (
    PrintedColumn("parameter", text=True),
    PrintedColumn("change", text=True),
    PrintedColumn("there", leave=0),
    PrintedColumn("effect (95 %)", text=True),
)

NAME_WIDTH = 30
"""Paths are broken at their dots, where that leaves room for the effect at 80 columns."""


def show_sensitivity(sensitivity: Sensitivity, files: Sequence[Path] = ()) -> None:
    """Print it; `files` are those that were written."""
    console = new_console()
    for moved in sensitivity.measures:
        print_indented(console, headline(moved), by=0)
        print_indented(console, verdict(moved), by=0, style="bold")
        console.print()
        show_table(console, COLUMNS, list(_rows(moved)))
        console.print()
    for note in notes(sensitivity):
        print_indented(console, note, by=0, style="dim")
    print_files(console, ("result", "figure"), files)


def _rows(moved: MovedMeasure) -> Iterator[list[CellText]]:
    for moving in moved.moving:
        for number, effect in enumerate(moving.effects):
            style = "" if effect.is_distinguishable else "dim"
            there = written(effect.estimate.point, moved.followed.measure.unit)
            yield [
                broken(moving.path) if not number else EMPTY,
                change_text(moving, effect),
                there,
                Text(effect_text(moved, effect), style=style),
            ]


def broken(path: str) -> str:
    """A dotted path on several lines, each as long as it may be."""
    lines = [""]
    for part in path.split("."):
        dotted = f"{lines[-1]}.{part}" if lines[-1] else part
        if lines[-1] and len(dotted) > NAME_WIDTH:
            lines[-1] += "."
            lines.append(part)
        else:
            lines[-1] = dotted
    return "\n".join(lines)
