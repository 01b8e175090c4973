"""A campaign under way: told as it goes, kept now and then, its findings written to files."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import chain, count
from pathlib import Path
from typing import TYPE_CHECKING

import click
from msgspec import Struct, field

from whitecap.reports.words import counted
from whitecap.terminal.progress import Show, progress

if TYPE_CHECKING:
    from whitecap.sim.chaos.campaign import Campaign, Workers
    from whitecap.sim.chaos.examining import Examined
    from whitecap.sim.chaos.kept import Course
    from whitecap.sim.chaos.trials import Trials

KEPT_EVERY_S = 30.0
"""What a campaign that is killed loses at most."""


@contextmanager
def workers_of(jobs: int | None, master: str | None) -> Iterator[Workers]:
    """Processes of this machine, or jobs of Spark if it has a master."""
    if master is not None:
        from whitecap.sim.chaos.on_spark import SparkMap
        from whitecap.sweep_engine import spark_session

        yield SparkMap(spark_session(master, makes_runs=True))
        return
    from whitecap.sim.machine.processes import Processes, at_a_time

    with Processes(at_a_time(jobs)) as processes:
        yield processes


class CampaignMaking(Struct):
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
    _kept_at: float = field(default_factory=time.monotonic)

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

            self.is_interrupted = True
            made = counted(runs, "run")
            click.echo(f"interrupted after {made}; what was found is kept", err=True)
        finally:
            self._keep()

    def _make(self, workers: Workers, minutes: float | None, show: Show, trials: Trials) -> None:
        from whitecap.sim.chaos.campaign import Judges, run_campaign
        from whitecap.sim.oracles.runs import reopening

        tally, began = self.course.tally, time.monotonic()
        reached = partial(self._reached, tally.runs, began, trials)
        show(self._share(began, None), 1.0, reached)
        judges = Judges(reopening.judgement_with_readers, reopening.judgement_without_replay)
        rest = self.campaign.after(tally.runs)
        made = run_campaign(rest, judges, workers, make_small=self.shrink, trials=trials)
        for run, examined in made:
            tally.add(run)
            share = self._share(began, minutes)
            show(min(share, 1.0), 1.0, reached)
            if examined is not None:
                self._tell(examined)
            self._keep_now_and_then()
            if share >= 1:
                break

    def _share(self, began: float, minutes: float | None) -> float:
        """How much of it is over: by its runs, or by its time where that is more."""
        of_runs = self.course.tally.runs / self.campaign.runs
        of_time = 0.0 if minutes is None else (time.monotonic() - began) / 60 / minutes
        return max(of_runs, of_time)

    def _keep_now_and_then(self) -> None:
        if time.monotonic() - self._kept_at > KEPT_EVERY_S:
            self._keep()
            self._kept_at = time.monotonic()

    def _tell(self, examined: Examined) -> None:
        """A finding is told when it comes."""
        from whitecap.terminal.campaign import again, finding_document, show_finding

        self.course.findings.append(finding_document(examined))
        command = again(self.paths, self.campaign, examined.run.number)
        small = _write(examined, command, self.out)
        if small is not None and self.save is not None:
            name = f"{examined.run.name}-{self.campaign.seed}-{examined.run.number}"
            _save(small.read_text(encoding="utf-8"), self.save, name)
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
            f"{counted(tally.runs, 'run')}, {rate:.1f} a second, {tally.commits:,} commits, "
            f"{len(self.course.findings)} with findings"
        )
        return ", ".join((counts, *_waiting_for(self.campaign.first + tally.runs, trials)))


def _waiting_for(run: int, trials: Trials) -> Iterator[str]:
    """What is done with the finding of a run, if that is what the next runs wait for."""
    tried = trials.of(run)
    if tried is not None:
        yield f"making run {run} small: {tried} tried" if tried else f"explaining run {run}"


def _write(examined: Examined, command: str, out: Path) -> Path | None:
    """Write the scenario as it was drawn, if one was, and the small one, which is returned."""
    from whitecap.terminal.campaign import small_scenario

    out.mkdir(parents=True, exist_ok=True)
    name = f"{examined.run.name}-{examined.run.number}"
    if examined.run.text:
        (out / f"{name}.yaml").write_text(examined.run.text, encoding="utf-8")
    if examined.shrunk is None:
        return None
    small = out / f"{name}-small.yaml"
    small.write_text(small_scenario(examined, command), encoding="utf-8")
    return small


def _save(text: str, folder: Path, name: str) -> None:
    """Keep a small scenario beside those that are there, perhaps of other scenarios so called."""
    folder.mkdir(parents=True, exist_ok=True)
    places = (folder / f"{name}{tail}.yaml" for tail in chain([""], map("-{}".format, count(2))))
    place = next(each for each in places if not each.exists() or _holds(each, text))
    place.write_text(text, encoding="utf-8")


def _holds(place: Path, text: str) -> bool:
    return place.is_file() and place.read_bytes() == text.encode()
