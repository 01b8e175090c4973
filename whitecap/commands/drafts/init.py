"""`whitecap init`: a first scenario from a few answers."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from whitecap.options.mistakes import gathered_with_options
from whitecap.options.types import PlaceOf

if TYPE_CHECKING:
    from whitecap.engine.errors import Problem

OBJECTIVE = "objective"

QUESTIONS = {
    "writers": "Which jobs write it, how many of each (insert, update, delete, merge, optimize)",
    "every": "How often does each run",
    "takes": "How long does a job take from snapshot to commit",
    "partition_by": "Partitioned by (date, country, none)",
    "store": "Which store (`whitecap stores` lists them)",
    OBJECTIVE: "What is to be reached",
}
"""What is asked on a terminal, by the option that answers it."""

SUGGESTED = {
    "writers": "merge:4",
    "every": "2 min",
    "takes": "30 s",
    "partition_by": "date",
    "store": "s3",
    OBJECTIVE: "job_success_rate >= 99 %",
}

NEEDED = ("writers", "every", "takes")


@click.command()
@click.option(
    "--writers",
    metavar="KIND:N,...",
    help="Jobs and how many, e.g. 'merge:4,optimize': insert, update, delete, merge, optimize.",
)
@click.option("--every", metavar="TIME", help="How often each of them runs, e.g. '2 min'.")
@click.option("--takes", metavar="TIME", help="Snapshot to commit, e.g. '30 s'.")
@click.option("--partition-by", metavar="COLUMNS", help="date, country, both or none.")
@click.option("--store", help="A profile of `whitecap stores`.")
@click.option(
    "--objective", "objectives", multiple=True, metavar="TEXT",
    help="E.g. 'job_success_rate >= 99 %'. Repeatable; all must hold.",
)  # fmt: skip
@click.option("--out", type=PlaceOf(), help="Write it there instead of printing.")
@click.option("--overwrite", is_flag=True, help="Replace the file that lies there.")
def init(out: Path | None, overwrite: bool, objectives: Sequence[str], **given: str | None) -> None:
    """Write a first scenario, commented, that runs and sweeps at once.

    On a terminal what no option says is asked. Elsewhere --writers, --every and --takes are needed;
    the others have defaults.
    """
    from whitecap.out_file import refused_files, write_out
    from whitecap.sim.describing.draft import DraftAnswers, drafted

    name = "" if out is None else out.stem
    with gathered_with_options() as problems:
        problems += refused_files(overwrite, {"--out": out})
        said = _answers({**given, OBJECTIVE: next(iter(objectives), None)}, problems)
        answers = {question: _one_line(answer) for question, answer in said.items()}
        several = [answers.pop(OBJECTIVE), *map(_one_line, objectives[1:])]
        text = drafted(
            DraftAnswers(**answers, objectives=several), _command(answers, several), name
        )
    write_out(out, text, "scenario")
    if out is not None:
        file = shlex.quote(str(out))
        click.echo(f"now       whitecap run {file}; whitecap sweep {file}")


def _answers(given: dict[str, str | None], problems: list[Problem]) -> dict[str, str]:
    """Every answer, asked for where there is somebody to ask; notes which are missing elsewhere.

    Nobody is asked what would be in vain.
    """
    from whitecap.engine.errors import Problem

    if is_terminal() and not problems:
        return {
            name: given[name] or click.prompt(text, default=SUGGESTED[name], err=True)
            for name, text in QUESTIONS.items()
        }
    missing = [f"--{name} {SUGGESTED[name]!r}" for name in NEEDED if not given[name]]
    if missing and not is_terminal():
        problems.append(Problem("", f"nobody to ask here: give {', '.join(missing)}"))
    return {name: given[name] or SUGGESTED[name] for name in QUESTIONS}


def is_terminal() -> bool:
    """Whether somebody can answer."""
    return sys.stdin.isatty()


def _one_line(answer: str) -> str:
    return " ".join(answer.split())


def _command(answers: dict[str, str], objectives: Sequence[str]) -> str:
    given = [*answers.items(), *((OBJECTIVE, each) for each in objectives)]
    options = (word for name, said in given for word in (f"--{_option(name)}", said))
    return shlex.join(["whitecap", "init", *options])


def _option(name: str) -> str:
    return name.replace("_", "-")
