"""`whitecap sensitivity`: which parameters move a result."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from whitecap.deciding.defaults import SENSITIVITY_REPLICATIONS
from whitecap.options.common import jobs_option, json_option, seed_option
from whitecap.options.deciding import most_runs_option, replications_option
from whitecap.options.mistakes import gathered_with_options
from whitecap.options.types import PlaceOf


@click.command()
@click.argument("scenario", type=PlaceOf())
@click.option(
    "--vary", multiple=True, metavar="PATH=LOW..HIGH",
    help="Run both ends. Repeatable.  [default: every number of writers, tables and clusters, "
    "halved and doubled]",
)  # fmt: skip
@click.option(
    "--measure", "measures", multiple=True, metavar="NAME [of GROUP]",
    help="What is looked at, e.g. 'latency_p95_ms of etl'. Repeatable.  [default: what the "
    "objectives look at]",
)  # fmt: skip
@replications_option(SENSITIVITY_REPLICATIONS, "Runs of each value, with the same random numbers.")
@most_runs_option("Runs of all values together at most, with fewer replications where need be.")
@seed_option
@jobs_option
@click.option(
    "--out", type=PlaceOf(),
    help="Directory for sensitivity.json and the figure.",
)  # fmt: skip
@json_option
def sensitivity(
    scenario: Path,
    vary: Sequence[str],
    measures: Sequence[str],
    replications: int,
    most_runs: int,
    seed: int | None,
    jobs: int | None,
    out: Path | None,
    as_json: bool,
) -> None:
    """Tell which parameters move a result, and by how much.

    One parameter is changed at a time; each change is a paired difference to the scenario as it
    stands, and all intervals hold together with 95 %.
    """
    from whitecap.deciding.running import Effort
    from whitecap.deciding.sensitivity import studied_by, study_of
    from whitecap.sim.machine.places import refused_places, require_directory
    from whitecap.terminal.deciding.giving import give
    from whitecap.terminal.deciding.sensitivity import show_sensitivity
    from whitecap.terminal.progress import progress

    effort = Effort(replications, most_runs, seed)
    with gathered_with_options() as problems:
        problems += refused_places(require_directory, out)
        study = study_of(scenario, vary, measures, effort)
    with progress("sensitivity") as show:
        studied = studied_by(study, jobs, show)
    give(studied, show_sensitivity, out, as_json)
