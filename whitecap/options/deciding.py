"""Options of commands that decide: what designs are held to, and how much may be run for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from whitecap.deciding.defaults import MOST_RUNS
from whitecap.options.types import WholeNumber
from whitecap.reports.fewest import FEWEST_REPLICATIONS
from whitecap.sim.quantities.bounds import MAX_REPLICATIONS, MAX_RUNS

F = TypeVar("F", bound=Callable[..., Any])

objective_option = click.option(
    "--objective", multiple=True, metavar="TEXT",
    help="Instead of the scenario's, e.g. 'job_success_rate >= 99 %'. Repeatable; all must hold.",
)  # fmt: skip


def replications_option(default: int, text: str) -> Callable[[F], F]:
    """`--replications` of each thing that is run, explained by `text`."""
    kind = WholeNumber(FEWEST_REPLICATIONS, MAX_REPLICATIONS)
    return click.option("--replications", type=kind, default=default, show_default=True, help=text)


def most_runs_option(text: str) -> Callable[[F], F]:
    """`--max-runs` of all things together, explained by `text`."""
    return click.option(
        "--max-runs", "most_runs", type=WholeNumber(1, MAX_RUNS), default=MOST_RUNS,
        show_default=True, help=text,
    )  # fmt: skip
