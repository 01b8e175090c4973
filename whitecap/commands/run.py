"""`whitecap run`: one scenario, live progress, a summary, and a recording if asked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from whitecap.options.common import json_option, seed_option
from whitecap.options.until import until_options
from whitecap.sim.quantities.bounds import MAX_REPLICATIONS

if TYPE_CHECKING:
    from whitecap.engine.errors import Problem
    from whitecap.sim.run import FinishedRun, Tick
    from whitecap.sim.scenario import Scenario
    from whitecap.until import Until


@click.command()
@click.argument("scenario", type=click.Path(path_type=Path))
@seed_option
@click.option(
    "--replication",
    type=click.IntRange(0, MAX_REPLICATIONS),
    default=0,
    show_default=True,
    help="Which one of a sweep's replications: each has random numbers of its own.",
)
@click.option(
    "--cell",
    "cells",
    multiple=True,
    metavar="AXIS=LABEL,...",
    help="Run this cell of the scenario's sweep: a label for each of its axes. Repeatable.",
)
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="PATH=VALUE",
    help="Change the scenario, e.g. writers.loader.count=4. Repeatable.",
)
@click.option("--out", type=click.Path(path_type=Path), help="Write the recording there.")
@click.option("--requests", is_flag=True, help="Record every request to the store too.")
@click.option("--export", type=click.Path(path_type=Path), help="Write the Delta table there.")
@click.option("--data", is_flag=True, help="With --export: data files in Parquet too.")
@click.option(
    "--history",
    type=click.Path(path_type=Path),
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
    most: int | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Simulate SCENARIO once and print what happened.

    SCENARIO is a file, or the name of a bundled one (`whitecap scenarios`), as `events`.
    The same scenario and seed give the same recording, byte for byte. Interrupted, a run with
    --out keeps what it recorded until then. With --until it is replicated, as a sweep of one cell.
    """
    from whitecap.engine.errors import gathered
    from whitecap.sim.oracles.runs.reopening import findings_by_name
    from whitecap.sim.run import run_scenario
    from whitecap.terminal.progress import progress

    exports = {} if export is None else {"": export}
    with gathered() as problems:
        if until:
            problems += _refused_with_until(replication, requests, export, history, overwrite)
        else:
            problems += _without_effect(out, requests, export, data)
        try:
            loaded, asked = _asked_for(scenario, cells, settings, until, most)
            exports = _places(loaded, export)
        finally:
            if not until:
                problems += _lacking_room(out, exports, history, overwrite)
    if asked is not None:
        _replicate(loaded, asked, seed, out, as_json, quiet)
        return
    with progress("simulating", quiet=quiet) as show:

        def tick(now: Tick) -> None:
            show(now.now_ms, now.duration_ms, _reached(now))

        finished = run_scenario(
            loaded,
            seed=seed,
            replication=replication,
            out=out,
            requests=requests,
            progress=tick,
            overwrite=overwrite,
            findings=findings_by_name,
        )
    versions = {
        name: _exported(finished, name, place, data, overwrite) for name, place in exports.items()
    }
    if history is not None:
        _write_history(finished, history)
    if as_json:
        _print_json(finished, out, exports, versions, history)
    else:
        _print(finished, quiet)
        _print_written(out, exports, versions, data, history)


def _without_effect(
    out: Path | None, requests: bool, export: Path | None, data: bool
) -> Iterator[Problem]:
    from whitecap.engine.errors import Problem

    if data and export is None:
        yield Problem("", "--data goes with --export")
    if requests and out is None:
        yield Problem("", "--requests goes with --out")


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
    most: int | None,
) -> tuple[Scenario, Until | None]:
    """What to run, and what to know of it if it is not run once. Raises `InvalidInput`."""
    from whitecap.assignments import cell_named, changes_named
    from whitecap.engine.errors import gathered, noted
    from whitecap.sim.loading import load_scenario

    cell: dict[str, str] | None = None
    asked: Until | None = None
    with gathered() as problems:
        if until or most is not None:
            from whitecap.until import until_of

            with noted(problems):
                asked = until_of(until, most)
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
        show_sweep(swept.subject, swept.answer, expected)
    if out is not None and not as_json:
        click.echo(f"recordings  {out}")


