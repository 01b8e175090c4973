"""What to change, in the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from whitecap.reports.advice.result import Advice
from whitecap.reports.advice.wording import (
    behind_texts,
    bought_texts,
    headline,
    notes,
    standings,
    step_text,
)
from whitecap.reports.words import sentence
from whitecap.terminal.console import new_console
from whitecap.terminal.deciding.giving import print_files
from whitecap.terminal.table import GAP, print_indented


def show_advice(advice: Advice, files: Sequence[Path] = ()) -> None:
    """Print it; `files` are those that were written."""
    console = new_console()
    print_indented(console, headline(advice), by=0, style="bold")
    for standing in standings(advice):
        print_indented(console, standing, by=0)
    for number, step in enumerate(advice.steps, 1):
        console.print()
        print_indented(console, f"{number}. {step_text(step)}", by=0, style="bold")
        for text in bought_texts(advice, step):
            print_indented(console, sentence(text), by=GAP)
    for behind in advice.behind:
        console.print()
        first, *others = behind_texts(behind)
        print_indented(console, sentence(first), by=0)
        for text in others:
            print_indented(console, text.strip(), by=GAP)
    console.print()
    for note in notes(advice):
        print_indented(console, note, by=0, style="dim")
    print_files(console, ("result", "changed"), files)
