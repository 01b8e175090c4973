"""One run of a sweep: what a worker needs to make it, and what it makes of it."""

from __future__ import annotations

import time
import traceback
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache

from msgspec import Struct

from whitecap.engine.errors import DeltaError, InvalidInput, Problem, UnsupportedFeature
from whitecap.engine.recorded import RunName
from whitecap.sim.machine.code_version import code_version
from whitecap.sim.machine.interruption import reraise_interruption
from whitecap.sim.recording.dataset.rows import Ran
from whitecap.sim.scenario.model import Scenario

SCENARIOS_KEPT = 64
"""Scenarios that a worker keeps: it gets a few runs of a few cells at a time, and reading a
scenario takes longer than some runs."""


class PlannedRun(Struct, frozen=True):
    """One run of a sweep, with all that a worker needs: it reads no file, the scenario is text."""

    cell: str
    labels: Mapping[str, str]
    replication: int
    seed: int
    scenario: str
    scenario_file: str
    code_version: str

    @property
    def name(self) -> RunName:
        """Its name in the dataset."""
        return self.cell, self.replication

    @property
    def command(self) -> str:
        """The command that reproduces this run alone."""
        chosen = f"--seed {self.seed} --replication {self.replication}"
        return f"whitecap run {self.scenario_file} {chosen}"


def make_runs(runs: Iterable[PlannedRun]) -> Iterator[Ran]:
    """Make these runs, one after the other, wherever an engine chose."""
    return map(make_run, runs)


def make_run(run: PlannedRun) -> Ran:
    """One run with its recording, or with its failure if it ended in an error."""
    from whitecap.sim.oracles.runs.expected import findings_by_name
    from whitecap.sim.run import run_scenario

    began = time.perf_counter()
    try:
        _require_same_code(run)
        scenario = _scenario(run.scenario, run.scenario_file)
        finished = run_scenario(
            scenario,
            seed=run.seed,
            replication=run.replication,
            labels=dict(run.labels),
            findings=findings_by_name,
        )
    except Exception as error:
        reraise_interruption(error)
        failure = {
            "error": type(error).__name__,
            "text": str(error),
            "traceback": traceback.format_exc(),
            "is_bad_input": isinstance(error, InvalidInput | UnsupportedFeature | DeltaError),
        }
        return Ran(run.name, None, failure, time.perf_counter() - began)
    return Ran(run.name, finished.recording, None, time.perf_counter() - began)


@lru_cache(SCENARIOS_KEPT)
def _scenario(text: str, file: str) -> Scenario:
    from whitecap.sim.loading import parse_scenario

    return parse_scenario(text, file, cells=False)


def _require_same_code(run: PlannedRun) -> None:
    """Runs of different code must not be compared with each other."""
    if code_version() != run.code_version:
        text = f"the worker has Whitecap {code_version()}, the sweep is of {run.code_version}"
        raise InvalidInput([Problem("", text)])
