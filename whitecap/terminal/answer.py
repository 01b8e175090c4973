"""The answer in the terminal, and how runs and cells stand to their objectives."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from whitecap.reports.answers.answer import WordedAnswer
from whitecap.reports.answers.phrases import found_text, objective_text
from whitecap.reports.answers.standing import OBJECTIVES_WORST_FIRST
from whitecap.reports.expectations.cells import counted_cells
from whitecap.reports.layout import SweepLayout
from whitecap.reports.statistics import worst_of
from whitecap.reports.words import sentence
from whitecap.terminal.findings import show_few_cells, show_standing
from whitecap.terminal.table import print_indented


def show_answer(console: Console, answer: WordedAnswer) -> None:
    """The answer in a sentence, and what stands behind it."""
    print_indented(console, f"{answer.headline}.", by=0, style="bold")
    for each in answer.sentences:
        print_indented(console, each)


def show_objectives(console: Console, answer: WordedAnswer) -> None:
    """Of one run: the answer's headline, and a line per objective and writer group.

    Of a single one nothing is told twice.
    """
    print_indented(console, f"{answer.headline}.", by=0, style="bold")
    default = ", by default" if answer.findings.objectives.are_default else ""
    stated = "; ".join(map(objective_text, answer.findings.objectives.each))
    print_indented(console, f"objective{default}: {stated}", by=0)
    judged = answer.standings[answer.cell].objectives
    for each in judged:
        if judged[1:] or found_text(each) not in answer.headline:
            show_standing(console, each.stands, found_text(each))


def show_settling(console: Console, answer: WordedAnswer) -> None:
    """Of one run: what is left out as warm-up, and a warning where that is not enough."""
    if answer.settling.cells:
        style = "yellow" if answer.settling.is_warning else ""
        print_indented(console, sentence(str(answer.settling)), by=0, style=style)


def show_objectives_of_cells(console: Console, layout: SweepLayout, answer: WordedAnswer) -> None:
    """Of a sweep: a line per objective, and below it cells that miss it or may."""
    console.print(Text("objectives, judged over replications:", style="bold"))
    for objective in answer.findings.objectives.each:
        cells = {cell: each.narrowed(objective) for cell, each in answer.standings.items()}
        stands = [standing.stands for standing in cells.values()]
        counted = f"{objective_text(objective)}: {counted_cells(stands)}"
        show_standing(console, worst_of(stands, OBJECTIVES_WORST_FIRST), counted)
        short = {cell: standing.worst for cell, standing in cells.items()}
        texts = {cell: found_text(judged) for cell, judged in short.items() if judged}
        show_few_cells(console, layout, texts)
