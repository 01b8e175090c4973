"""`whitecap fuzz`: random races on the engine and on a real Delta Lake, until time is up."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import click

from whitecap.exit_codes import ExitCode
from whitecap.options.common import SEED
from whitecap.options.mistakes import gathered_with_options
from whitecap.options.types import PlaceOf, Positive
from whitecap.sim.machine.places import require_directory
from whitecap.terminal.progress import progress

if TYPE_CHECKING:
    from whitecap.sim.replay.fuzz import FuzzedRace


@click.command()
@click.option(
    "--minutes",
    type=Positive(min=0, min_open=True),
    default=5.0,
    show_default=True,
    help="How long, from the first race on.",
)
@click.option(
    "--seed",
    type=SEED,
    default=1,
    show_default=True,
    help="Which races are drawn.",
)
@click.option(
    "--out",
    type=PlaceOf(),
    default=Path("out", "fuzz"),
    show_default=True,
    help="Where cases that differ are saved.",
)
@click.pass_context
def fuzz(ctx: click.Context, minutes: float, seed: int, out: Path) -> None:
    """Race random statements on the engine and on a real Delta Lake and compare.

    Every race that ends differently is made small, printed, and saved as a conformance case that
    expects what real Delta did.
    """
    from whitecap.sim.replay.fuzz import fuzz as races

    with gathered_with_options():
        require_directory(out)
    counts: Counter[str] = Counter()
    try:
        with progress("racing") as show:
            for finding in races(minutes, seed):
                counts[finding.result.status] += 1
                show(0, None, _counted(counts))
                _tell(finding, out)
    finally:
        click.echo(_counted(counts))
    if counts["failed"]:
        ctx.exit(ExitCode.EXPECTATION_MISSED)
    if not counts["passed"]:
        click.echo("nothing was compared: give it more --minutes", err=True)
        ctx.exit(ExitCode.NOTHING_COMPARED)


def _counted(counts: Counter[str]) -> str:
    return f"{counts['passed']} races agree, {counts['failed']} differ, {counts['skipped']} skipped"


def _tell(finding: FuzzedRace, out: Path) -> None:
    """Print what is not as expected; a case that differs is saved in `out`."""
    from whitecap.engine.races.conformance.case import CaseStatus
    from whitecap.sim.replay.fuzz import save_case

    match finding.result.status:
        case CaseStatus.FAILED:
            _tell_difference(finding, save_case(finding.case, out))
        case CaseStatus.SKIPPED:
            click.echo(f"skipped {finding.case.id}: {finding.result.reason}")


def _tell_difference(finding: FuzzedRace, saved: Path) -> None:
    click.echo(f"DIFFERS {finding.case.id}")
    click.echo(f"  winner:  {finding.case.winner}")
    click.echo(f"  current: {finding.case.current}")
    for each in finding.result.differences:
        click.echo(f"  {each.key}: real {each.expected} | engine {each.actual}")
    click.echo(f"  saved to {saved}")
