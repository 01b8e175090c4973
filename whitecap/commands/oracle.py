"""`whitecap oracle`: judges a Delta table, or a recorded run, by what it was promised."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from whitecap.exit_codes import ExitCode
from whitecap.options.common import json_option
from whitecap.options.mistakes import gathered_with_options
from whitecap.options.types import PlaceOf

if TYPE_CHECKING:
    from whitecap.engine.errors import Problem
    from whitecap.sim.oracles.evidence import Evidence
    from whitecap.sim.oracles.finding import Judgement


@click.command()
@click.argument("directory", type=PlaceOf())
@click.option(
    "--history",
    type=PlaceOf(),
    help="What the table's writers know, as JSON lines (docs/oracles.md).",
)
@click.option(
    "--spark",
    is_flag=True,
    help="Run the statements on a real Spark with Delta Lake as well: half a second for each.",
)
@json_option
@click.pass_context
def oracle(
    ctx: click.Context, directory: Path, history: Path | None, spark: bool, as_json: bool
) -> None:
    """Look for anomalies in the Delta table of DIRECTORY, whoever wrote it.

    The log is held against the protocol, and with a history the rows against a serial run of the
    statements, reads against the isolation level, and what writers were told against the log.
    DIRECTORY may also be a recorded run (`run --out`), which brings its history, or have tables in
    it, which are then all judged.
    """
    from whitecap.terminal.as_json import print_json
    from whitecap.terminal.judgement import judgement_document, show_judgement

    judgement = _judged(directory, history, spark)
    if as_json:
        print_json(judgement_document(judgement))
    else:
        show_judgement(judgement)
    if judgement.findings:
        ctx.exit(ExitCode.INVARIANT_VIOLATED)


def _judged(directory: Path, history: Path | None, spark: bool) -> Judgement:
    from whitecap.engine.errors import noted
    from whitecap.sim.oracles.judging import judge_directory, judge_evidence, require_judgeable
    from whitecap.sim.oracles.runs.of_run import judge_run_directory
    from whitecap.sim.recording.recording import is_run_directory

    is_run = is_run_directory(directory)
    with gathered_with_options() as problems:
        problems += _contradictions(is_run, history, spark)
        if problems and not is_run:  # else they are told when it is judged
            with noted(problems):
                require_judgeable(directory, history)
    judge = _with_spark if spark else judge_evidence
    if is_run:
        return judge_run_directory(directory, judge)
    return judge_directory(directory, history, judge)


def _contradictions(is_run: bool, history: Path | None, spark: bool) -> Iterator[Problem]:
    """A run that brings its history, and statements that nobody names."""
    from whitecap.engine.errors import Problem

    if is_run and history is not None:
        yield Problem("--history", "is for tables: a recorded run has its own")
    if spark and not is_run and history is None:
        yield Problem("--spark", "runs statements: give the --history that has them")


def _with_spark(evidence: Evidence) -> Judgement:
    """Spark starts with the first table: not before it is known that there is one."""
    from whitecap.sim.oracles.on_spark.judging import judge_with_spark

    return judge_with_spark()(evidence)
