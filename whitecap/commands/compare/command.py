"""The command itself: which places, by which measures."""

from __future__ import annotations

from collections.abc import Sequence

import click

from whitecap.engine_options import engine_options
from whitecap.terminal.progress import progress


@click.command()
@click.argument("before")
@click.argument("after")
@click.option(
    "--measure", "names", multiple=True, metavar="NAME",
    help="Compare by this instead of by what one decides by. Repeatable.",
)  # fmt: skip
@engine_options
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead.")
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
    from whitecap.checking.recorded import compare_recorded, compared_document
    from whitecap.commands.compare.showing import show_compared
    from whitecap.reports.comparisons.sides import COMPARED
    from whitecap.reports.precision.asked import measures_named
    from whitecap.sim.recording.dataset.place import is_uri
    from whitecap.sweep_engine import sweep_engine
    from whitecap.terminal.as_json import print_json

    measures = measures_named(names, "--measure") or COMPARED
    is_here = engine is None and master is None and not any(map(is_uri, (before, after)))
    runs_on = sweep_engine("processes" if is_here else engine, master)
    with progress("comparing"):
        compared = compare_recorded(before, after, runs_on, measures)
    if as_json:
        print_json(compared_document(compared))
    else:
        show_compared(compared)
