"""An explanation in the terminal: the answer first, then why, then what avoids it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.text import Text

from whitecap.terminal.console import new_console
from whitecap.terminal.table import CellText, PrintedColumn, print_indented, print_named, show_table

_Plain = Mapping[str, Any]


def show(explanation: _Plain) -> None:
    """Print an explanation."""
    console = new_console()
    is_sound = not explanation["can_conflict"] and not explanation["damage"]
    style = "bold green" if is_sound else "bold red"
    print_indented(console, explanation["answer"], by=0, style=style)
    about = f"{explanation['dialect']}, table {explanation['table']}: {explanation['facts']}"
    print_indented(console, about, by=0, style="dim")
    print_named(console, explanation["statements"])
    _show_orders(console, explanation)
    _show_damage(console, explanation["damage"])
    for refusal in explanation["refusals"]:
        when = " side by side" if refusal["side_by_side"] else " after the other"
        when = "" if refusal["always"] else when
        print_indented(
            console, f"{refusal['who']} is refused{when}: {refusal['message']}", style="red"
        )
    shown_rules: set[str] = set()
    for conflict in explanation["conflicts"]:
        _show_conflict(console, conflict, conflict["rule"] not in shown_rules)
        shown_rules.add(conflict["rule"])
    _show_suggestions(console, explanation)


ORDERS = (
    PrintedColumn("order", text=True),
    PrintedColumn("A", text=True),
    PrintedColumn("B", text=True),
)


def _show_orders(console: Console, explanation: _Plain) -> None:
    """Orders that look the same are shown once; what was done step by step is on the page."""
    rows: dict[tuple[str, ...], list[CellText]] = {}
    for order in explanation["orders"]:
        endings = [
            Text(ending, style="red" if who in order["aborted"] else "")
            for who, ending in order["endings"].items()
        ]
        rows.setdefault((order["title"], *order["endings"].values()), [order["title"], *endings])
    console.print()
    show_table(console, ORDERS, list(rows.values()))
    console.print()


def _show_damage(console: Console, damage: Sequence[_Plain]) -> None:
    for order in damage:
        print_indented(console, f"{order['order']}: {order['text']}", style="red")
    if damage:
        console.print()


def _show_conflict(console: Console, conflict: _Plain, with_rule: bool) -> None:
    """A rule that was told for the other statement is not told again."""
    headline = f"{conflict['loser']} is aborted by {conflict['winner']}: {conflict['exception']}"
    print_indented(console, headline, by=0, style="bold")
    if with_rule:
        print_indented(console, conflict["rule_text"])
        print_indented(console, conflict["source"], style="dim")
    facts = {
        "file": conflict["file"],
        "partition": conflict["partition"],
        f"{conflict['loser']} reads": conflict["reads"],
        "message": conflict["message"],
        "run again": f"{conflict['loser']} {conflict['rerun']}",
    }
    print_named(console, {name: text or "" for name, text in facts.items()})
    console.print()


def _show_suggestions(console: Console, explanation: _Plain) -> None:
    if explanation["suggestions"]:
        console.print(Text("What avoids it (each checked in every order)", style="bold"))
    elif explanation["can_conflict"]:
        vain = "Nothing that was tried avoids it:" if explanation["tried"] else "What avoids it:"
        console.print(Text(vain, style="bold"))
    for suggestion in explanation["suggestions"]:
        print_indented(console, f"✓ {suggestion['title']}", style="green")
        for line in suggestion["how"]:
            print_indented(console, line, by=4)
        if suggestion["note"]:
            print_indented(console, suggestion["note"], by=4, style="dim")
    if explanation["otherwise"]:
        lead = "Otherwise: " if explanation["suggestions"] else ""
        print_indented(console, f"{lead}{explanation['otherwise']}")
    if explanation["tried"]:
        print_indented(console, f"no help: {'; '.join(explanation['tried'])}", style="dim")
    if explanation["untried"]:
        print_indented(console, explanation["untried"], style="dim")
