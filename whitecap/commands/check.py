"""`whitecap check`: regression scenarios for CI. Needs no Java."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import click

from whitecap.exit_codes import ExitCode

if TYPE_CHECKING:
    from whitecap.checking import CheckedScenario
    from whitecap.reports.expectations.checked import Checked

COLOURS = {"ok": "green", "missed": "red", "undecided": "yellow", "broken": "magenta"}


@click.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--junit", type=click.Path(path_type=Path), help="Write the results as JUnit XML.")
@click.option(
    "--jobs", type=click.IntRange(min=1), help="Processes at a time  [default: one per core]"
)
@click.option(
    "--replications",
    type=click.IntRange(min=1),
    help="Runs per cell, instead of the sweep's  [default: 5]",
)
@click.option(
    "--undecided",
    type=click.Choice(["fail", "pass"]),
    default="fail",
    show_default=True,
    help="What becomes of what the replications do not decide.",
)
@click.pass_context
def check(
    ctx: click.Context,
    paths: tuple[Path, ...],
    junit: Path | None,
    jobs: int | None,
    replications: int | None,
    undecided: str,
) -> None:
    """Run the scenarios at PATHS that state an `expect:`, and hold them to it.

    A folder stands for all such scenarios in it. Every cell of a sweep is run. Counts must be as
    expected in every replication; shares, rates and latencies are judged by their 95 % interval
    over them: met, missed, or undecided. Exits 0 if all are met, 1 if one is missed or undecided,
    2 on bad input, 3 if a run broke an invariant.
    """
    from whitecap.checking import check_scenarios

    results = []
    for result in check_scenarios(paths, jobs or os.cpu_count() or 1, replications):
        _print(result)
        results.append(result)
    passes = undecided == "pass"
    if junit is not None:
        from whitecap.reports.junit import checked_suite, write_junit

        suites = (checked_suite(r.name, r.path, r.seconds, r.checked, passes) for r in results)
        write_junit(list(suites), junit)
    ctx.exit(_told([result.checked for result in results], passes))


def _told(results: list[Checked], undecided_passes: bool) -> ExitCode:
    """Print how many came out how; the exit code that follows."""
    from whitecap.reports.expectations.checked import CheckVerdict

    counts = Counter(checked.verdict for checked in results)
    click.echo(", ".join(f"{counts[verdict]} {verdict}" for verdict in CheckVerdict))
    if counts[CheckVerdict.BROKEN]:
        return ExitCode.INVARIANT_VIOLATED
    failed = counts[CheckVerdict.MISSED] + (
        0 if undecided_passes else counts[CheckVerdict.UNDECIDED]
    )
    return ExitCode.EXPECTATION_MISSED if failed else ExitCode.FINE


def _print(result: CheckedScenario) -> None:
    """A line for the scenario, and one below it for each expectation that is not met."""
    checked = result.checked
    verdict = click.style(f"{checked.verdict:9}", fg=COLOURS[checked.verdict])
    counted = f"{len(checked.judged)} expectations, {result.runs} runs, {result.seconds:.1f} s"
    click.echo(f"{verdict} {result.path}  ({counted})")
    for where, judged in checked.judged:
        if not judged.is_met:
            click.echo(f"          {judged.judgement}: {where}{judged}")
    if checked.error is not None:
        click.echo("          " + checked.error.replace("\n", "\n          "), err=True)
