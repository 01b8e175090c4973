"""`whitecap from-log`: a first scenario from the log of a real table."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import click

from whitecap.options.mistakes import gathered_with_options
from whitecap.options.types import PlaceOf, WholeNumber
from whitecap.sim.inferring import DEFAULT_COMMITS
from whitecap.terminal.progress import progress

if TYPE_CHECKING:
    from collections.abc import Sequence

    from whitecap.sim.inferring.drafting import DraftedScenario
    from whitecap.sim.inferring.failures import ReportedFailure


@click.command(name="from-log")
@click.argument("table", type=PlaceOf(str))
@click.option("--out", type=PlaceOf(), help="Write it there instead of printing.")
@click.option("--overwrite", is_flag=True, help="Replace the file that lies there.")
@click.option("--store", help="A profile of `whitecap stores`. [default: by where TABLE lies]")
@click.option("--anonymise", is_flag=True, help="Other names and values than the table's.")
@click.option("--from-files", is_flag=True, help="Its runs begin with the table's own files.")
@click.option(
    "--commits", type=WholeNumber(min=1), default=DEFAULT_COMMITS, show_default=True,
    help="Read so many of the newest.",
)  # fmt: skip
@click.option(
    "--failures", type=PlaceOf(),
    help="CSV of instant, job, exception: held against what the scenario predicts.",
)  # fmt: skip
def from_log(
    table: str,
    out: Path | None,
    overwrite: bool,
    store: str | None,
    anonymise: bool,
    from_files: bool,
    commits: int,
    failures: Path | None,
) -> None:
    """Write a first scenario from the log of the Delta table at TABLE.

    TABLE is a directory or a URI (s3://, gs://, abfss://, hdfs://). Its log is read, nothing is
    written there. Above each figure of the scenario stands how it is known. A log holds no aborted
    transaction: runs of the scenario predict how many there are.
    """
    from whitecap.drafting import from_log as drafted
    from whitecap.engine.errors import Problem, noted
    from whitecap.out_file import not_apart, refused_files, write_out

    name = "" if out is None else out.stem
    kept = None
    with gathered_with_options() as problems:
        problems += refused_files(overwrite, {"--out": out})
        problems += not_apart({"--failures": failures, "--out": out})
        if failures is not None and out is None:
            problems.append(Problem("", "--failures needs --out: the comparison is printed"))
        with noted(problems):
            kept = None if failures is None else _failures(failures)
        with progress("reading the log"):
            draft = drafted(
                table, store=store, anonymise=anonymise, commits=commits, name=name,
                from_files=from_files,
            )  # fmt: skip
    write_out(out, draft.text, "scenario")
    if out is not None:
        _tell(draft.inferred, shlex.quote(str(out)))
    if kept is not None:
        _compare(draft.inferred, kept)


def _failures(file: Path) -> Sequence[ReportedFailure]:
    from whitecap.sim.inferring.failures import read_failures

    return read_failures(file)


def _compare(draft: DraftedScenario, failures: Sequence[ReportedFailure]) -> None:
    """The conflicts that were seen beside those that runs of the draft predict."""
    from whitecap.sim.inferring.failures import SHOWN, compare
    from whitecap.terminal.console import new_console
    from whitecap.terminal.table import PrintedColumn, show_table

    with progress("predicting"):
        comparison = compare(draft, failures)
    columns = [PrintedColumn(name, text=name in (SHOWN[0], SHOWN[-1])) for name in SHOWN]
    rows = [each.shown for each in comparison.groups]
    show_table(new_console(), columns, rows, caption=comparison.caption)


def _tell(draft: DraftedScenario, file: str) -> None:
    """What is in it, what is not, and what to do now."""
    for lead, lines in (("writers", draft.writers), ("left out", draft.left_out)):
        for at, line in enumerate(lines):
            click.echo(f"{'' if at else lead:<10}{line!s}")
    click.echo("aborts    none is in a log: runs of the scenario predict them")
    click.echo(f"now       whitecap run {file}; whitecap sweep {file}")
