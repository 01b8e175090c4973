"""Sweeps whose replications are added round by round, until there are enough of them.

A function of the caller's decides what is enough, by what is finished. A replication is the same
whichever round it was made in: with their number known, the same can be had in one go.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from whitecap.engine.recorded import SINGLE_CELL
from whitecap.sim.recording.dataset.place import DatasetPlace
from whitecap.sim.scenario.model import Scenario
from whitecap.sim.sweeps.engines import SweepEngine
from whitecap.sim.sweeps.experiment import Experiment, SweepCell
from whitecap.sim.sweeps.opening import open_place
from whitecap.sim.sweeps.sweep_job import Progress, run_sweep

"""The only cell of a scenario that is run without a sweep."""


def one_cell(scenario: Scenario, replications: int, seed: int | None) -> Experiment:
    """A scenario as a sweep of one cell: its replications are those of `run_scenario`."""
    cell = SweepCell(SINGLE_CELL, scenario.labels, scenario)
    chosen = scenario.seed if seed is None else seed
    return Experiment(scenario, {}, {}, (cell,), replications, chosen)


def run_rounds(
    experiment: Experiment,
    place: DatasetPlace,
    engine: Callable[[], SweepEngine],
    enough: Callable[[int], int],
    on_progress: Callable[[Progress], None],
) -> Experiment:
    """Run rounds until `enough`, given the replications there are, asks for no more of them.

    Goes on with what lies there, and returns the experiment with its last number. Raises as
    `run_sweep`.
    """
    experiment = open_place(experiment, place)
    while True:
        run_sweep(experiment, place, engine, on_progress)
        more = enough(experiment.replications)
        if more <= experiment.replications:
            return experiment
        experiment = replace(experiment, replications=more)
