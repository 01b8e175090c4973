"""An explanation in the terminal: the answer first, then why, then what avoids it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich import box
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from whitecap.terminal.console import new_console

Plain = Mapping[str, Any]


def show(explanation: Plain) -> None:
    """Print an explanation."""
    console = new_console()
    style = "bold red" if explanation["can_conflict"] else "bold green"
    console.print(Text(explanation["answer"], style=style))
    about = f"{explanation['dialect']}, table {explanation['table']}: {explanation['facts']}"
    console.print(Text(about, style="dim"))
    for who, sql in explanation["statements"].items():
        _indented(console, f"{who}  {sql}")
    _show_orders(console, explanation)
    for refusal in explanation["refusals"]:
        when = "" if refusal["always"] else " after the other"
        _indented(console, f"{refusal['who']} is refused{when}: {refusal['message']}", style="red")
    told: set[str] = set()
    for conflict in explanation["conflicts"]:
        _show_conflict(console, conflict, conflict["rule"] not in told)
        told.add(conflict["rule"])
    _show_suggestions(console, explanation)


def _indented(console: Console, text: str, by: int = 2, style: str = "") -> None:
    folded = Text(text, style=style, overflow="fold")
    console.print(Padding(folded, (0, 0, 0, by), expand=False))


def _show_orders(console: Console, explanation: Plain) -> None:
    """Orders that look the same are shown once; what was done step by step is on the page."""
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 2, 0, 0))
    for title in ("order", "A", "B"):
        table.add_column(title)
    shown = set()
    for order in explanation["orders"]:
        row = (order["title"], *order["endings"].values())
        if row in shown:
            continue
        shown.add(row)
        endings = (
            Text(ending, style="red" if who in order["aborted"] else "")
            for who, ending in order["endings"].items()
        )
        table.add_row(order["title"], *endings)
    console.print(table)


def _show_conflict(console: Console, conflict: Plain, with_rule: bool) -> None:
    """A rule that was told for the other statement is not told again."""
    told = f"{conflict['loser']} is aborted by {conflict['winner']}: {conflict['exception']}"
    console.print(Text(told, style="bold"))
    if with_rule:
        _indented(console, conflict["rule_text"])
        _indented(console, conflict["source"], style="dim")
    facts = {
        "file": conflict["file"],
        "partition": conflict["partition"],
        f"{conflict['loser']} reads": conflict["reads"],
        "message": conflict["message"],
        "run again": f"{conflict['loser']} {conflict['rerun']}",
    }
    table = Table.grid(padding=(0, 2, 0, 0))
    for name, text in facts.items():
        if text:
            table.add_row(Text(f"  {name}", style="dim"), Text(text, overflow="fold"))
    console.print(table)
    console.print()


def _show_suggestions(console: Console, explanation: Plain) -> None:
    if explanation["suggestions"]:
        console.print(Text("What avoids it (each checked in every order)", style="bold"))
    elif explanation["can_conflict"]:
        vain = "Nothing that was tried avoids it:" if explanation["tried"] else "What avoids it:"
        console.print(Text(vain, style="bold"))
    for suggestion in explanation["suggestions"]:
        _indented(console, f"✓ {suggestion['title']}", style="green")
        for line in suggestion["how"]:
            _indented(console, line, by=4)
        if suggestion["note"]:
            _indented(console, suggestion["note"], by=4, style="dim")
    if explanation["otherwise"]:
        lead = "Otherwise: " if explanation["suggestions"] else ""
        _indented(console, f"{lead}{explanation['otherwise']}")
    if explanation["tried"]:
        _indented(console, f"no help: {'; '.join(explanation['tried'])}", style="dim")
    if explanation["untried"]:
        _indented(console, explanation["untried"], style="dim")
