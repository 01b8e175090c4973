"""What is printed of real writers under fire: the prediction beside what happened."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from whitecap.terminal.console import new_console
from whitecap.terminal.table import print_indented

if TYPE_CHECKING:
    from whitecap.sim.under_fire.verdict import Beside, LeftOut, Verdict


def show_run(run: Verdict | LeftOut) -> None:
    """One run, as soon as it is over."""
    from whitecap.sim.under_fire.verdict import LeftOut

    title = f"{run.name}, run {run.number}"
    if isinstance(run, LeftOut):
        click.echo(f"{title}: left out, {run.why}")
        return
    colour = "green" if run.is_sound else "yellow" if run.is_expected else "red"
    findings = len(run.burnt.judgement.findings)
    found = "sound" if run.is_sound else f"{findings} finding{'s' * (findings > 1)}"
    click.echo(f"{title}: {click.style(found, fg=colour)}")
    console = new_console()
    for line in _lines(run):
        print_indented(console, line, by=2)


def _lines(verdict: Verdict) -> Iterator[str]:
    yield f"{'':30} {'simulated':>10} {'real':>6}   ({verdict.dialect}, {verdict.version})"
    for each in (*verdict.outcomes(), *verdict.anomalies()):
        yield _line(each)
    struck = {**verdict.burnt.struck, "killed": verdict.burnt.deaths}
    told = ", ".join(f"{name} {count}" for name, count in struck.items() if count)
    yield f"befell real requests: {told or 'nothing'}"
    for group, why in verdict.expected.lacks.items():
        yield f"left out: {group}, {why}"
    for finding in verdict.burnt.judgement.findings:
        yield f"{finding.anomaly.value}: {finding.sentence}"
    for gap in verdict.burnt.judgement.not_checked:
        yield f"not checked: {gap.what}: {gap.why}"
    for error in verdict.errors():
        yield f"unknown outcome: {error}"
    place = verdict.burnt.directory
    yield f"look again: whitecap oracle {place}/table --history {place}/history.jsonl"


def _line(each: Beside) -> str:
    return f"{each.what:30} {each.simulated:>10} {each.real:>6}"
