"""Options that mean the same wherever they are given."""

from __future__ import annotations

import click

from whitecap.options.types import Seed, WholeNumber
from whitecap.sim.quantities.bounds import MAX_SEED

SEED = Seed(0, MAX_SEED)

seed_option = click.option("--seed", type=SEED, help="Instead of the scenario's.")

jobs_option = click.option(
    "--jobs", type=WholeNumber(min=1), help="Processes at a time  [default: one per core]"
)

cell_option = click.option(
    "--cell",
    "cells",
    multiple=True,
    metavar="CELL",
    help="This cell of the sweep: a label for each of its axes as AXIS=LABEL,... (repeatable), or "
    "its name in the sweep's tables.",
)

json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead.")
