"""`whitecap replay`: a window of a recorded run on a real Delta Lake, compared one by one."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from whitecap.exit_codes import ExitCode
from whitecap.options.common import cell_option
from whitecap.options.mistakes import gathered_with_options
from whitecap.options.types import PlaceOf, Positive, WholeNumber
from whitecap.sim.machine.places import refused_places, require_directory, written
from whitecap.sim.replay.history.window import DEFAULT_TRANSACTIONS
from whitecap.terminal.console import new_console
from whitecap.terminal.table import print_indented

if TYPE_CHECKING:
    from whitecap.sim.replay.agreement import Agreement
    from whitecap.sim.replay.plan import ReplayPlan


@click.command()
@click.argument("run", type=PlaceOf(str))
@click.option(
    "--transactions",
    type=WholeNumber(min=2),
    help=f"Replay at most so many transactions.  [default: {DEFAULT_TRANSACTIONS}]",
)
@click.option(
    "--window",
    metavar="[TABLE:]FROM..TO",
    help="Replay these versions instead of those that show most: the table is set up as it was "
    "at FROM, and everything that was decided up to TO is replayed. Of several tables name one; "
    "of the others comes what the same jobs wrote.",
)
@cell_option
@click.option("--out", type=PlaceOf(), help="Directory  [default: RUN/replay]")
@click.option(
    "--timeout",
    type=Positive(min=1),
    default=180.0,
    show_default=True,
    help="Longest wait for one step, in seconds.",
)
@click.pass_context
def replay(
    ctx: click.Context,
    run: str,
    transactions: int | None,
    window: str | None,
    cells: Sequence[str],
    out: Path | None,
    timeout: float,
) -> None:
    """Force the recorded interleaving of RUN on a real Delta Lake and compare every outcome.

    RUN is a run's directory or a sweep's, or the URI of a sweep (its agreement then goes to
    out/<its last name>/replay). Of a sweep it is the cell that its answer names, or CELL.
    """
    from whitecap.engine.errors import noted
    from whitecap.options.assignments import cell_named
    from whitecap.sim.replay.agreement import write_agreement
    from whitecap.sim.replay.history.window import parse_window
    from whitecap.sim.replay.plan import plan_replay
    from whitecap.sim.replay.real.environment import require_delta
    from whitecap.sweep_places import chosen_run, made_in
    from whitecap.terminal.agreement import show_agreement

    directory = out or made_in(run) / "replay"
    versions, cell = None, None
    with gathered_with_options() as problems:
        with noted(problems):
            versions = parse_window(window) if window else None
        problems += refused_places(require_directory, out)
        with noted(problems):
            cell = cell_named(cells)
        chosen = chosen_run(run, cell)
        problems += refused_places(require_directory, directory)
    plan = plan_replay(chosen, versions, transactions)
    require_delta()
    agreement = _played(plan, timeout)
    show_agreement(agreement)
    path = written(agreement, partial(write_agreement, agreement), directory)
    click.echo(f"written to {path}")
    ctx.exit(_exit_code(agreement))


def _played(plan: ReplayPlan, timeout_s: float) -> Agreement:
    """Play it; each transaction is shown as it ends."""
    from whitecap.recordings.replaying import played
    from whitecap.terminal.agreement import show_compared

    console = new_console(stderr=True)
    print_indented(console, plan.sentence, by=0)
    watch = partial(show_compared, console, with_table=len(plan.tables) > 1)
    return played(plan, watch, timeout_s=timeout_s)


def _exit_code(agreement: Agreement) -> ExitCode:
    if not agreement.compared_count:
        print_indented(new_console(stderr=True), "nothing could be compared", by=0)
        return ExitCode.NOTHING_COMPARED
    return ExitCode.FINE if agreement.holds else ExitCode.EXPECTATION_MISSED
