"""The command itself: what may be asked, which options go together, and its exit code."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from whitecap.commands.chaos.making import CampaignMaking, workers_of
from whitecap.commands.chaos.real_writers import chaos_of_real_writers
from whitecap.exit_codes import ExitCode
from whitecap.options.common import SEED, jobs_option, json_option
from whitecap.options.mistakes import gathered_with_options
from whitecap.options.types import PlaceOf, Positive, WholeNumber, WordOf
from whitecap.out_file import not_apart
from whitecap.sim.machine.places import refused_places, require_directory

if TYPE_CHECKING:
    from whitecap.sim.chaos.campaign import Workers
    from whitecap.sim.chaos.kept import Course

DEFAULT = ParameterSource.DEFAULT

MOST_RUNS = 10_000_000
"""More than a machine makes in a month."""


@click.command()
@click.argument("scenarios", nargs=-1, required=True, type=PlaceOf())
@click.option(
    "--runs", type=WholeNumber(1, MOST_RUNS), default=1000, show_default=True,
    help="How many variations, of the scenarios in turn.",
)  # fmt: skip
@click.option(
    "--minutes", type=Positive(min=0, min_open=True),
    help="End after so long, whatever number of runs there have been.",
)  # fmt: skip
@click.option(
    "--seed", type=SEED, default=1, show_default=True,
    help="Which variations are drawn.",
)  # fmt: skip
@click.option(
    "--without", multiple=True, metavar="FAULT",
    help="A kind of fault that no run has, for instance stale_listing; may be repeated.",
)  # fmt: skip
@click.option(
    "--rows-every", type=WholeNumber(1, MOST_RUNS), default=10, show_default=True,
    metavar="N",
    help="In every Nth run statements are run again, in DuckDB, and rows compared.",
)  # fmt: skip
@click.option("--resume", is_flag=True, help="Go on with the campaign that lies in --out.")
@click.option("--only", type=WholeNumber(0, MOST_RUNS), help="Make this one run again.")
@jobs_option
@click.option("--master", help="Make the runs as jobs of this Spark master, such as local[*].")
@click.option(
    "--out", type=PlaceOf(), default=Path("out", "chaos"), show_default=True,
    help="Where scenarios that go wrong are written, drawn and small.",
)  # fmt: skip
@click.option(
    "--save", type=PlaceOf(),
    help="Put small scenarios here too, for instance scenarios/regression, to keep them.",
)  # fmt: skip
@click.option(
    "--shrink/--no-shrink", default=True, show_default=True, help="Make what goes wrong small."
)
@json_option
@click.option(
    "--real",
    type=WordOf(["deltalake", "spark"]),
    help="Let real writers do it: deltalake on a store of ours that fails, Spark in a JVM that is "
    "killed; --runs is then 1 per scenario.",
)
@click.option("--python", help="The interpreter whose deltalake it is  [default: this one]")
@click.pass_context
def chaos(
    ctx: click.Context,
    scenarios: tuple[Path, ...],
    runs: int,
    minutes: float | None,
    seed: int,
    without: tuple[str, ...],
    rows_every: int,
    resume: bool,
    only: int | None,
    jobs: int | None,
    master: str | None,
    out: Path,
    save: Path | None,
    shrink: bool,
    as_json: bool,
    real: str | None,
    python: str | None,
) -> None:
    """Draw variations of SCENARIOS, run them under faults, and let oracles judge what is left.

    Each run draws writers, layout, isolation, dialect, store and faults; then faults end, and all
    that is left must finish. What goes wrong is explained by a failure that is gone when the same
    seed is run without it, or it is a defect. Ctrl-C ends a campaign early.
    """
    from whitecap.engine.errors import Problem, each_read
    from whitecap.sim.chaos.campaign import Campaign, Tally, fault_kinds
    from whitecap.sim.chaos.kept import CAMPAIGN, Course, kept
    from whitecap.sim.loading import load_scenario

    with gathered_with_options() as problems:
        problems += (Problem("", said) for said in _contradictions(ctx))
        problems += refused_places(require_directory, out, save)
        problems += not_apart({"--out": out, "--save": save})
        loaded = each_read(scenarios, load_scenario, problems)
        calmer = fault_kinds(without)
    if real is not None and ctx.get_parameter_source("runs") is DEFAULT:
        runs = len(loaded)
    numbers = range(runs) if only is None else range(only, only + 1)
    if real is not None:
        ctx.exit(chaos_of_real_writers(loaded, numbers, seed, out, real, python, as_json))
    rows = rows_every if only is None else 1
    campaign = Campaign(loaded, len(numbers), seed, numbers.start, calmer, rows)
    course = kept(out / CAMPAIGN, campaign) if resume else Course(Tally(campaign.without))
    making = CampaignMaking(campaign, course, scenarios, out, save, shrink, as_json, only is None)
    _make(making, workers_of(jobs, master), minutes)
    ctx.exit(ExitCode.INTERRUPTED if making.is_interrupted else _exit_code(course))


def _make(
    making: CampaignMaking, workers: AbstractContextManager[Workers], minutes: float | None
) -> None:
    """Make the runs of a campaign, and print what came of all of them."""
    from whitecap.terminal.as_json import print_json
    from whitecap.terminal.campaign import campaign_document, show_course

    tally, began = making.course.tally, time.monotonic()
    before = tally.runs
    with workers as working:
        making.make(working, minutes)
    if making.quiet:
        print_json(campaign_document(making.course, making.campaign.seed))
    else:
        show_course(making.course, tally.runs - before, time.monotonic() - began)


OF_SIMULATED = {
    name: f"--{name.replace('_', '-')}"
    for name in (
        "minutes",
        "jobs",
        "master",
        "save",
        "shrink",
        "without",
        "rows_every",
        "resume",
    )
}
"""Options that mean nothing to real writers."""


def _contradictions(ctx: click.Context) -> Iterator[str]:
    """Options that exclude others, or would be passed over."""
    given = {name for name in ctx.params if ctx.get_parameter_source(name) is not DEFAULT}
    real = ctx.params["real"]
    if real != "deltalake" and "python" in given:
        yield "--python is of --real deltalake"
    if real is not None:
        vain = (option for name, option in OF_SIMULATED.items() if name in given)
        yield from (f"{option} is of simulated writers, not of --real" for option in vain)
    if "save" in given and not ctx.params["shrink"]:
        yield "--save keeps small scenarios, and --no-shrink makes none"
    if {"jobs", "master"} <= given:
        yield "--jobs is for processes, and --master for Spark: give one of them"
    if {"runs", "only"} <= given:
        yield "--only makes one run again, and --runs says how many to make"
    if {"resume", "only"} <= given:
        yield "--only makes one run again, and --resume makes those to come"


def _exit_code(course: Course) -> ExitCode:
    if any(each["cause"] is None for each in course.findings):
        return ExitCode.INVARIANT_VIOLATED
    return ExitCode.EXPECTATION_MISSED if course.findings else ExitCode.FINE
