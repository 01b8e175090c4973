"""`whitecap run`: one scenario, live progress, a summary, and a recording if asked for."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from whitecap.reports.measures.measured_run import MeasuredRun
    from whitecap.reports.summary import Line
    from whitecap.sim.recording import Recording
    from whitecap.sim.run import FinishedRun, Progress, Tick
    from whitecap.sim.scenario import Scenario


@click.command()
@click.argument("scenario", type=click.Path(path_type=Path))
@click.option("--seed", type=click.IntRange(min=0), help="Instead of the scenario's.")
@click.option("--replication", type=click.IntRange(min=0), default=0, help="Which draws.")
@click.option("--out", type=click.Path(path_type=Path), help="Write the recording there.")
@click.option("--requests", is_flag=True, help="Record every request to the store too.")
@click.option("--export", type=click.Path(path_type=Path), help="Write the Delta table there.")
@click.option("--data", is_flag=True, help="With --export: data files in Parquet too.")
@click.option("--quiet", is_flag=True, help="No progress and no summary.")
def run(
    scenario: Path,
    seed: int | None,
    replication: int,
    out: Path | None,
    requests: bool,
    export: Path | None,
    data: bool,
    quiet: bool,
) -> None:
    """Simulate SCENARIO once and print what happened.

    The same scenario and seed give the same recording, byte for byte.
    """
    from whitecap.sim.run import run_scenario
    from whitecap.sim.scenario import load_scenario

    if data and export is None:
        raise click.UsageError("--data goes with --export")
    if requests and out is None:
        raise click.UsageError("--requests goes with --out")
    loaded = load_scenario(scenario)
    with _progress(quiet) as show:
        finished = run_scenario(
            loaded, seed=seed, replication=replication, out=out, requests=requests, progress=show
        )
    if not quiet:
        print_summary(loaded, finished.recording)
    if out is not None:
        click.echo(f"recording  {out}")
    if export is not None:
        _export(finished, export, data)


def _export(finished: FinishedRun, directory: Path, data: bool) -> None:
    from whitecap.sim.export import export_table

    version = export_table(finished.world.store, directory, data=data)
    files = "log and data files" if data else "log only"
    click.echo(f"table      {directory} (version {version}, {files})")


@contextmanager
def _progress(quiet: bool) -> Iterator[Progress | None]:
    """A bar on stderr over simulated time."""
    if quiet:
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn
    from rich.progress import TimeRemainingColumn as Left

    from whitecap.sim.units import show_duration

    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), Left())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("simulating", total=1.0)

        def show(tick: Tick) -> None:
            said = f"{show_duration(round(tick.now_ms / 1e3) * 1e3)}, {tick.submitted} transactions"
            bar.update(task, completed=tick.now_ms / tick.duration_ms, description=said)

        yield show


WIDTH_IN_A_FILE = 120


def print_summary(scenario: Scenario, recording: Recording) -> None:
    """A line per writer group and command, what these leave out, who stopped whom, and whether
    the run is as expected."""
    from rich.console import Console

    from whitecap.reports.measures.measured_run import measure_run
    from whitecap.reports.summary import heading, summary_of
    from whitecap.terminal.findings import show_left_out, show_refusals

    console = Console()
    if not console.is_terminal:
        console.width = WIDTH_IN_A_FILE
    measured = measure_run(recording.manifest, recording.tables)
    console.print(" · ".join(heading(recording.manifest)), highlight=False)
    console.print(_table(summary_of(measured)))
    show_left_out(console, {group: part.left_out for group, part in measured.groups.items()})
    show_refusals(console, measured.refusals)
    _print_expectations(console, scenario, measured)


def _print_expectations(console: Console, scenario: Scenario, run: MeasuredRun) -> None:
    """Those of the scenario as it stands; what is expected of cells, `check` and `sweep` tell."""
    if not scenario.expect:
        return
    from whitecap.reports.expectations.expected import of_cell
    from whitecap.reports.expectations.judging import judge_run
    from whitecap.terminal.findings import show_expectations

    own = [judge_run(each, run) for each in of_cell(scenario.expect, {})]
    if own:
        show_expectations(console, "expected, judged by this one run:", own)
    if len(own) < len(scenario.expect):
        count = len(scenario.expect) - len(own)
        console.print(f"{count} more expected of cells of its sweep: whitecap check")


def _table(lines: list[Line]) -> Table:
    """Columns that are empty for everyone are left out."""
    from rich import box
    from rich.table import Table

    rows = [_cells(line) for line in lines]
    shown = [name for name in rows[0] if any(row[name] != EMPTY for row in rows)]
    caption = (
        "success: jobs that committed, of those that ended. p50, p95, p99: first submission to "
        "commit, of jobs that committed. wasted: compute lost to aborts."
    )
    table = Table(
        box=box.SIMPLE_HEAD, caption=caption, caption_justify="left", padding=(0, 1, 0, 0)
    )
    for name in shown:
        table.add_column(name, justify="left" if name in NAMES else "right", no_wrap=True)
    for line, row in zip(lines, rows, strict=True):
        table.add_row(*(row[name] for name in shown), style=None if line.command else "bold")
    return table


NAMES = ("writer", "command")
EMPTY = "·"


def _cells(line: Line) -> dict[str, str]:
    from whitecap.reports.measures.writing import duration

    counts = {
        "submitted": line.submitted,
        "committed": line.committed,
        "aborted": line.aborted,
        "unknown": line.unknown,
        "open": line.in_flight,
        "reruns": line.reruns,
        "given up": line.given_up,
        "attempts": line.attempts,
    }
    latencies = {
        "p50": line.latency_p50_ms,
        "p95": line.latency_p95_ms,
        "p99": line.latency_p99_ms,
    }
    success, wasted = line.job_success_rate, line.wasted_compute_share
    return {
        "writer": line.writer,
        "command": line.command,
        **{name: f"{count:,}" if count else EMPTY for name, count in counts.items()},
        "success": EMPTY if math.isnan(success) else f"{success:.1%}",
        **{
            name: EMPTY if math.isnan(latency) else duration(latency)
            for name, latency in latencies.items()
        },
        "wasted": EMPTY if math.isnan(wasted) else f"{wasted:.0%}",
    }
