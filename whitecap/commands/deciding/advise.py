"""`whitecap advise`: the cheapest design that meets the objectives."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from whitecap.deciding.defaults import ADVICE_REPLICATIONS
from whitecap.options.common import jobs_option, json_option, seed_option
from whitecap.options.deciding import most_runs_option, objective_option, replications_option
from whitecap.options.mistakes import gathered_with_options
from whitecap.options.types import PlaceOf


@click.command()
@click.argument("scenario", type=PlaceOf())
@click.option(
    "--allow", "allowed", multiple=True, metavar="KIND",
    help="What may be changed: partitioning, clustering, isolation, row-level, retries, schedules, "
    "or an axis of the scenario's sweep. Repeatable.  [default: the scenario's may_change]",
)  # fmt: skip
@objective_option
@replications_option(
    ADVICE_REPLICATIONS,
    "Runs of one design at most, and as many fresh ones for what is stated.",
)
@most_runs_option("Runs of the search at most.")
@seed_option
@jobs_option
@click.option(
    "--out", type=PlaceOf(),
    help="Directory for advice.json and the changed scenario, advised.yaml.",
)  # fmt: skip
@json_option
def advise(
    scenario: Path,
    allowed: Sequence[str],
    objective: Sequence[str],
    replications: int,
    most_runs: int,
    seed: int | None,
    jobs: int | None,
    out: Path | None,
    as_json: bool,
) -> None:
    """Find the cheapest design that meets the objectives, and what each change buys.

    Of what may be changed the one change that helps most is taken, then the next; what each buys is
    stated from fresh runs. Beside it stands what is behind the refusals that waste most.
    """
    from whitecap.deciding.advice import advised_by, question_of
    from whitecap.deciding.running import Effort
    from whitecap.sim.machine.places import refused_places, require_directory
    from whitecap.terminal.deciding.advice import show_advice
    from whitecap.terminal.deciding.giving import give
    from whitecap.terminal.progress import progress

    effort = Effort(replications, most_runs, seed)
    with gathered_with_options() as problems:
        problems += refused_places(require_directory, out)
        question = question_of(scenario, allowed, objective, effort)
    with progress("advise", is_bound=True) as show:
        advice = advised_by(question, jobs, show)
    give(advice, show_advice, out, as_json)
