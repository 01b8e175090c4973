"""`whitecap sweep`: a grid of scenarios, on Spark or in processes, with live progress."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from whitecap.options.common import json_option, seed_option
from whitecap.options.engine import engine_options
from whitecap.options.mistakes import gathered_with_options
from whitecap.options.types import PlaceOf, WholeNumber
from whitecap.options.until import until_options
from whitecap.reports.words import counted
from whitecap.sim.quantities.bounds import MAX_REPLICATIONS

if TYPE_CHECKING:
    from whitecap.sim.scenario.model import Scenario
    from whitecap.sim.sweeps.engines import SweepEngine
    from whitecap.sim.sweeps.experiment import Experiment
    from whitecap.until import Until


@click.command()
@click.argument("scenario", type=PlaceOf())
@click.option(
    "--out",
    type=PlaceOf(str),
    metavar="PLACE",
    help="Directory, or a URI that Hadoop knows: s3a://...  [default: out/<name>]",
)
@engine_options
@click.option(
    "--replications",
    type=WholeNumber(1, MAX_REPLICATIONS),
    help="Runs per cell, instead of the scenario's.",
)
@seed_option
@click.option(
    "--axis",
    "kept",
    multiple=True,
    metavar="NAME[=LABEL,...]",
    help="Keep only this axis of the scenario, or only these of its labels. Repeatable.",
)
@click.option(
    "--set",
    "quick",
    multiple=True,
    metavar="PATH=V1,V2,...",
    help="Add an axis over a scenario parameter, e.g. writers.loader.count=2,4,8. Repeatable.",
)
@click.option(
    "--objective",
    multiple=True,
    metavar="TEXT",
    help="Instead of the scenario's, e.g. 'job_success_rate of all >= 99 %'. Repeatable.",
)
@until_options
@json_option
def sweep(
    scenario: Path,
    out: str | None,
    engine: str | None,
    master: str | None,
    replications: int | None,
    seed: int | None,
    kept: Sequence[str],
    quick: Sequence[str],
    objective: Sequence[str],
    until: Sequence[str],
    max_replications: int | None,
    as_json: bool,
) -> None:
    """Run every cell of SCENARIO's sweep, several times each, several at a time.

    SCENARIO is a file, or the name of a bundled one (`whitecap scenarios`), as `events`.
    Finished batches of runs are kept when the sweep is interrupted, and the same command runs the
    rest.
    Replication r has the same random numbers in every cell.
    """
    from whitecap.engine.errors import noted
    from whitecap.options.assignments import labels_named, values_named
    from whitecap.sim.sweeps.experiment import load_experiment
    from whitecap.sweep_engine import sweep_engine
    from whitecap.sweep_places import require_sweep_place
    from whitecap.until import until_of

    with gathered_with_options() as problems:
        with noted(problems):
            asked = until_of(until, max_replications)
        with noted(problems):
            require_sweep_place(out)
        with noted(problems):
            runs_on = sweep_engine(engine, master, makes_runs=True)
        axes = values_named(quick, problems)
        experiment = load_experiment(
            scenario,
            quick_axes=axes,
            only=labels_named(kept, problems) or None,
            replications=replications,
            seed=seed,
            objective=objective,
        )
    where = out or str(Path("out", experiment.scenario.name))
    _run(experiment, where, runs_on, asked)
    _print_result(experiment.scenario, where, runs_on, as_json)


def _planned(experiment: Experiment, until: Until) -> str:

    number, each = len(experiment.cells), experiment.replications
    cells = counted(number, "cell")
    if until.asked:
        return f"{cells} x {until.first(each)} to {until.most} replications"
    return f"{cells} x {counted(each, 'replication')} = {counted(number * each, 'run')}"


def _run(
    experiment: Experiment, where: str, engine: Callable[[], SweepEngine], until: Until
) -> None:
    from whitecap.sim.machine.interruption import interruption_says
    from whitecap.terminal.sweep_progress import sweep_progress
    from whitecap.until import sweep_until

    kept = "finished batches are kept, the same command runs the rest"
    title = f"{experiment.scenario.name}: {_planned(experiment, until)} in {where}"
    with interruption_says(kept), sweep_progress(title) as tell:
        sweep_until(experiment, where, engine, until, tell)


def _print_result(
    scenario: Scenario, where: str, engine: Callable[[], SweepEngine], as_json: bool
) -> None:
    """The measures of every cell and the answer; writes the tables on the way."""
    from whitecap.reports.report import analyse
    from whitecap.sweep_places import recorded_runs
    from whitecap.terminal.as_json import print_json
    from whitecap.terminal.progress import progress
    from whitecap.terminal.sweep_result import show_sweep, sweep_document

    with progress("measuring"):
        subject, answer = analyse(recorded_runs(where, engine))
    tables = subject.runs.root / "report" / "tables"
    if as_json:
        document = sweep_document(subject, answer, scenario.expect)
        print_json({**document, "directory": where, "tables": tables})
        return
    show_sweep(subject, answer, scenario.expect, scenario)
    click.echo(f"tables  {tables}")
    click.echo(f"next    whitecap report {where}")
