"""`whitecap replay`: a window of a recorded run on a real Delta Lake, compared one by one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from whitecap.exit_codes import ExitCode
from whitecap.sim.replay.history.window import DEFAULT_TRANSACTIONS

if TYPE_CHECKING:
    from rich.console import Console

    from whitecap.sim.replay.agreement import Agreement, Compared
    from whitecap.sim.replay.playing.script import Result
    from whitecap.sim.replay.replay import ReplayPlan

STYLES = {"match": "green", "mismatch": "bold red", "not_comparable": "yellow"}


@click.command()
@click.argument("run", type=click.Path(path_type=Path))
@click.option(
    "--transactions",
    type=click.IntRange(min=2),
    help=f"Replay at most so many transactions.  [default: {DEFAULT_TRANSACTIONS}]",
)
@click.option(
    "--window",
    metavar="FROM..TO",
    help="Replay these versions instead of those that show most: the table is set up as it was "
    "at FROM, and everything that was decided up to TO is replayed.",
)
@click.option("--cell", help="Of a sweep, replay this cell instead of the best one.")
@click.option("--out", type=click.Path(path_type=Path), help="Directory  [default: RUN/replay]")
@click.option(
    "--timeout",
    type=click.FloatRange(min=1),
    default=180.0,
    show_default=True,
    help="Longest wait for one step, in seconds.",
)
@click.pass_context
def replay(
    ctx: click.Context,
    run: Path,
    transactions: int | None,
    window: str | None,
    cell: str | None,
    out: Path | None,
    timeout: float,
) -> None:
    """Force the recorded interleaving of RUN on a real Delta Lake and compare every outcome.

    RUN is a run's directory or a sweep's. Exits 0 if real Delta agrees, 1 if it does not or
    nothing could be compared, 2 if the recording cannot be used, 4 if Java or Delta Lake are
    missing.
    """
    from rich.console import Console

    from whitecap.sim.replay.agreement import write_agreement
    from whitecap.sim.replay.choice import choose_run
    from whitecap.sim.replay.environment import require_delta
    from whitecap.sim.replay.history.window import parse_window
    from whitecap.sim.replay.replay import plan_replay
    from whitecap.sim.replay.replay import replay as replay_plan

    chosen = choose_run(run, cell)
    plan = plan_replay(chosen, parse_window(window) if window else None, transactions)
    require_delta()
    console = Console(stderr=True)
    _announce(console, plan)
    with console.status("starting Spark") as status:

        def watch(compared: Compared) -> None:
            colour = STYLES[compared.comparison]
            console.print(f"[{colour}]{compared.comparison:15}[/] {_line(compared)}")
            status.update("replaying")

        agreement = replay_plan(plan, watch=watch, timeout_s=timeout)
    if not agreement.compared_count:
        console.print("nothing could be compared")
    path = write_agreement(agreement, out or chosen.root / "replay")
    _print_summary(agreement)
    click.echo(f"written to {path}")
    ctx.exit(ExitCode.FINE if agreement.holds else ExitCode.EXPECTATION_MISSED)


def _announce(console: Console, plan: ReplayPlan) -> None:
    console.print(plan.sentence)


def _line(compared: Compared) -> str:
    text = f"{compared.transaction} {compared.command}: {_told(compared.recorded)}"
    if compared.reason:
        text += f" | real: {_told(compared.real)} | {compared.reason}"
    return text


def _told(result: Result | None) -> str:
    if result is None:
        return "not played"
    if result.exception is not None:
        return result.exception
    return "nothing to commit" if result.version is None else f"version {result.version}"


def _print_summary(agreement: Agreement) -> None:
    from rich.console import Console
    from rich.table import Table

    from whitecap.sim.replay.agreement import Comparison

    table = Table(
        "outcome", "match", "mismatch", "not comparable", title="Agreement with real Delta"
    )
    for outcome, counts in _by_outcome(agreement).items():
        table.add_row(outcome, *(str(counts[way]) for way in Comparison))
    table.add_section()
    table.add_row("all", *(str(agreement.count(way)) for way in Comparison))
    Console().print(table)


def _by_outcome(agreement: Agreement) -> dict[str, dict[str, int]]:
    from whitecap.sim.replay.agreement import Comparison

    rows: dict[str, dict[str, int]] = {}
    for each in sorted(agreement.compared, key=lambda c: str(c.recorded.exception or "")):
        outcome = each.recorded.exception or str(each.recorded.end)
        counts = rows.setdefault(outcome, {str(way): 0 for way in Comparison})
        counts[each.comparison] += 1
    return rows
