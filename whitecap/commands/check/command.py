"""The command itself: what may be asked, and in which exit code it ends."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from whitecap.exit_codes import ExitCode
from whitecap.options.common import jobs_option, json_option
from whitecap.options.mistakes import gathered_with_options
from whitecap.options.types import PlaceOf, Positive, WholeNumber, WordOf
from whitecap.options.until import until_options
from whitecap.out_file import not_apart
from whitecap.reports.words import counted
from whitecap.sim.quantities.bounds import MAX_REPLICATIONS
from whitecap.terminal.progress import progress

if TYPE_CHECKING:
    from whitecap.checking import CheckedScenario
    from whitecap.checking.against import Against
    from whitecap.commands.check.giving import CheckOutputs
    from whitecap.commands.check.paths_to_check import PathsToCheck
    from whitecap.engine.errors import Problem
    from whitecap.sim.sweeps.read_runs import Watch


@click.command()
@click.argument("paths", nargs=-1, required=True, type=PlaceOf(str))
@click.option(
    "--baseline", type=PlaceOf(),
    help="Compare with what this file holds, and say what got worse.",
)  # fmt: skip
@click.option("--update-baseline", "updates", is_flag=True, help="Write the baseline instead.")
@click.option(
    "--tolerate", multiple=True, metavar="TEXT",
    help="How much worse than the baseline may be, e.g. 'conflict_rate +- 1 point'. Repeatable.",
)  # fmt: skip
@click.option("--junit", type=PlaceOf(), help="Write the results as JUnit XML.")
@click.option(
    "--markdown", type=PlaceOf(),
    help="Write the comment of a pull request.",
)  # fmt: skip
@click.option("--annotations", is_flag=True, help="Print annotations of GitHub Actions too.")
@jobs_option
@click.option(
    "--replications", type=WholeNumber(1, MAX_REPLICATIONS),
    help="Runs per cell, instead of the sweep's  [default: 5]",
)  # fmt: skip
@click.option(
    "--minutes", type=Positive(min=0, min_open=True),
    help="End after so long; what was not judged then is told, and is no success.",
)  # fmt: skip
@click.option(
    "--undecided", type=WordOf(["fail", "pass"]), default="fail", show_default=True,
    help="What becomes of what the replications do not decide.",
)  # fmt: skip
@until_options
@json_option
@click.pass_context
def check(
    ctx: click.Context,
    paths: tuple[str, ...],
    baseline: Path | None,
    updates: bool,
    tolerate: Sequence[str],
    junit: Path | None,
    markdown: Path | None,
    annotations: bool,
    jobs: int | None,
    replications: int | None,
    minutes: float | None,
    undecided: str,
    until: Sequence[str],
    max_replications: int | None,
    as_json: bool,
) -> None:
    """Run the scenarios at PATHS that state an `expect:`, and hold them to it.

    A folder stands for all such scenarios in it; bundled ones go by name (`regression`,
    `late-commit`). Every cell of a sweep is run; of the directory or URI of a sweep that was made
    before, the recordings are judged and nothing is run. Counts must be as expected in every
    replication; shares, rates and latencies are judged by their 95 % interval over them: met,
    missed, or undecided.

    With --baseline every cell is compared with what it did before, replication by replication, and
    named scenarios need no `expect:`.
    """
    from whitecap.commands.check.giving import CheckOutputs
    from whitecap.commands.check.paths_to_check import PathsToCheck
    from whitecap.engine.errors import noted
    from whitecap.sim.machine.processes import at_a_time
    from whitecap.sim.sweeps.regression import RunEffort
    from whitecap.until import NOTHING_ASKED, until_of

    updated = baseline if updates else None
    outputs = CheckOutputs(junit, markdown, updated, annotations, as_json)
    to_check, asked, compared = PathsToCheck.of(paths, undecided == "pass"), NOTHING_ASKED, None
    with gathered_with_options() as problems:
        problems += _contradictions(baseline, updates, tolerate, annotations, as_json)
        problems += _without_effect(to_check, replications)
        with noted(problems):
            asked = until_of(until, max_replications)
        problems += outputs.problems()
        problems += not_apart({"--baseline": baseline, "--junit": junit, "--markdown": markdown})
        with noted(problems):
            compared = _against(baseline, updates, tolerate, replications)
        if problems:  # else they are told when they are run
            to_check.require_runnable(needs_expectations=baseline is None)
    effort = RunEffort(at_a_time(jobs), replications, None if minutes is None else 60 * minutes)
    results = list(_shown(partial(to_check.checked, effort, asked, compared), outputs))
    outputs.give(results, compared)
    ctx.exit(_exit_code(results))


def _contradictions(
    baseline: Path | None, updates: bool, tolerate: Sequence[str], annotations: bool, as_json: bool
) -> Iterator[Problem]:
    """Options that exclude others, or need some that are not given."""
    from whitecap.engine.errors import Problem

    if baseline is None and (updates or tolerate):
        option = "--update-baseline" if updates else "--tolerate"
        yield Problem("", f"{option} needs --baseline FILE")
    if updates and tolerate:
        yield Problem("", "--update-baseline compares nothing, so nothing is tolerated")
    if annotations and as_json:
        yield Problem("", "--json prints one object and --annotations lines: take one of both")


def _without_effect(to_check: PathsToCheck, replications: int | None) -> Iterator[Problem]:
    """Of a sweep that was made before all recordings are judged."""
    from whitecap.engine.errors import Problem

    if replications is not None and not to_check.scenarios:
        said = "nothing is run: all replications of a sweep that was made are judged"
        yield Problem("--replications", said)


def _against(
    baseline: Path | None, updates: bool, tolerate: Sequence[str], replications: int | None
) -> Against | None:
    """What to compare with. Raises `InvalidInput`, for what is tolerated without a baseline too."""
    from whitecap.checking.against import against, tolerated_by

    if baseline is None:
        tolerated_by(tolerate)
        return None
    return against(baseline, update=updates, tolerate=tolerate, replications=replications)


def _shown(
    checked: Callable[[Watch], Iterator[CheckedScenario]], outputs: CheckOutputs
) -> Iterator[CheckedScenario]:
    """Each scenario, once it is shown."""
    with progress("checking") as show:

        def watch(done: int, total: int) -> None:
            show(done, total, f"{done} of {total} runs")

        for result in _until_interrupted(checked(watch)):
            outputs.show(result)
            yield result


def _until_interrupted(checked: Iterable[CheckedScenario]) -> Iterator[CheckedScenario]:
    """Pass results on. Raises `KeyboardInterrupt` that says how many there were."""

    done = 0
    try:
        for result in checked:
            done += 1
            yield result
    except KeyboardInterrupt:
        was = "was" if done == 1 else "were"
        said = f"{counted(done, 'scenario')} {was} checked, and no file is written"
        raise KeyboardInterrupt(said) from None


def _exit_code(results: Sequence[CheckedScenario]) -> ExitCode:
    """The worst of all: a defect before what is missed before what is worse."""
    from whitecap.reports.expectations.checked import CheckVerdict

    verdicts = {result.checked.verdict for result in results}
    if CheckVerdict.BROKEN in verdicts:
        return ExitCode.INVARIANT_VIOLATED
    if any(result.checked.fails for result in results):
        return ExitCode.EXPECTATION_MISSED
    if any(result.checked.is_worse for result in results):
        return ExitCode.WORSE
    return ExitCode.OUT_OF_TIME if CheckVerdict.UNJUDGED in verdicts else ExitCode.FINE
