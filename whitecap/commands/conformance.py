"""`whitecap conformance`: observed races, run again on the engine or on a real one."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import click

from whitecap.engine.errors import Problem, each_read, gathered
from whitecap.engine.races.conformance.case import Case, CaseResult, CaseStatus, load_cases
from whitecap.engine.races.conformance.selection import cases_named, sampled
from whitecap.exit_codes import ExitCode
from whitecap.options.mistakes import gathered_with_options
from whitecap.options.types import PlaceOf, WholeNumber, WordOf
from whitecap.terminal.console import new_console
from whitecap.terminal.progress import tracked
from whitecap.terminal.table import print_indented

SHOWN_LENGTH = 500
"""How much of a value is printed: enough for any message, not for a whole table."""


@click.command()
@click.argument("files", nargs=-1, required=True, type=PlaceOf())
@click.option(
    "--engine",
    type=WordOf(["whitecap", "spark", "deltalake"]),
    default="whitecap",
    show_default=True,
    help="The engine of this project, a real Delta Lake on local Spark, or a real delta-rs.",
)
@click.option(
    "--python",
    metavar="PATH",
    help="For --engine deltalake: an interpreter that has the version to ask.",
)
@click.option("--case", "ids", multiple=True, metavar="ID", help="Run only this case; repeatable.")
@click.option("--sample", type=WholeNumber(min=1), help="Run only N cases, spread evenly.")
@click.pass_context
def conformance(
    ctx: click.Context,
    files: tuple[Path, ...],
    engine: str,
    python: str | None,
    ids: tuple[str, ...],
    sample: int,
) -> None:
    """Run the conformance cases in FILES and print every one that does not hold."""
    with gathered_with_options() as problems:
        if python is not None and engine != "deltalake":
            problems.append(Problem("", "--python is for --engine deltalake"))
        chosen = sampled(cases_named(_cases(files), ids), sample)
    counts: Counter[CaseStatus] = Counter()
    console = new_console()
    for result in tracked(_results(engine, chosen, python), len(chosen), "cases"):
        counts[result.status] += 1
        for by, line in _lines(result):
            print_indented(console, line, by=by)
    click.echo(_summary(counts))
    ctx.exit(ExitCode.EXPECTATION_MISSED if counts[CaseStatus.FAILED] else ExitCode.FINE)


def _cases(files: Iterable[Path]) -> list[Case]:
    """Raises `InvalidInput` with what is wrong in any of the files."""
    with gathered() as problems:
        cases = each_read(files, load_cases, problems)
    return list(chain.from_iterable(cases))


def _results(engine: str, cases: Iterable[Case], python: str | None) -> Iterator[CaseResult]:
    """Spark is imported only where it is asked for: it takes seconds and needs Java."""
    if engine == "spark":
        from whitecap.sim.replay.conformance import run_cases as run_on_spark

        return run_on_spark(cases)
    if engine == "deltalake":
        from whitecap.sim.replay.delta_rs.cases import run_cases as run_on_delta_rs

        return run_on_delta_rs(cases, python)
    from whitecap.engine.races.conformance.run import run_cases

    return run_cases(cases)


def _lines(result: CaseResult) -> Iterator[tuple[int, str]]:
    """Lines and how far each is moved to the right."""
    match result.status:
        case CaseStatus.PASSED:
            return
        case CaseStatus.SKIPPED:
            yield 0, f"SKIPPED {result.id}: {result.reason}"
        case CaseStatus.FAILED:
            yield 0, f"FAILED {result.id}"
            for difference in result.differences:
                yield 2, difference.key
                yield 4, f"expected: {_shown(difference.expected)}"
                yield 4, f"found:    {_shown(difference.actual)}"


def _shown(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, default=str)
    return text if len(text) <= SHOWN_LENGTH else text[: SHOWN_LENGTH - 1] + "…"


def _summary(counts: Counter[CaseStatus]) -> str:
    text = f"{counts[CaseStatus.PASSED]} passed, {counts[CaseStatus.FAILED]} failed"
    skipped = counts[CaseStatus.SKIPPED]
    return f"{text}, {skipped} skipped" if skipped else text
