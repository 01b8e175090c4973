"""`whitecap check`: regression scenarios for CI. Needs no Java."""

from __future__ import annotations

import itertools
import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from whitecap.exit_codes import ExitCode
from whitecap.sim.machine.places import require_file
from whitecap.sim.quantities.bounds import MAX_REPLICATIONS
from whitecap.terminal.console import new_console
from whitecap.terminal.progress import progress
from whitecap.terminal.table import print_indented
from whitecap.until_options import until_options

if TYPE_CHECKING:
    from whitecap.checking import CheckedScenario
    from whitecap.reports.expectations.checked import CheckVerdict

COLOURS = {"ok": "green", "missed": "red", "undecided": "yellow", "broken": "magenta"}


@click.command()
@click.argument("paths", nargs=-1, required=True)
@click.option("--junit", type=click.Path(path_type=Path), help="Write the results as JUnit XML.")
@click.option(
    "--jobs", type=click.IntRange(min=1), help="Processes at a time  [default: one per core]"
)
@click.option(
    "--replications",
    type=click.IntRange(1, MAX_REPLICATIONS),
    help="Runs per cell, instead of the sweep's  [default: 5]",
)
@click.option(
    "--undecided",
    type=click.Choice(["fail", "pass"]),
    default="fail",
    show_default=True,
    help="What becomes of what the replications do not decide.",
)
@until_options
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead.")
@click.pass_context
def check(
    ctx: click.Context,
    paths: tuple[str, ...],
    junit: Path | None,
    jobs: int | None,
    replications: int | None,
    undecided: str,
    until: Sequence[str],
    most: int | None,
    as_json: bool,
) -> None:
    """Run the scenarios at PATHS that state an `expect:`, and hold them to it.

    A folder stands for all such scenarios in it; bundled ones go by name (`regression`,
    `late-commit`). Every cell of a sweep is run; of the directory or
    URI of a sweep that was made before, the recordings are judged and nothing is run. Counts must
    be as expected in every replication; shares, rates and latencies are judged by their 95 %
    interval over them: met, missed, or undecided.
    """
    from whitecap.checking import check_scenarios, check_sweep
    from whitecap.sweep_engine import is_sweep
    from whitecap.until import until_of

    until_of(until, most)
    if junit is not None:
        require_file(junit)
    passes = undecided == "pass"
    sweeps = [path for path in paths if is_sweep(path)]
    scenarios = [Path(path) for path in paths if path not in sweeps]
    results = []
    with progress("checking") as show:

        def watch(done: int, total: int) -> None:
            show(done, total, f"{done} of {total} runs")

        checked = (
            check_scenarios(
                scenarios, jobs or os.cpu_count() or 1, replications, watch, until, most
            )
            if scenarios
            else ()
        )
        # Sweeps first: what is wrong with them is then told before anything runs.
        for result in itertools.chain((check_sweep(each, until) for each in sweeps), checked):
            results.append(result)
            if not as_json:
                _print(result)
    if junit is not None:
        _write_junit(results, junit, passes)
    counts = Counter(result.checked.verdict for result in results)
    if as_json:
        _print_json(results, counts)
    else:
        _print_counts(counts)
    ctx.exit(_exit_code(counts, passes))


def _write_junit(results: Sequence[CheckedScenario], path: Path, undecided_passes: bool) -> None:
    from whitecap.reports.junit import checked_suite, write_junit

    suites = [
        checked_suite(r.name, r.path, r.seconds, r.checked, undecided_passes) for r in results
    ]
    write_junit(suites, path)


def _print(result: CheckedScenario) -> None:
    """A line for the scenario, and one below it for each expectation that is not met."""
    from whitecap.reports.answers.phrases import sentence

    checked = result.checked
    verdict = click.style(f"{checked.verdict:9}", fg=COLOURS[checked.verdict])
    counted = f"{len(checked.judged)} expectations, {result.runs} runs, {result.seconds:.1f} s"
    click.echo(f"{verdict} {result.path}  ({counted})")
    for where, judged in checked.judged:
        if not judged.is_met:
            print_indented(new_console(), f"{judged.judgement}: {where}{judged}", by=10)
    for reached in result.reached:
        print_indented(new_console(), sentence(str(reached)), by=10)
    if checked.error is not None:
        print_indented(new_console(stderr=True), checked.error, by=10)


def _print_json(results: Sequence[CheckedScenario], counts: Counter[CheckVerdict]) -> None:
    from whitecap.checking import checked_document
    from whitecap.terminal.as_json import print_json

    scenarios = [checked_document(result) for result in results]
    print_json({"scenarios": scenarios, "counts": _by_verdict(counts)})


def _print_counts(counts: Counter[CheckVerdict]) -> None:
    said = (f"{count} {verdict}" for verdict, count in _by_verdict(counts).items())
    click.echo(", ".join(said))


def _by_verdict(counts: Counter[CheckVerdict]) -> dict[str, int]:
    from whitecap.reports.expectations.checked import CheckVerdict

    return {verdict.value: counts[verdict] for verdict in CheckVerdict}


def _exit_code(counts: Counter[CheckVerdict], undecided_passes: bool) -> ExitCode:
    from whitecap.reports.expectations.checked import CheckVerdict

    if counts[CheckVerdict.BROKEN]:
        return ExitCode.INVARIANT_VIOLATED
    undecided = 0 if undecided_passes else counts[CheckVerdict.UNDECIDED]
    missed = counts[CheckVerdict.MISSED] + undecided
    return ExitCode.EXPECTATION_MISSED if missed else ExitCode.FINE
