"""The options of commands that make or measure the runs of a sweep."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from whitecap.options.types import WordOf

ENGINES = ("spark", "processes")
"""`SweepEngineName`, which takes long to import; a test holds them equal."""


def engine_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Gives a command `--engine` and `--master`, neither with a default of its own."""
    engine = click.option(
        "--engine",
        type=WordOf(ENGINES),
        help="Spark, or processes of this machine  [default: spark where it is, else processes]",
    )
    master = click.option("--master", help="Spark master  [default: local[*]]")
    return engine(master(command))
