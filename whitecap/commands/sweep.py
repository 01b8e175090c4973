"""`whitecap sweep`: a grid of scenarios as one Spark job, with live progress."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from engine.errors import InvalidInput, Problem
from whitecap.spark import aggregation_session

if TYPE_CHECKING:
    from collections.abc import Callable

    from reports.answer import Answer
    from reports.subject import Subject
    from sim.sweep_job import Progress

INTERRUPTED = 130
"""What shells report for a command ended by Ctrl-C."""


@click.command()
@click.argument("scenario", type=click.Path(path_type=Path))
@click.option("--out", type=click.Path(path_type=Path), help="Directory  [default: out/<name>]")
@click.option("--master", default="local[*]", show_default=True, help="Spark master.")
@click.option("--replications", type=int, help="Runs per cell, instead of the scenario's.")
@click.option("--seed", type=int, help="Instead of the scenario's.")
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
    from sim.experiment import load_experiment

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
    from sim.sweep_job import run_sweep

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
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task("starting", total=None)

        def show(now: Any) -> None:
            words = f"runs, {now.failed} failed" if now.failed else "runs"
            kept = f" ({now.kept} kept)" if now.kept else ""
            bar.update(task, total=now.total, completed=now.finished, description=words + kept)

        yield show


def _print_result(directory: Path, master: str) -> None:
    """The measures of every cell and the answer; writes the tables on the way."""
    from reports.report import analyse
    from reports.runs import find_runs

    subject, answer = analyse(find_runs(directory), lambda: aggregation_session(master))
    _print_table(subject, answer)
    if answer is not None:
        click.echo(f"{answer.headline}.")
        for sentence in answer.sentences:
            click.echo(f"  {sentence}")
    click.echo(f"tables  {directory / 'report' / 'tables'}")
    click.echo(f"next    whitecap report {directory}")


SHOWN = (
    "goodput_per_minute", "conflict_rate", "retry_rate", "abort_rate", "job_success_rate",
    "latency_p95_ms", "wasted_compute_share",
)  # fmt: skip


def _print_table(subject: Subject, answer: Answer | None) -> None:
    from rich.console import Console
    from rich.table import Table

    from reports.page_tables import measures_table

    content = measures_table(subject, SHOWN)
    table = Table(*content.headings, caption=subject.provenance.line)
    best = subject.layout.title(answer.best) if answer else None
    for row in content.rows:
        texts = (f"{e.text}\n[dim]{e.below}[/dim]" if e.below else e.text for e in row)
        table.add_row(*texts, style="bold" if row[0].text == best else None)
    Console().print(table)


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
