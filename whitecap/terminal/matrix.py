"""The conflict matrices in the terminal: the answer, the published tables, then every pair."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from whitecap.reports.matrix_page import all_pairs, applies, count, headline, published_grid, symbol
from whitecap.terminal.console import new_console

Plain = Mapping[str, Any]


def show(matrix: Plain, with_witnesses: bool) -> None:
    """Print a matrix; `with_witnesses`: every conflict with its witness instead of the grid."""
    console = new_console()
    console.print(headline(matrix), style="bold")
    console.print(_how(matrix), style="dim")
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


def _how(matrix: Plain) -> str:
    return (
        f"{matrix['dialect']}: {matrix['schedules']:,} schedules of"
        f" {count(matrix['commands'], 'command')} on {count(matrix['tables'], 'table')}"
        f" in {count(matrix['situations'], 'situation')}"
    )


def _show_published(console: Console, table: Plain) -> None:
    grid = published_grid(table)
    shown = Table(title=table["title"], caption=table["source"], box=box.ROUNDED, show_lines=True)
    shown.title_justify = shown.caption_justify = "left"
    shown.title_style, shown.caption_style = "bold", "dim"
    for column in ("", *grid.columns):
        shown.add_column(column, overflow="fold")
    for title, cells in grid.rows:
        shown.add_row(Text(title, style="bold"), *(_published_cell(cell) for cell in cells))
    console.print()
    console.print(shown)
    read = [cell for cell in table["cells"] if cell["reading"]]
    readings = [f"{cell['row']} and {cell['column']}: {cell['reading']}" for cell in read]
    for text in (*readings, *table["notes"]):
        console.print(Text(text, style="dim"))


def _published_cell(cell: Plain | None) -> Text:
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


def _show_pairs(console: Console, matrix: Plain, pairs: Plain) -> None:
    """One line for each command; lines wider than the terminal are left to it."""
    grid = all_pairs(matrix, pairs)
    width = max(len(name) for name in grid.columns) + 3
    numbers = "".join(f"{number:3}" for number, _ in enumerate(grid.columns, start=1))
    console.print()
    console.print(Text(pairs["title"], style="bold"))
    console.print(Text(f"{'aborted by number':{width}}{numbers}", style="dim"), soft_wrap=True)
    for number, (title, cells) in enumerate(grid.rows, start=1):
        line = Text(f"{number:2} {title:{width - 3}}")
        for cell in cells:
            line.append("  ").append(_mark(cell))
        console.print(line, soft_wrap=True)


def _mark(cell: Plain | None) -> Text:
    styles = {"●": "red", "◐": "yellow", "·": "dim"}
    mark = symbol(cell)
    return Text(mark, style=styles.get(mark, ""))


def _show_witnesses(console: Console, grid: Plain, with_title: bool) -> None:
    if with_title:
        console.print()
        console.print(grid["title"], style="bold")
    for cell in grid["pairs"]:
        _show_pair(console, cell)


def _show_pair(console: Console, cell: Plain) -> None:
    console.print()
    name = f"{cell['loser']} aborted by {cell['winner']}"
    if not cell["can_conflict"]:
        console.print(f"{name}: never", style="green")
        return
    only = f"; {cell['only_when']}" if cell["only_when"] else ""
    console.print(Text(f"{name}: {', '.join(cell['exceptions'])}{only}", style="bold red"))
    witness = cell["witness"]
    console.print(f"  on a table: {witness['table']}; about {witness['situation']}", style="dim")
    for sql in witness["before"]:
        console.print(Text(f"  before the race  {sql}"))
    for who, sql in witness["statements"].items():
        console.print(Text(f"  {who}  {sql}"))
    for number, step in enumerate(witness["steps"], start=1):
        style = "red" if step["is_conflict"] else ""
        console.print(Text(f"  {number}. {step['who']} {step['text']}", style=style))
    console.print(Text(f"  {witness['rule_text']} ({witness['source']})", style="dim"))
