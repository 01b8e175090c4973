"""`whitecap check`: regression scenarios for CI. Needs no Java."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from whitecap.exit_codes import ExitCode
from whitecap.sim.places import require_file
from whitecap.terminal.console import new_console
from whitecap.terminal.progress import tracked
from whitecap.terminal.table import print_indented

if TYPE_CHECKING:
    from whitecap.reports.junit import Suite
    from whitecap.sim.regression import Checked, CheckedScenario

COLOURS = {"ok": "green", "missed": "red", "broken": "magenta"}


@click.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--junit", type=click.Path(path_type=Path), help="Write the results as JUnit XML.")
@click.option(
    "--jobs", type=click.IntRange(min=1), help="Processes at a time  [default: one per core]"
)
@click.pass_context
def check(
    ctx: click.Context, paths: tuple[Path, ...], junit: Path | None, jobs: int | None
) -> None:
    """Run the scenarios at PATHS that state an `expect:`, and hold them to it.

    A folder stands for all such scenarios in it.
    """
    from whitecap.sim.regression import Verdict, check_all, find_scenarios

    if junit is not None:
        require_file(junit)
    scenarios = find_scenarios(paths)
    results = []
    checked = check_all(scenarios, jobs or os.cpu_count() or 1)
    for result in tracked(checked, len(scenarios), "scenarios"):
        _print(result)
        results.append(result)
    if junit is not None:
        from whitecap.reports.junit import write_junit

        write_junit([_suite(result) for result in results], junit)
    counts = {verdict: sum(r.verdict is verdict for r in results) for verdict in Verdict}
    click.echo(", ".join(f"{count} {verdict}" for verdict, count in counts.items()))
    if counts[Verdict.BROKEN]:
        ctx.exit(ExitCode.INVARIANT_VIOLATED)
    ctx.exit(ExitCode.EXPECTATION_MISSED if counts[Verdict.MISSED] else ExitCode.FINE)


def _print(result: CheckedScenario) -> None:
    """A line for the scenario, and one below it for each expectation that was missed."""
    verdict = click.style(f"{result.verdict:7}", fg=COLOURS[result.verdict])
    counted = f"{len(result.expectations)} expectations, {result.seconds:.1f} s"
    click.echo(f"{verdict} {result.path}  ({counted})")
    for missed in result.misses:
        print_indented(new_console(), _told(missed), by=8)
    if result.error is not None:
        print_indented(new_console(stderr=True), result.error, by=8)


def _told(checked: Checked) -> str:
    text = f"{checked.subject} is {checked.found:g}, expected {checked.missed}"
    return f"{text} ({checked.because})" if checked.because else text


def _suite(result: CheckedScenario) -> Suite:
    from whitecap.reports.junit import Case, Suite

    cases = [
        Case(f"{i + 1}. {each.subject}", failure=_told(each) if each.missed is not None else None)
        for i, each in enumerate(result.expectations)
    ]
    if result.error is not None:
        cases.append(Case("the run", error=result.error))
    return Suite(result.name, str(result.path), result.seconds, tuple(cases))
