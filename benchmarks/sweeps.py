"""`make bench-sweep`: many short runs on each engine, against as many plain processes as cores.

A plain process makes its share of the runs one after the other, judges each as a sweep does, and
writes it to a directory. What an engine reaches is plain processes' time by its own; Spark's start
is left out, its first job not.
"""

from __future__ import annotations

import multiprocessing
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from msgspec import Struct

from benchmarks.cpu_of_session import cpu_seconds
from whitecap.scenarios import SCENARIOS
from whitecap.sim.loading import parse_scenario
from whitecap.sim.oracles.runs.expected import findings_by_name
from whitecap.sim.recording.dataset.local import LocalPlace
from whitecap.sim.run import run_scenario
from whitecap.sim.sweeps.engines import SweepEngineName
from whitecap.sim.sweeps.experiment import Experiment, load_experiment
from whitecap.sim.sweeps.planned import PlannedRun
from whitecap.sim.sweeps.sweep_job import run_sweep
from whitecap.sweep_engine import sweep_engine

RUNS = 1_000
CORES = 2
DURATION = "5 min"
CELL = {"partitioning": ["by date"], "isolation": ["Serializable"]}


class Cost(Struct, frozen=True):
    """What a way of making all runs took."""

    wall_s: float
    cpu_s: float


def measured(work: Callable[[], object]) -> Cost:
    """What `work` takes, by the clock and in CPU seconds of all processes."""
    wall_s, cpu_s = time.perf_counter(), cpu_seconds()
    work()
    return Cost(time.perf_counter() - wall_s, cpu_seconds() - cpu_s)


def experiment_of(runs: int) -> Experiment:
    """One cell of the demo, short, with so many replications."""
    short = {"duration": [DURATION], "warm_up": ["1 min"]}
    return load_experiment(
        SCENARIOS / "events.yaml", quick_axes=short, only=CELL, replications=runs
    )


def plainly(runs: list[PlannedRun], out: Path) -> None:
    """One plain process: its runs, each in a directory."""
    scenario = parse_scenario(runs[0].scenario, runs[0].scenario_file, cells=False)
    for run in runs:
        place = out / str(run.replication)
        run_scenario(
            scenario,
            seed=run.seed,
            replication=run.replication,
            findings=findings_by_name,
            out=place,
        )


def in_plain_processes(experiment: Experiment, out: Path) -> None:
    """One process per core."""
    planned = list(experiment.runs(""))
    spawned = [
        multiprocessing.get_context("spawn").Process(
            target=plainly, args=(planned[core::CORES], out)
        )
        for core in range(CORES)
    ]
    for process in spawned:
        process.start()
    for process in spawned:
        process.join()


def main() -> None:
    """Measure each way and print what it reaches."""
    experiment = experiment_of(int(sys.argv[1]) if len(sys.argv) > 1 else RUNS)
    with tempfile.TemporaryDirectory() as folder:
        plain = measured(partial(in_plain_processes, experiment, Path(folder)))
    _show("plain processes", plain, plain)
    # Spark last: its idle workers end by and by, and their CPU time with them.
    for name in (SweepEngineName.PROCESSES, SweepEngineName.SPARK):
        master = f"local[{CORES}]" if name == "spark" else None
        engine = sweep_engine(name, master, makes_runs=True)
        engine()
        with tempfile.TemporaryDirectory() as folder:
            place = LocalPlace(Path(folder, "out"))
            cost = measured(partial(run_sweep, experiment, place, engine))
        _show(f"--engine {name}", cost, plain)


def _show(name: str, cost: Cost, plain: Cost) -> None:
    reached = (
        f"{plain.wall_s / cost.wall_s:.0%} by the clock, {plain.cpu_s / cost.cpu_s:.0%} of CPU"
    )
    print(f"{name:20} {cost.wall_s:7.1f} s {cost.cpu_s:7.1f} CPU s  {reached}", flush=True)


if __name__ == "__main__":
    main()
