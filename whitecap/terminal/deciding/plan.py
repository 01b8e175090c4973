"""A plan in the terminal: the boundary of each variant, and what stands behind it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.text import Text

from whitecap.reports.planning.planned import Plan
from whitecap.reports.planning.wording import boundary_text, ending, headline, reasons
from whitecap.reports.words import sentence
from whitecap.terminal.console import new_console
from whitecap.terminal.deciding.giving import print_files
from whitecap.terminal.table import GAP, print_indented, print_named


def show_plan(plan: Plan, files: Sequence[Path] = ()) -> None:
    """Print it; `files` are those that were written."""
    console = new_console()
    print_indented(console, f"{headline(plan)}:", by=0)
    boundaries = {
        variant.name: Text(boundary_text(variant.boundary, plan.labels), style="bold")
        for variant in plan.variants
    }
    print_named(console, boundaries)
    console.print()
    for variant in plan.variants:
        stated = list(reasons(plan, variant))
        if stated or variant.warnings:
            console.print(Text(variant.name, style="underline"))
        for warning in variant.warnings:
            print_indented(console, sentence(f"warning: {warning}"), by=GAP, style="yellow")
        for reason in stated:
            print_indented(console, sentence(reason), by=GAP)
    print_indented(console, sentence(ending(plan)), by=0)
    print_files(console, ("plan", "figure"), files)
