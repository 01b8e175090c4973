"""The command itself: what may be asked, and what is printed of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from whitecap.commands.run.places import ResultPlaces, WrittenPlaces
from whitecap.options.common import cell_option, json_option, seed_option
from whitecap.options.mistakes import gathered_with_options
from whitecap.options.types import PlaceOf, WholeNumber
from whitecap.options.until import until_options
from whitecap.sim.quantities.bounds import MAX_REPLICATIONS

if TYPE_CHECKING:
    from whitecap.engine.errors import Problem
    from whitecap.sim.run import FinishedRun, Tick
    from whitecap.sim.scenario.cells import CellChoice
    from whitecap.sim.scenario.model import Scenario
    from whitecap.until import Until


@click.command()
@click.argument("scenario", type=PlaceOf())
@seed_option
@click.option(
    "--replication",
    type=WholeNumber(0, MAX_REPLICATIONS),
    default=0,
    show_default=True,
    help="Which one of a sweep's replications: each has random numbers of its own.",
)
@cell_option
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="PATH=VALUE",
    help="Change the scenario, e.g. writers.loader.count=4. Repeatable.",
)
@click.option("--out", type=PlaceOf(), help="Write the recording there.")
@click.option("--requests", is_flag=True, help="Record every request to the store too.")
@click.option("--export", type=PlaceOf(), help="Write the Delta table there.")
@click.option("--data", is_flag=True, help="With --export: data files in Parquet too.")
@click.option(
    "--history",
    type=PlaceOf(),
    help="Write what its writers know there, for `whitecap oracle`.",
)
@click.option("--overwrite", is_flag=True, help="Replace the run and the export that lie there.")
@until_options
@json_option
@click.option("--quiet", is_flag=True, help="No progress and no summary.")
def run(
    scenario: Path,
    seed: int | None,
    replication: int,
    cells: Sequence[str],
    settings: Sequence[str],
    out: Path | None,
    requests: bool,
    export: Path | None,
    data: bool,
    history: Path | None,
    overwrite: bool,
    until: Sequence[str],
    max_replications: int | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Simulate SCENARIO once and print what happened.

    SCENARIO is a file, or the name of a bundled one (`whitecap scenarios`), as `events`.
    The same scenario and seed give the same recording, byte for byte. Interrupted, a run with
    --out keeps what it recorded until then. With --until it is replicated, as a sweep of one cell.
    """
    from whitecap.sim.machine.places import refused_places
    from whitecap.sim.run import run_scenario

    places = ResultPlaces(out, export, history)
    with gathered_with_options() as problems:
        if until:
            from whitecap.sweep_places import require_sweep_place

            problems += _refused_with_until(replication, requests, export, history, overwrite)
            problems += refused_places(require_sweep_place, out)
        else:
            problems += _without_effect(out, requests, export, data, overwrite)
        try:
            loaded, asked = _asked_for(scenario, cells, settings, until, max_replications)
            places = places.of(loaded)
        finally:
            if not until:
                problems += places.problems(overwrite=overwrite)
    if asked is not None:
        _replicate(loaded, asked, seed, out, as_json, quiet)
        return
    once = partial(run_scenario, loaded, seed=seed, replication=replication, requests=requests)
    _run_once(once, places, overwrite, data, as_json, quiet)


