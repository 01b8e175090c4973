"""A run's directory before the oracles.

A recording holds no rows and no log, but the scenario and the seed, of which the same run follows
byte for byte: it is made once more and judged.
"""

from __future__ import annotations

from pathlib import Path

from whitecap.engine.errors import InvalidInput, Problem
from whitecap.sim.loading.loading import parse_scenario
from whitecap.sim.oracles.finding import Judgement
from whitecap.sim.oracles.of_run import judgement_of
from whitecap.sim.recording.recording import INTERRUPTED, read_recording
from whitecap.sim.run import run_scenario


def judge_run_directory(directory: Path) -> Judgement:
    """Judge the run that was recorded in a directory.

    Raises `InvalidInput`: it is damaged, was interrupted, or this version makes another run of it.
    """
    recording = read_recording(directory)
    manifest = recording.manifest
    if INTERRUPTED in manifest:
        raise InvalidInput([Problem(str(directory), "was interrupted: it cannot be made again")])
    scenario = parse_scenario(recording.scenario, str(directory), cells=False)
    run = run_scenario(scenario, seed=manifest["seed"], replication=manifest["replication"])
    if not run.recording.transactions.equals(recording.transactions):
        said = f"was made by {manifest['code_version']}, and this version makes another run of it"
        raise InvalidInput([Problem(str(directory), said)])
    return judgement_of(run)
