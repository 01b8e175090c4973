"""The answer in the terminal, and how runs and cells stand to their objectives."""

from __future__ import annotations

from collections import Counter

from rich.console import Console
from rich.text import Text

from whitecap.reports.answers.answer import Answer
from whitecap.reports.answers.phrases import found_text, objective_text
from whitecap.reports.answers.standing import Stands, worst_of
from whitecap.reports.layout import Layout
from whitecap.terminal.findings import CELLS_SHOWN, MARKS
from whitecap.terminal.table import print_indented


def show_answer(console: Console, answer: Answer) -> None:
    """The answer in a sentence, and what stands behind it."""
    print_indented(console, f"{answer.headline}.", by=0, style="bold")
    for sentence in answer.sentences:
        print_indented(console, sentence)


def show_objectives(console: Console, answer: Answer) -> None:
    """Of one run: the answer's headline, and a line per objective and writer group."""
    print_indented(console, f"{answer.headline}.", by=0, style="bold")
    default = ", by default" if answer.findings.objectives.are_default else ""
    stated = "; ".join(map(objective_text, answer.findings.objectives.each))
    console.print(Text(f"objective{default}: {stated}"))
    for each in answer.standings[answer.cell].objectives:
        mark, style = MARKS[each.stands]
        line = Text(f"{mark} {each.stands}: ", style=style)
        console.print(line.append(found_text(each), style="default"))


def show_objectives_of_cells(console: Console, layout: Layout, answer: Answer) -> None:
    """Of a sweep: a line per objective, and below it cells that miss it or may."""
    console.print(Text("objectives, judged over replications:", style="bold"))
    for objective in answer.findings.objectives.each:
        cells = {cell: each.narrowed(objective) for cell, each in answer.standings.items()}
        counts = Counter(standing.stands for standing in cells.values())
        worst = worst_of(counts)
        counted = ", ".join(f"{each} in {counts[each]}" for each in Stands if counts[each])
        mark, style = MARKS[worst]
        line = Text(f"{mark} {worst}: ", style=style)
        text = f"{objective_text(objective)}: {counted} of {len(cells)} cells"
        console.print(line.append(text, style="default"))
        short = {cell: standing.worst for cell, standing in cells.items() if standing.worst}
        for cell, judged in list(short.items())[:CELLS_SHOWN]:
            console.print(Text(f"    {layout.title(cell)}: {found_text(judged)}"))
        if len(short) > CELLS_SHOWN:
            console.print(Text(f"    and {len(short) - CELLS_SHOWN} more"))
