"""What the oracles found, and what they could not look at."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.text import Text

from whitecap.reports.words import counted
from whitecap.sim.oracles.finding import Finding, Judgement
from whitecap.sim.oracles.invariants import Invariant
from whitecap.terminal.console import new_console
from whitecap.terminal.table import print_indented

SHOWN = 20
"""Findings that are told on a screen; `--json` has them all."""

FILES_SHOWN = 3


def judgement_document(judgement: Judgement) -> Mapping[str, Any]:
    """As JSON has it."""
    return {
        "is_sound": not judgement.findings,
        "findings": [
            {**finding.as_row(), "breaks": Invariant.broken_by(finding.anomaly).value.sentence}
            for finding in judgement.findings
        ],
        "not_checked": [{"what": each.what, "why": each.why} for each in judgement.not_checked],
    }


def show_judgement(judgement: Judgement) -> None:
    """Each finding with its cycle, rows and files; then what was not checked."""
    console = new_console()
    for finding in judgement.findings[:SHOWN]:
        _show(console, finding)
    left = len(judgement.findings) - SHOWN
    if left > 0:
        print_indented(console, f"and {left:,} more (--json has them all)", by=0)
    for each in judgement.not_checked:
        print_indented(console, f"not checked: {each.what}: {each.why}", by=0, style="yellow")
    print_indented(console, _sum(judgement), by=0)


def _show(console: Console, finding: Finding) -> None:
    where = f" in {finding.table}" if finding.table else ""
    by = "" if finding.anomaly.value == finding.oracle.value else f" ({finding.oracle})"
    named = Text(finding.anomaly.value, style="bold red").append(
        f"{where}{by}: {finding.sentence}", style="default"
    )
    print_indented(console, named, by=0)
    for step in finding.cycle:
        print_indented(console, step, by=4, first="  -")
    for row in finding.rows:
        print_indented(console, f"row {row}", by=4)
    for path in finding.files[:FILES_SHOWN]:
        print_indented(console, f"file {path}", by=4)
    if len(finding.files) > FILES_SHOWN:
        print_indented(console, f"and {len(finding.files) - FILES_SHOWN} more files", by=4)


def _sum(judgement: Judgement) -> str:
    count = len(judgement.findings)
    if not count:
        return "no anomaly was found" + (" in what was checked" if judgement.not_checked else "")
    kinds = sorted({finding.anomaly.value for finding in judgement.findings})
    return f"{counted(count, 'finding')}: {', '.join(kinds)}"
