"""`whitecap chaos`: many drawn variations of scenarios under faults, judged by oracles."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from whitecap.exit_codes import ExitCode
from whitecap.options.common import jobs_option, json_option
from whitecap.real_writers import chaos_of_real_writers
from whitecap.sim.machine.places import require_directory
from whitecap.sim.quantities.bounds import MAX_SEED
from whitecap.terminal.progress import Show, progress

if TYPE_CHECKING:
    from whitecap.sim.chaos.campaign import Campaign, Workers
    from whitecap.sim.chaos.examining import Examined
    from whitecap.sim.chaos.kept import Course
    from whitecap.sim.chaos.trials import Trials
    from whitecap.sim.scenario import Scenario

DEFAULT = ParameterSource.DEFAULT

MOST_RUNS = 10_000_000
"""More than a machine makes in a month."""

KEPT_EVERY_S = 30.0
"""What a campaign that is killed loses at most."""


@click.command()
@click.argument("scenarios", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--runs", type=click.IntRange(1, MOST_RUNS), default=1000, show_default=True,
    help="How many variations, of the scenarios in turn.",
)  # fmt: skip
@click.option(
    "--minutes", type=click.FloatRange(min=0, min_open=True),
    help="End after so long, whatever number of runs there have been.",
)  # fmt: skip
@click.option(
    "--seed", type=click.IntRange(0, MAX_SEED), default=1, show_default=True,
    help="Which variations are drawn.",
)  # fmt: skip
@click.option(
    "--without", multiple=True, metavar="FAULT",
    help="A kind of fault that no run has, for instance stale_listing; may be repeated.",
)  # fmt: skip
@click.option(
    "--rows-every", type=click.IntRange(1, MOST_RUNS), default=10, show_default=True,
    metavar="N",
    help="In every Nth run statements are run again, in DuckDB, and rows compared.",
)  # fmt: skip
@click.option("--resume", is_flag=True, help="Go on with the campaign that lies in --out.")
@click.option("--only", type=click.IntRange(0, MOST_RUNS), help="Make this one run again.")
@jobs_option
@click.option("--master", help="Make the runs as jobs of this Spark master, such as local[*].")
@click.option(
    "--out", type=click.Path(path_type=Path), default=Path("out", "chaos"), show_default=True,
    help="Where scenarios that go wrong are written, drawn and small.",
)  # fmt: skip
@click.option(
    "--save", type=click.Path(path_type=Path),
    help="Put small scenarios here too, for instance scenarios/regression, to keep them.",
)  # fmt: skip
@click.option("--shrink/--no-shrink", default=True, help="Make what goes wrong small.")
@json_option
@click.option(
    "--real",
    type=click.Choice(["deltalake", "spark"]),
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
    from whitecap.engine.errors import gathered, noted
    from whitecap.sim.chaos.campaign import Campaign, Tally, fault_kinds
    from whitecap.sim.chaos.kept import CAMPAIGN, Course, kept
    from whitecap.sim.loading import load_scenario
    from whitecap.terminal.as_json import print_json
    from whitecap.terminal.campaign import campaign_document, show_tally

    _require_no_contradiction(ctx)
    loaded: list[Scenario] = []
    with gathered() as problems:
        for place in (out, save) if save is not None else (out,):
            with noted(problems):
                require_directory(place)
        for path in scenarios:
            with noted(problems):
                loaded.append(load_scenario(path))
        calmer = fault_kinds(without)
    if real is not None and ctx.get_parameter_source("runs") is DEFAULT:
        runs = len(loaded)
    first, count, rows = (0, runs, rows_every) if only is None else (only, 1, 1)
    if real is not None:
        numbers = range(first, first + count)
        ctx.exit(chaos_of_real_writers(loaded, numbers, seed, out, real, python, as_json))
    campaign = Campaign(loaded, count, seed, first, calmer, rows)
    course = kept(out / CAMPAIGN, campaign) if resume else Course(Tally(campaign.without))
    making = _Making(campaign, course, scenarios, out, save, shrink, as_json, only is None)
    before, began = course.tally.runs, time.monotonic()
    with _workers(jobs, master) as workers:
        making.make(workers, minutes)
    if as_json:
        print_json(campaign_document(course, seed))
    else:
        show_tally(course.tally, course.tally.runs - before, time.monotonic() - began)
    ctx.exit(ExitCode.INTERRUPTED if making.is_interrupted else _exit_code(course))


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


def _require_no_contradiction(ctx: click.Context) -> None:
    """Raises `UsageError` with all options that exclude others, or would be passed over."""
    contradictions = list(_contradictions(ctx))
    if contradictions:
        raise click.UsageError("\n".join(contradictions))


def _contradictions(ctx: click.Context) -> Iterator[str]:
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
    if {"resume", "only"} <= given:
        yield "--only makes one run again, and --resume makes those to come"


@contextmanager
def _workers(jobs: int | None, master: str | None) -> Iterator[Workers]:
    """Processes of this machine, or jobs of Spark if it has a master."""
    if master is not None:
        from whitecap.sim.chaos.on_spark import SparkMap
        from whitecap.sweep_engine import spark_session

        yield SparkMap(spark_session(master, makes_runs=True))
        return
    from whitecap.sim.machine.processes import Processes, at_a_time

    with Processes(at_a_time(jobs)) as processes:
        yield processes


@dataclass(slots=True)
class _Making:
    """A campaign under way; it is kept in `out` now and then, unless it is one run made again."""

    campaign: Campaign
    course: Course
    paths: Sequence[Path]
    out: Path
    save: Path | None
    shrink: bool
    quiet: bool
    is_kept: bool
    is_interrupted: bool = False

    def make(self, workers: Workers, minutes: float | None) -> None:
        """All runs that are left, or those until the time is up or Ctrl-C."""
        from whitecap.sim.chaos.trials import shared_trials

        try:
            with shared_trials() as trials, progress("chaos") as show:
                self._make(workers, minutes, show, trials)
        except KeyboardInterrupt:
            runs = self.course.tally.runs
            if not runs:
                raise KeyboardInterrupt("no run was finished, so nothing is kept") from None
            from whitecap.reports.statistics.wording import counted

            self.is_interrupted = True
            made = counted(runs, "run")
            click.echo(f"interrupted after {made}; what was found is kept", err=True)
        finally:
            self._keep()

    def _make(self, workers: Workers, minutes: float | None, show: Show, trials: Trials) -> None:
        from whitecap.sim.chaos.campaign import Judges, run_campaign
        from whitecap.sim.oracles.runs import reopening

        tally = self.course.tally
        before, began = tally.runs, time.monotonic()
        kept_at = began
        reached = partial(self._reached, before, began, trials)
        show(before / self.campaign.runs, 1.0, reached)
        judges = Judges(reopening.judgement_with_readers, reopening.judgement_without_replay)
        rest = self.campaign.after(before)
        made = run_campaign(rest, judges, workers, make_small=self.shrink, trials=trials)
        for run, examined in made:
            tally.add(run)
            now = time.monotonic()
            share = tally.runs / self.campaign.runs
            if minutes is not None:
                share = max(share, (now - began) / 60 / minutes)
            show(min(share, 1.0), 1.0, reached)
            if examined is not None:
                self._tell(examined)
            if now - kept_at > KEPT_EVERY_S:
                self._keep()
                kept_at = now
            if share >= 1:
                break

    def _tell(self, examined: Examined) -> None:
        """A finding is told when it comes."""
        from whitecap.terminal.campaign import again, finding_document, show_finding

        self.course.findings.append(finding_document(examined))
        command = again(self.paths, self.campaign, examined.run.number)
        small = _write(examined, command, self.out, self.save)
        if not self.quiet:
            show_finding(examined, command, small)

    def _keep(self) -> None:
        from whitecap.sim.chaos.kept import CAMPAIGN, keep

        if self.is_kept and self.course.tally.runs:
            keep(self.out / CAMPAIGN, self.campaign, self.course)

    def _reached(self, before: int, began: float, trials: Trials) -> str:
        seconds = time.monotonic() - began
        tally = self.course.tally
        rate = (tally.runs - before) / seconds if seconds else 0.0
        counts = (
            f"{tally.runs:,} runs, {rate:.1f} a second, {tally.commits:,} commits, "
            f"{len(self.course.findings)} with findings"
        )
        return ", ".join((counts, *_waiting_for(self.campaign.first + tally.runs, trials)))


def _waiting_for(run: int, trials: Trials) -> Iterator[str]:
    """What is done with the finding of a run, if that is what the next runs wait for."""
    tried = trials.of(run)
    if tried is not None:
        yield f"making run {run} small: {tried} tried" if tried else f"explaining run {run}"


def _write(examined: Examined, command: str, out: Path, save: Path | None) -> Path | None:
    """Write the scenario as it was drawn, if one was, and the small one, which is returned."""
    from whitecap.terminal.campaign import small_scenario

    out.mkdir(parents=True, exist_ok=True)
    name = f"{examined.run.name}-{examined.run.number}"
    if examined.run.text:
        (out / f"{name}.yaml").write_text(examined.run.text, encoding="utf-8")
    if examined.shrunk is None:
        return None
    small = out / f"{name}-small.yaml"
    text = small_scenario(examined, command)
    small.write_text(text, encoding="utf-8")
    if save is not None:
        save.mkdir(parents=True, exist_ok=True)
        (save / f"{name}.yaml").write_text(text, encoding="utf-8")
    return small


def _exit_code(course: Course) -> ExitCode:
    if any(each["cause"] is None for each in course.findings):
        return ExitCode.INVARIANT_VIOLATED
    return ExitCode.EXPECTATION_MISSED if course.findings else ExitCode.FINE
