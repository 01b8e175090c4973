"""`whitecap plan`: how far a parameter may go, with an interval."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from whitecap.deciding.defaults import PLAN_REPLICATIONS
from whitecap.exit_codes import ExitCode
from whitecap.options.common import jobs_option, json_option, seed_option
from whitecap.options.deciding import most_runs_option, objective_option
from whitecap.options.mistakes import gathered_with_options
from whitecap.options.types import PlaceOf, WholeNumber, WordOf
from whitecap.reports.fewest import FEWEST_REPLICATIONS
from whitecap.sim.quantities.bounds import MAX_REPLICATIONS


@click.command()
@click.argument("scenario", type=PlaceOf())
@click.option(
    "--vary", required=True, multiple=True, metavar="PATH=LOW..HIGH[:STEP]",
    help="What is varied: writers.etl.count=1..200, or 10 s..10 min of a duration.",
)  # fmt: skip
@objective_option
@click.option(
    "--variant", "variants", multiple=True, metavar="NAME:PATH=VALUE",
    help="A variant by what it sets; again for another, or for more of the same. Repeatable.",
)  # fmt: skip
@click.option(
    "--axis", "kept", multiple=True, metavar="NAME[=LABEL,...]",
    help="The labels of this axis of the scenario as variants, or these of them. Repeatable.",
)  # fmt: skip
@click.option(
    "--sense", type=WordOf(["largest", "smallest"]),
    help="Which value that holds is looked for  [default: what the first values tell]",
)  # fmt: skip
@seed_option
@most_runs_option("Runs of all variants together at most.")
@click.option(
    "--max-replications", type=WholeNumber(FEWEST_REPLICATIONS, MAX_REPLICATIONS),
    default=PLAN_REPLICATIONS, show_default=True, help="Runs of one value at most.",
)  # fmt: skip
@jobs_option
@click.option(
    "--out", type=PlaceOf(),
    help="Directory for plan.json, the figure, and the runs as they are made.",
)  # fmt: skip
@click.option("--resume", is_flag=True, help="Use the runs again that lie in --out.")
@json_option
@click.pass_context
def plan(
    ctx: click.Context,
    scenario: Path,
    vary: Sequence[str],
    objective: Sequence[str],
    variants: Sequence[str],
    kept: Sequence[str],
    sense: str | None,
    seed: int | None,
    most_runs: int,
    max_replications: int,
    jobs: int | None,
    out: Path | None,
    resume: bool,
    as_json: bool,
) -> None:
    """Find the largest (or smallest) value of a parameter at which all objectives hold.

    Values are tried where the boundary may lie, with replications until they are decided; it is
    stated with a 95 % interval. Replication r has the same random numbers at every value of every
    variant. Ctrl-C ends the search early and keeps what is known; with --out it can go on.
    """
    from whitecap.deciding.planning import how_it_goes_on, kept_runs, planned_by, planning_of
    from whitecap.deciding.running import Effort
    from whitecap.engine.errors import Problem, noted
    from whitecap.options.assignments import labels_named, variants_named
    from whitecap.sim.machine.places import refused_places, require_directory
    from whitecap.terminal.deciding.giving import give
    from whitecap.terminal.deciding.plan import show_plan
    from whitecap.terminal.progress import progress

    with gathered_with_options() as problems:
        problems += refused_places(require_directory, out)
        with noted(problems):
            runs = kept_runs(out, resume)
        if len(vary) > 1:
            problems.append(Problem("vary", "is given twice: one parameter is searched along"))
        named = variants_named(variants, problems)
        planning = planning_of(
            scenario,
            vary[-1],
            Effort(max_replications, most_runs, seed),
            objective=objective,
            variants=named,
            only=labels_named(kept, problems),
            sense=sense,
        )
    with progress("plan", is_bound=True) as show:
        planned = planned_by(planning, jobs, show, runs)
    give(planned, show_plan, out, as_json)
    if planned.is_interrupted:
        goes_on = how_it_goes_on(runs)
        click.echo("interrupted" if goes_on is None else f"interrupted: {goes_on}", err=True)
        ctx.exit(ExitCode.INTERRUPTED)
