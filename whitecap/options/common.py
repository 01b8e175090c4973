"""Options that mean the same wherever they are given."""

from __future__ import annotations

from typing import Any

import click
from click.types import IntParamType

from whitecap.sim.quantities.bounds import MAX_SEED


class SeedType(IntParamType):
    """Any seed; `--help` does not name the ends of the range, which nobody comes near."""

    name = "n"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Refuses what is beyond them all the same."""
        return int(click.IntRange(0, MAX_SEED).convert(value, param, ctx))


SEED = SeedType()

seed_option = click.option("--seed", type=SEED, help="Instead of the scenario's.")

jobs_option = click.option(
    "--jobs", type=click.IntRange(min=1), help="Processes at a time  [default: one per core]"
)

json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead.")
