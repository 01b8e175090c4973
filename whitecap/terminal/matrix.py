"""The conflict matrices in the terminal: the answer, the published tables, then every pair."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from rich.console import Console
from rich.text import Text

from whitecap.reports.pages.matrix_page import (
    all_pairs,
    applies,
    headline,
    platform,
    published_grid,
    symbol,
)
from whitecap.reports.words import counted
from whitecap.terminal.console import new_console
from whitecap.terminal.table import PrintedColumn, print_indented, print_named, show_table

_Plain = Mapping[str, Any]


def show(matrix: _Plain, with_witnesses: bool) -> None:
    """Print a matrix; `with_witnesses`: every conflict with its witness instead of the grid."""
    console = new_console()
    print_indented(console, headline(matrix), by=0, style="bold")
    if matrix["warning"]:
        print_indented(console, matrix["warning"], by=0, style="yellow")
    print_indented(console, _how(matrix), by=0, style="dim")
    for table in matrix["published"]:
        _show_published(console, table)
    for grid in matrix["grids"]:
        if with_witnesses:
            _show_witnesses(console, grid, len(matrix["grids"]) > 1)
        else:
            _show_pairs(console, matrix, grid)
    if not with_witnesses:
        console.print("● yes  ◐ only in some circumstances  · never", style="dim")
        console.print("witnesses: --format html --out FILE, or --pair A B", style="dim")


def _how(matrix: _Plain) -> str:
    return (
        f"{platform(matrix)}: {matrix['schedules']:,} schedules of"
        f" {counted(len(matrix['commands']), 'command')}"
        f" on {counted(len(matrix['tables']), 'table')}"
        f" in {counted(len(matrix['situations']), 'situation')}"
    )


def _show_published(console: Console, table: _Plain) -> None:
    grid = published_grid(table)
    columns = [PrintedColumn(heading, text=True) for heading in ("", *grid.columns)]
    rows = [
        [Text(title, style="bold"), *(_published_cell(cell) for cell in cells)]
        for title, cells in grid.rows
    ]
    console.print()
    show_table(console, columns, rows, title=table["title"], caption=table["source"], lines=True)
    read = [cell for cell in table["cells"] if cell["reading"]]
    readings = [f"{cell['row']} and {cell['column']}: {cell['reading']}" for cell in read]
    for text in (*readings, *table["notes"]):
        print_indented(console, text, by=0, style="dim")


def _published_cell(cell: _Plain | None) -> Text:
    if cell is None:
        return Text()
    text = Text(cell["sentence"], style="red" if cell["can_conflict"] else "green")
    if cell["agrees"] and applies(cell):
        text.append(" ✓", style="green")
    if cell["agrees"] and not applies(cell):
        text.append(f"\npublished: {cell['published']}", style="dim")
    if cell["agrees"] is False:
        text.append(f"\npublished: {cell['published']}", style="bold red")
    if cell["only_when"]:
        text.append(f"\nhere {cell['only_when']}", style="dim")
    return text


MARK_WIDTH = 3
"""A number of two digits, and a blank before it."""


def _show_pairs(console: Console, matrix: _Plain, pairs: _Plain) -> None:
    """One line for each command; as many blocks of columns as the width asks for."""
    grid = all_pairs(matrix, pairs)
    width = max(len(name) for name in grid.columns) + MARK_WIDTH
    blocks = _blocks(len(grid.columns), (console.width - width + 1) // MARK_WIDTH)
    console.print()
    console.print(Text(pairs["title"], style="bold"))
    for block in blocks:
        numbers = "".join(f"{at + 1:{MARK_WIDTH}}" for at in block)[1:]
        console.print(Text(f"{'aborted by number':{width}}{numbers}", style="dim"), soft_wrap=True)
        for number, (title, cells) in enumerate(grid.rows, start=1):
            line = Text(f"{number:2} {title:{width - MARK_WIDTH}} ")
            line.append(Text("  ").join(_mark(cells[at]) for at in block))
            console.print(line, soft_wrap=True)
        if block is not blocks[-1]:
            console.print()


def _blocks(columns: int, most: int) -> list[range]:
    """The columns in blocks of about the same size, each of `most` at most."""
    number = math.ceil(columns / max(most, 1))
    bounds = [round(columns * block / number) for block in range(number + 1)]
    return [range(begin, end) for begin, end in pairwise(bounds)]


def _mark(cell: _Plain | None) -> Text:
    styles = {"●": "red", "◐": "yellow", "·": "dim"}
    mark = symbol(cell)
    return Text(mark, style=styles.get(mark, ""))


def _show_witnesses(console: Console, grid: _Plain, with_title: bool) -> None:
    if with_title:
        console.print()
        print_indented(console, grid["title"], by=0, style="bold")
    for cell in grid["pairs"]:
        _show_pair(console, cell)


def _show_pair(console: Console, cell: _Plain) -> None:
    console.print()
    name = f"{cell['loser']} aborted by {cell['winner']}"
    if not cell["can_conflict"]:
        print_indented(console, f"{name}: never", by=0, style="green")
        return
    only = f"; {cell['only_when']}" if cell["only_when"] else ""
    summary = f"{name}: {', '.join(cell['exceptions'])}{only}"
    print_indented(console, summary, by=0, style="bold red")
    witness = cell["witness"]
    where = f"on a table: {witness['table']}; about {witness['situation']}"
    print_indented(console, where, style="dim")
    for sql in witness["before"]:
        print_named(console, {"before the race": sql})
    print_named(console, witness["statements"])
    for number, step in enumerate(witness["steps"], start=1):
        style = "red" if step["is_conflict"] else ""
        text = f"{step['who']} {step['text']}"
        print_indented(console, text, by=5, style=style, first=f"  {number}.")
    print_indented(console, f"{witness['rule_text']} ({witness['source']})", style="dim")