def _places(scenario: Scenario, export: Path | None) -> dict[str, Path]:
    """Where each table is exported to: several of them below the directory that is given."""
    if export is None:
        return {}
    names = [table.name for table in scenario.all_tables]
    return {names[0]: export} if len(names) == 1 else {name: export / name for name in names}


def _lacking_room(
    out: Path | None, exports: dict[str, Path], history: Path | None, overwrite: bool
) -> list[Problem]:
    """Before the work: what cannot be written of all that is asked for?"""
    from whitecap.engine.errors import noted
    from whitecap.sim.machine.places import require_file
    from whitecap.sim.recording.recording import require_free_for_run
    from whitecap.sim.table.export import require_free_for_table

    problems: list[Problem] = []
    with noted(problems):
        if out is not None:
            require_free_for_run(out, overwrite=overwrite)
    for export in exports.values():
        with noted(problems):
            require_free_for_table(export, overwrite=overwrite)
    with noted(problems):
        if history is not None:
            require_file(history)
    return [*problems, *_within_each_other(out, exports, history)]


def _within_each_other(
    out: Path | None, exports: dict[str, Path], history: Path | None
) -> Iterator[Problem]:
    from whitecap.engine.errors import Problem

    directories = [each.absolute() for each in (out, *exports.values()) if each is not None]
    for directory, other in combinations(directories, 2):
        if directory.is_relative_to(other) or other.is_relative_to(directory):
            yield Problem("", "--out and --export must not lie within each other")
    if history is not None and any(each.is_relative_to(history.absolute()) for each in directories):
        yield Problem("", "--history is a file, and --out or --export a directory there")


def _reached(now: Tick) -> str:
    from whitecap.terminal.progress import span

    return f"{span(now.now_ms / 1000)} simulated, {now.submitted:,} transactions"


def _exported(
    finished: FinishedRun, name: str, directory: Path, data: bool, overwrite: bool
) -> int:
    from whitecap.sim.table.export import export_table

    store = finished.world.table_named(name).store
    return export_table(store, directory, data=data, overwrite=overwrite)


def _write_history(finished: FinishedRun, file: Path) -> None:
    from whitecap.sim.oracles.history import history_lines
    from whitecap.sim.oracles.runs.of_run import history_of

    names = [table.name for table in finished.scenario.all_tables]
    lines = [
        history_lines(history_of(finished, name), name if len(names) > 1 else None)
        for name in names
    ]
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(b"".join(lines))


def _print_json(
    finished: FinishedRun,
    out: Path | None,
    exports: dict[str, Path],
    versions: dict[str, int],
    history: Path | None,
) -> None:
    from whitecap.terminal.as_json import print_json
    from whitecap.terminal.run_summary import run_document

    several = len(finished.world.tables) > 1
    written: dict[str, Any] = {
        "recording": out,
        "table": exports if several else next(iter(exports.values()), None),
        "table_version": versions if several else next(iter(versions.values()), None),
        "history": history,
    }
    print_json({**run_document(finished.scenario, finished.recording), **written})


def _print(finished: FinishedRun, quiet: bool) -> None:
    if not quiet:
        from whitecap.terminal.run_summary import show_run

        show_run(finished.scenario, finished.recording)


def _print_written(
    out: Path | None,
    exports: dict[str, Path],
    versions: dict[str, int],
    data: bool,
    history: Path | None,
) -> None:
    if out is not None:
        click.echo(f"recording  {out}")
    files = "log and data files" if data else "log only"
    for name, place in exports.items():
        click.echo(f"table      {place} (version {versions[name]}, {files})")
    if history is not None:
        click.echo(f"history    {history}")
