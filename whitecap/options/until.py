"""The options of commands that add replications until numbers are exact enough."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from whitecap.options.types import WholeNumber
from whitecap.sim.quantities.bounds import MAX_REPLICATIONS


def until_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Gives a command `--until` and `--max-replications`."""
    until = click.option(
        "--until",
        multiple=True,
        metavar="TEXT",
        help="Add replications until this is known, e.g. 'conflict_rate +- 1 point'. Repeatable.",
    )
    most = click.option(
        "--max-replications",
        type=WholeNumber(1, MAX_REPLICATIONS),
        help="With --until: runs per cell at most  [default: 100]",
    )
    return until(most(command))
