"""Replications until measures are known as exactly as asked: `sim` makes them, `reports` judges."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from whitecap.arguments.texts import texts_of
from whitecap.engine.errors import Problem, gathered, noted
from whitecap.reports.aggregate import measure_cells
from whitecap.reports.measures.measured_run import MeasuredRun
from whitecap.reports.precision.asked import Asked, asked_for
from whitecap.reports.precision.reached import ReachedPrecision, next_replications, reached_by
from whitecap.reports.statistics import FEWEST_TO_STOP
from whitecap.sim.quantities.bounds import MAX_REPLICATIONS
from whitecap.sim.quantities.whole_numbers import whole_or_none
from whitecap.sim.sweeps.regression import CellRuns
from whitecap.sim.sweeps.rounds import run_rounds
from whitecap.sim.sweeps.sweep_job import Progress, run_sweep
from whitecap.sweep_places import recorded_runs, sweep_place

if TYPE_CHECKING:
    from whitecap.sim.sweeps.engines import SweepEngine
    from whitecap.sim.sweeps.experiment import Experiment

DEFAULT_MOST = 100
"""Replications of a cell at most, where nobody says."""


class Until(Struct, frozen=True):
    """What is to be known how exactly, with how many replications at most; nothing, if empty."""

    asked: tuple[Asked, ...]
    most: int

    def first(self, replications: int) -> int:
        """How many replications the first round has, where so many were asked for."""
        return min(max(replications, FEWEST_TO_STOP), self.most) if self.asked else replications

    def held_in(self, experiment: Experiment) -> Experiment:
        """The experiment that remembers it, with its first round."""
        if not self.asked:
            return experiment
        return replace(
            experiment,
            replications=self.first(experiment.replications),
            begun_with=experiment.replications,
            until=tuple(map(str, self.asked)),
            most=self.most,
        )

    def reached(
        self, cells: Sequence[tuple[str, CellRuns[MeasuredRun]]]
    ) -> tuple[ReachedPrecision, ...]:
        """What these cells give, each with its title; those that are judged by one run apart."""
        runs = {title: cell.runs for title, cell in cells if not cell.is_run_once}
        return reached_by(self.asked, runs) if runs else ()


NOTHING_ASKED = Until((), DEFAULT_MOST)


def until_of(texts: str | Sequence[str], most: int | None) -> Until:
    """What is asked for by these texts. Raises `InvalidInput` with everything that is wrong."""
    every = list(texts_of(texts))
    with gathered() as problems:
        if most is not None and not every:
            reason = "says when to give up what `until` asks for, and nothing is asked for"
            problems.append(Problem("max_replications", reason))
        with noted(problems):
            most = whole_or_none("max_replications", most, 1, MAX_REPLICATIONS)
        asked = asked_for(every)
    return Until(asked, DEFAULT_MOST if most is None else most)


def sweep_until(
    experiment: Experiment,
    where: str,
    engine: Callable[[], SweepEngine],
    until: Until,
    on_progress: Callable[[Progress], None],
) -> None:
    """Run a sweep; where something is to be known, until it is or there are most replications.

    Raises as `run_sweep`.
    """
    place = sweep_place(where, engine)
    if not until.asked:
        run_sweep(experiment, place, engine, on_progress)
        return

    def enough(seen: int) -> int:
        if seen >= until.most:
            return seen
        return next_replications(_reached_at(where, engine, until), seen, until.most)

    run_rounds(until.held_in(experiment), place, engine, enough, on_progress)


def _reached_at(
    where: str, engine: Callable[[], SweepEngine], until: Until
) -> Sequence[ReachedPrecision]:
    return reached_by(until.asked, measure_cells(recorded_runs(where, engine)))
