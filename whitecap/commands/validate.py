"""`whitecap validate`: how far the simulator's rates hold on a real Delta Lake, on this machine."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from whitecap.engine.errors import Problem, noted
from whitecap.exit_codes import ExitCode
from whitecap.options.common import SEED, json_option
from whitecap.options.mistakes import gathered_with_options, note_mistake
from whitecap.options.number_lists import numbers_outside
from whitecap.options.types import PlaceOf, WholeNumber
from whitecap.sim.machine.places import require_directory
from whitecap.terminal.progress import progress

if TYPE_CHECKING:
    from whitecap.sim.freerun.comparison import FreeRunResult

MAX_PARTITIONS = 1_000
"""More than anybody measures: it keeps a list of numbers readable."""


def _numbers(ctx: click.Context, option: click.Parameter, given: str) -> tuple[int, ...]:
    """Whole numbers above 1, separated by commas; of nothing, none."""
    parts = [part.strip() for part in given.split(",") if part.strip()]
    if numbers_outside(parts, 2, MAX_PARTITIONS):
        said = f"write numbers above 1 and up to {MAX_PARTITIONS}, such as 2,4,8,16"
        note_mistake(said, option, ctx)
        return ()
    return tuple(map(int, parts))


@click.command()
@click.option("--real", is_flag=True, help="Let threads run freely on a real Delta Lake.")
@click.option(
    "--partitions",
    default="2,4,8,16",
    show_default=True,
    metavar="N,...",
    callback=_numbers,
    help="UPDATE on tables of so many partitions.",
)
@click.option(
    "--mix/--no-mix", default=True, show_default=True, help="Also MERGE, INSERT and OPTIMIZE."
)
@click.option(
    "--statements",
    type=WholeNumber(10, 100_000),
    default=300,
    show_default=True,
    help="So many in each run; more make ranges narrower.",
)
@click.option(
    "--threads",
    type=WholeNumber(2, 64),
    default=4,
    show_default=True,
    help="So many run statements at the same time.",
)
@click.option(
    "--seed",
    type=SEED,
    default=1,
    show_default=True,
    help="Which partitions are drawn.",
)
@click.option(
    "--out",
    type=PlaceOf(),
    default=Path("out", "validate"),
    show_default=True,
    help="Where everything is written; the same command goes on with what is there.",
)
@click.option("--overwrite", is_flag=True, help="Begin anew, whatever of it is in --out.")
@json_option
@click.pass_context
def validate(
    ctx: click.Context,
    real: bool,
    partitions: tuple[int, ...],
    mix: bool,
    statements: int,
    threads: int,
    seed: int,
    out: Path,
    overwrite: bool,
    as_json: bool,
) -> None:
    """Predict how often statements refuse each other on a real Delta Lake, then let them run.

    For each workload durations are measured where nothing can conflict, the simulator predicts
    from them, the prediction is written down, and only then do the threads meet. Takes about half
    an hour on two idle cores. What needs no Delta Lake (laws, published models) is
    validated from a checkout by `make validate`.
    """
    from whitecap.sim.freerun.free_run import (
        FreeRunSettings,
        free_run,
        make_place,
        require_settings,
    )
    from whitecap.sim.machine.interruption import interruption_says

    settings = FreeRunSettings(partitions, mix, statements, threads, seed)
    with gathered_with_options() as problems:
        if not real:
            said = "what needs no Delta Lake is validated by `make validate` in a checkout"
            problems.append(Problem("", f"say --real; {said}"))
        with noted(problems):
            require_settings(settings)
        require_directory(out)
    make_place(settings, out, overwrite=overwrite)
    kept = f"the same command goes on with what is in {out}"
    with interruption_says(kept), progress("validating") as show:
        result = free_run(settings, out, show)
    _print(result, out, as_json)
    ctx.exit(ExitCode.FINE if result.holds else ExitCode.EXPECTATION_MISSED)


def _print(result: FreeRunResult, out: Path, as_json: bool) -> None:
    from whitecap.terminal.as_json import print_json
    from whitecap.terminal.free_run import free_run_document, show_free_run

    if as_json:
        print_json(free_run_document(result))
    else:
        show_free_run(result)
        click.echo(f"written to {out / 'result.md'}")
