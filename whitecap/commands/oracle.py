"""`whitecap oracle`: judges a Delta table, or a recorded run, by what it was promised."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from whitecap.exit_codes import ExitCode

if TYPE_CHECKING:
    from whitecap.sim.oracles.finding import Judgement


@click.command()
@click.argument("directory", type=click.Path(path_type=Path))
@click.option(
    "--history",
    type=click.Path(path_type=Path),
    help="What the table's writers know, as JSON lines (docs/oracles.md).",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead.")
@click.pass_context
def oracle(ctx: click.Context, directory: Path, history: Path | None, as_json: bool) -> None:
    """Look for anomalies in the Delta table of DIRECTORY, whoever wrote it.

    The log is held against the protocol, and with a history the rows against a serial run of the
    statements, reads against the isolation level, and what writers were told against the log.
    DIRECTORY may also be a recorded run (`run --out`), which brings its history, or have tables in
    it, which are then all judged.
    """
    from whitecap.terminal.as_json import print_json
    from whitecap.terminal.judgement import judgement_document, show_judgement

    judgement = _judged(directory, history)
    if as_json:
        print_json(judgement_document(judgement))
    else:
        show_judgement(judgement)
    if judgement.findings:
        ctx.exit(ExitCode.INVARIANT_VIOLATED)


def _judged(directory: Path, history: Path | None) -> Judgement:
    from whitecap.sim.oracles.judging import judge_directory
    from whitecap.sim.oracles.runs.of_run import judge_run_directory
    from whitecap.sim.recording.recording import is_run_directory

    if not is_run_directory(directory):
        return judge_directory(directory, history)
    if history is not None:
        raise click.UsageError("--history is for tables: a recorded run has its own")
    return judge_run_directory(directory)
