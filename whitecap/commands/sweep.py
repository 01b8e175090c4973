"""`whitecap sweep`: a grid of scenarios as one Spark job, with live progress."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from whitecap.engine.errors import InvalidInput, Problem
from whitecap.spark import aggregation_session

if TYPE_CHECKING:
    from collections.abc import Callable

    from whitecap.reports.answer import Answer
    from whitecap.reports.subject import Subject
    from whitecap.sim.sweep_job import Progress

INTERRUPTED = 130
"""What shells report for a command ended by Ctrl-C."""


@click.command()
@click.argument("scenario", type=click.Path(path_type=Path))
@click.option("--out", type=click.Path(path_type=Path), help="Directory  [default: out/<name>]")
@click.option("--master", default="local[*]", show_default=True, help="Spark master.")
@click.option(
    "--replications", type=click.IntRange(min=1), help="Runs per cell, instead of the scenario's."
)
@click.option("--seed", type=click.IntRange(min=0), help="Instead of the scenario's.")
@click.option(
    "--axis",
    "kept",
    multiple=True,
    metavar="NAME[=LABEL,...]",
    help="Keep only this axis of the scenario, or only these of its labels. Repeatable.",
)
@click.option(
    "--set",
    "quick",
    multiple=True,
    metavar="PATH=V1,V2,...",
    help="Add an axis over a scenario parameter, e.g. writers.loader.count=2,4,8. Repeatable.",
)
def sweep(
    scenario: Path,
    out: Path | None,
    master: str,
    replications: int | None,
    seed: int | None,
    kept: Sequence[str],
    quick: Sequence[str],
) -> None:
    """Run every cell of SCENARIO's sweep, several times each, as one Spark job.

    Finished runs are kept when the sweep is interrupted, and the same command runs the rest.
    Replication r has the same random numbers in every cell.
    """
    from whitecap.sim.experiment import load_experiment

    experiment = load_experiment(
        scenario,
        quick_axes=dict(_quick_axis(text) for text in quick),
        only=dict(_kept_axis(text) for text in kept) or None,
        replications=replications,
        seed=seed,
    )
    directory = out or Path("out", experiment.scenario.name)
    runs = len(experiment.cells) * experiment.replications
    click.echo(
        f"{experiment.scenario.name}: {len(experiment.cells)} cells x "
        f"{experiment.replications} replications = {runs} runs in {directory}",
        err=True,
    )
    _run(experiment, directory, master)
    _print_result(directory, master)


def _run(experiment: Any, directory: Path, master: str) -> None:
    from whitecap.sim.sweep_job import run_sweep

    try:
        with _live_progress() as show:
            run_sweep(experiment, directory, lambda: aggregation_session(master), show)
    except KeyboardInterrupt:
        click.echo("interrupted: finished runs are kept, the same command runs the rest", err=True)
        raise click.exceptions.Exit(INTERRUPTED) from None


@contextmanager
def _live_progress() -> Iterator[Callable[[Progress], None]]:
    """A bar on stderr with an estimate of what is left."""
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(elapsed_when_finished=False),
    )
    bar = Progress(*columns, console=Console(stderr=True))
    task = bar.add_task("runs", total=None)

    def show(now: Any) -> None:
        bar.start()
        kept = f" ({now.kept} kept)" if now.kept else ""
        failed = f", {now.failed} failed" if now.failed else ""
        said = f"runs{kept}{failed}"
        bar.update(task, total=now.total, completed=now.finished, description=said)

    try:
        yield show
    finally:
        bar.stop()


def _print_result(directory: Path, master: str) -> None:
    """The measures of every cell and the answer; writes the tables on the way."""
    from whitecap.reports.report import analyse
    from whitecap.reports.runs import find_runs

    subject, answer = analyse(find_runs(directory), lambda: aggregation_session(master))
    _print_table(subject, answer)
    if answer is not None:
        click.echo(f"{answer.headline}.")
        for sentence in answer.sentences:
            click.echo(f"  {sentence}")
    click.echo(f"tables  {directory / 'report' / 'tables'}")
    click.echo(f"next    whitecap report {directory}")


SHOWN = {
    "goodput_per_minute": "goodput",
    "conflict_rate": "conflicts",
    "retry_rate": "retries",
    "abort_rate": "aborts",
    "job_success_rate": "success",
    "latency_p95_ms": "p95",
    "wasted_compute_share": "wasted",
}
"""Measures in the terminal, with headings short enough for it; the report has them all."""

WIDTH_IN_A_FILE = 120


def _print_table(subject: Subject, answer: Answer | None) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table

    console = Console()
    if not console.is_terminal:
        console.width = WIDTH_IN_A_FILE
    caption = "Means over replications; the report has their intervals."
    table = Table(box=box.SIMPLE_HEAD, caption=caption, caption_justify="left")
    table.add_column("cell", overflow="fold")
    for heading in SHOWN.values():
        table.add_column(heading, justify="right", no_wrap=True)
    for cell in subject.layout.cells:
        is_best = answer is not None and answer.best == cell.name
        title = subject.layout.title(cell.name)
        table.add_row(title, *_means(subject, cell.name), style="bold" if is_best else None)
    console.print(table)


def _means(subject: Subject, cell: str) -> Iterator[str]:
    from whitecap.reports.measures import MEASURES, written

    for measure in SHOWN:
        yield written(subject.tables.of(measure)[cell].point, MEASURES[measure].unit)


def _quick_axis(text: str) -> tuple[str, list[Any]]:
    """`path=v1,v2` with each value read as YAML, lists included: `[],[date]`."""
    import yaml

    path, _, values = text.partition("=")
    try:
        parsed = yaml.safe_load(f"[{values}]")
    except yaml.YAMLError:
        parsed = None
    if not path or not parsed:
        raise InvalidInput([Problem(f"--set {text}", "is not PATH=V1,V2,...")])
    return path.strip(), parsed


def _kept_axis(text: str) -> tuple[str, list[str]]:
    name, _, labels = text.partition("=")
    return name.strip(), [label.strip() for label in labels.split(",") if label.strip()]