def _run_once(
    once: Callable[..., FinishedRun],
    places: ResultPlaces,
    overwrite: bool,
    data: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Run it, write what has a place, and print both: what could not be written is not lost.

    Raises `NotWritten`.
    """
    from whitecap.sim.machine.places import NotWritten
    from whitecap.sim.oracles.runs.expected import findings_by_name

    ready = partial(once, out=places.out, overwrite=overwrite, findings=findings_by_name)
    done = WrittenPlaces()
    try:
        finished = _watched(ready, quiet)
        for written in places.write(finished, data=data, overwrite=overwrite):
            done = written
    except NotWritten as error:
        _give(error.result, done, data, as_json, quiet)
        raise
    _give(finished, done, data, as_json, quiet)


def _give(
    finished: FinishedRun, done: WrittenPlaces, data: bool, as_json: bool, quiet: bool
) -> None:
    """Print what happened, and where it was written."""
    if as_json:
        _print_json(finished, done)
    else:
        _print(finished, quiet)
        _print_places(done, data=data)


def _watched(run: Callable[..., FinishedRun], quiet: bool) -> FinishedRun:
    """Make a run that says how far it is."""
    from whitecap.terminal.progress import progress

    with progress("simulating", quiet=quiet) as show:

        def tick(now: Tick) -> None:
            show(now.now_ms, now.duration_ms, _reached(now))

        return run(progress=tick)


def _without_effect(
    out: Path | None, requests: bool, export: Path | None, data: bool, overwrite: bool
) -> Iterator[Problem]:
    from whitecap.engine.errors import Problem
    from whitecap.out_file import overwriting_nothing

    if data and export is None:
        yield Problem("", "--data goes with --export")
    if requests and out is None:
        yield Problem("", "--requests goes with --out")
    yield from overwriting_nothing(overwrite, {"--out": out, "--export": export})


def _refused_with_until(
    replication: int, requests: bool, export: Path | None, history: Path | None, overwrite: bool
) -> Iterator[Problem]:
    """What is of one run, and there are several: each can be made again by its replication."""
    from whitecap.engine.errors import Problem

    given = {
        "--replication": replication,
        "--requests": requests,
        "--export": export,
        "--history": history,
        "--overwrite": overwrite,
    }
    wrong = [name for name, value in given.items() if value]
    if wrong:
        yield Problem("", f"{', '.join(wrong)} is of one run, and --until makes several")


def _asked_for(
    path: Path,
    cells: Sequence[str],
    settings: Sequence[str],
    until: Sequence[str],
    max_replications: int | None,
) -> tuple[Scenario, Until | None]:
    """What to run, and what to know of it if it is not run once. Raises `InvalidInput`."""
    from whitecap.engine.errors import gathered, noted
    from whitecap.options.assignments import cell_named, changes_named
    from whitecap.sim.loading import load_scenario

    cell: CellChoice | None = None
    asked: Until | None = None
    with gathered() as problems:
        if until or max_replications is not None:
            from whitecap.until import until_of

            with noted(problems):
                asked = until_of(until, max_replications)
        changes = changes_named(settings, problems)
        with noted(problems):
            cell = cell_named(cells)
        loaded = load_scenario(path, changes, cells=False, cell=cell)
    return loaded, asked


def _replicate(
    scenario: Scenario,
    until: Until,
    seed: int | None,
    out: Path | None,
    as_json: bool,
    quiet: bool,
) -> None:
    from whitecap.reports.expectations.expected import of_cell
    from whitecap.sweeps import replicated
    from whitecap.terminal.as_json import print_json
    from whitecap.terminal.sweep_result import show_sweep, sweep_document

    swept = replicated(scenario, until, seed=seed, out=out, quiet=quiet)
    expected = of_cell(scenario.expect, scenario.labels)
    if as_json:
        print_json({**sweep_document(swept.subject, swept.answer, expected), "directory": out})
    elif not quiet:
        show_sweep(swept.subject, swept.answer, expected, scenario)
    if out is not None and not as_json:
        click.echo(f"recordings  {out}")


def _reached(now: Tick) -> str:
    from whitecap.terminal.progress import span

    return f"{span(now.now_ms / 1000)} simulated, {now.submitted:,} transactions"


def _print_json(finished: FinishedRun, done: WrittenPlaces) -> None:
    from whitecap.terminal.as_json import print_json
    from whitecap.terminal.run_summary import run_document

    several = len(finished.world.tables) > 1
    exports, versions = done.places.exports, done.versions
    written: dict[str, Any] = {
        "recording": done.places.out,
        "table": exports if several else next(iter(exports.values()), None),
        "table_version": versions if several else next(iter(versions.values()), None),
        "history": done.places.history,
    }
    print_json({**run_document(finished.scenario, finished.recording), **written})


def _print(finished: FinishedRun, quiet: bool) -> None:
    if not quiet:
        from whitecap.terminal.run_summary import show_run

        show_run(finished.scenario, finished.recording)


def _print_places(done: WrittenPlaces, *, data: bool) -> None:
    """A line for each place that was written to."""
    places, versions = done.places, done.versions
    if places.out is not None:
        click.echo(f"recording  {places.out}")
    files = "log and data files" if data else "log only"
    for name, place in places.exports.items():
        click.echo(f"table      {place} (version {versions[name]}, {files})")
    if places.history is not None:
        click.echo(f"history    {places.history}")
