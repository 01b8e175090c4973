"""The command itself: which places, by which measures."""

from __future__ import annotations

from collections.abc import Sequence

import click

from whitecap.options.common import json_option
from whitecap.options.engine import engine_options
from whitecap.options.mistakes import gathered_with_options
from whitecap.options.types import PlaceOf
from whitecap.terminal.progress import progress


@click.command()
@click.argument("before", type=PlaceOf(str))
@click.argument("after", type=PlaceOf(str))
@click.option(
    "--measure", "names", multiple=True, metavar="NAME",
    help="Compare by this instead of by what one decides by. Repeatable.",
)  # fmt: skip
@engine_options
@json_option
def compare(
    before: str,
    after: str,
    names: Sequence[str],
    engine: str | None,
    master: str | None,
    as_json: bool,
) -> None:
    """Say what differs AFTER from BEFORE, two sweeps' places or runs' directories.

    Cells of the same labels are compared, or the only ones, by writer group. Where both have one
    seed, replication r has the same random numbers in both, and differences are taken within
    replications; else each side has its own intervals. All intervals together hold with 95 %.

    What lies on this machine is read without Spark, unless that is asked for.
    """
    from whitecap.commands.compare.showing import show_compared
    from whitecap.recordings.comparing import asked
    from whitecap.terminal.as_json import print_json

    with gathered_with_options():
        compare_places = asked(before, after, names, engine, master)
    with progress("comparing"):
        compared = compare_places()
    if as_json:
        print_json(compared.document)
    else:
        show_compared(compared)
