"""What stands below a summary: what it leaves out, who stopped whom, and what was expected."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

from whitecap.reports.measures.groups import Group
from whitecap.reports.measures.left_out import LeftOut, left_out_sentences
from whitecap.reports.measures.refusals import Refusal, refusal_sentences

if TYPE_CHECKING:
    from whitecap.reports.expectations.cells import JudgedCells
    from whitecap.reports.expectations.judging import Judged
    from whitecap.reports.layout import Layout

CAUSES_SHOWN = 4
"""Of each loser; the table of refusals has them all."""

CELLS_SHOWN = 3
"""Of those that do not meet an expectation."""

MARKS = {
    "met": ("✓", "green"),
    "missed": ("✗", "red"),
    "undecided": ("?", "yellow"),
    "too few to judge": ("·", "dim"),
}
"""By how an expectation or objective came out; their own types would load what estimates need."""


def show_left_out(console: Console, left_out: Mapping[Group, LeftOut]) -> None:
    """A line for each writer group whose success and latency do not say all."""
    for sentence in left_out_sentences(left_out):
        console.print(Text(sentence))


def show_refusals(console: Console, refusals: Sequence[Refusal]) -> None:
    """Each loser with its most frequent causes, then what that amounts to."""
    for loser in dict.fromkeys(each.loser for each in refusals):
        own = [each for each in refusals if each.loser == loser]
        console.print(Text(f"{_named(loser)}: {own[0].aborts:,} aborted"))
        console.print(_causes(own[:CAUSES_SHOWN]))
        if len(own) > CAUSES_SHOWN:
            rest = own[CAUSES_SHOWN:]
            causes = "one other cause" if len(rest) == 1 else f"{len(rest)} other causes"
            console.print(Text(f"  {sum(each.count for each in rest):,} for {causes}"))
    for sentence in refusal_sentences(refusals):
        console.print(Text(f"{sentence}."))


def _causes(refusals: Sequence[Refusal]) -> Table:
    table = Table.grid(padding=(0, 2, 0, 0))
    for justify in ("right", "right", "left", "left"):
        table.add_column(justify=justify, overflow="fold")
    for each in refusals:
        share = f"{100 * each.share:.0f} %"
        table.add_row(f"  {each.count:,}", share, _named(each.winner), each.exception)
    return table


def _named(group: Group) -> str:
    return " ".join(part for part in group if part)


def show_overload(console: Console, layout: Layout, left_out: Mapping[str, LeftOut]) -> None:
    """The cells of a sweep in which work piled up, over all replications."""
    for cell, each in left_out.items():
        if each.due.is_overloaded:
            counted = f"{each.due.not_begun:,} of {each.due.jobs:,} due jobs had not begun"
            console.print(Text(f"{layout.title(cell)}: {counted}"))


def show_judged_cells(console: Console, layout: Layout, judged: Sequence[JudgedCells]) -> None:
    """A line per expectation of a sweep, and below it the cells that do not meet it."""
    console.print(Text("expected, judged over replications:", style="bold"))
    for each in judged:
        mark, style = MARKS[each.judgement]
        line = Text(f"{mark} {each.judgement}: ", style=style)
        console.print(line.append(f"{each}: {each.counted}", style="default"))
        failing = [(cell, found) for cell, found in each.cells.items() if not found.is_met]
        for cell, found in failing[:CELLS_SHOWN]:
            console.print(Text(f"    {layout.title(cell)}: {found.text}"))
        if len(failing) > CELLS_SHOWN:
            console.print(Text(f"    and {len(failing) - CELLS_SHOWN} more"))


def show_expectations(console: Console, title: str, judged: Sequence[Judged]) -> None:
    """A line per expectation, with what was found and how that was judged."""
    console.print(Text(title, style="bold"))
    for each in judged:
        mark, style = MARKS[each.judgement]
        line = Text(f"{mark} {each.judgement}: ", style=style)
        console.print(line.append(str(each), style="default"))
