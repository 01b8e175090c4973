"""Run one scenario once: simulate, check conservation, record."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from whitecap.sim.code_version import code_version
from whitecap.sim.conservation import check_conservation, counts_of
from whitecap.sim.random_streams import RandomStreams
from whitecap.sim.recording import FORMAT_VERSION, Recording, write_recording
from whitecap.sim.scenario import Scenario, show_document
from whitecap.sim.tables import tables_of
from whitecap.sim.walk import LogWalk, Step
from whitecap.sim.world import World

SLICES = 200
"""In how many pieces of simulated time a run reports its progress."""

Progress = Callable[["Tick"], None]


@dataclass(frozen=True, slots=True)
class Tick:
    """How far a run is: simulated time, and how many transactions there have been."""

    now_ms: float
    duration_ms: float
    submitted: int


@dataclass(frozen=True)
class FinishedRun:
    """A run with everything that it left: its recording, and the store with the table in it."""

    scenario: Scenario
    recording: Recording
    world: World = field(repr=False)
    steps: list[Step] = field(repr=False)


def run_scenario(
    scenario: Scenario,
    *,
    seed: int | None = None,
    replication: int = 0,
    out: Path | None = None,
    labels: Mapping[str, str] | None = None,
    requests: bool = False,
    progress: Progress | None = None,
) -> FinishedRun:
    """Simulate `scenario`; write the recording to `out` if given.

    Raises:
        InvariantViolated: a rule of ours is broken; says how to reproduce it.
        InvalidInput: something else than a run's directory lies at `out`.
    """
    seed = scenario.seed if seed is None else seed
    world = World.of(scenario, RandomStreams(seed, replication), requests)
    _simulate(world, progress)
    return finished(world, labels, out)


def finished(
    world: World, labels: Mapping[str, str] | None = None, out: Path | None = None
) -> FinishedRun:
    """Check and record a run that has come to its end; raises as `run_scenario`."""
    scenario = world.scenario
    steps = list(LogWalk(world.store, world.shared.commits).steps())
    overwritten = frozenset((lost.transaction_id, lost.version) for lost in world.store.overwritten)
    check_conservation(world.recorder, steps, _command(world), overwritten)
    recording = Recording(
        manifest_of(world, labels or {}, steps),
        show_document({**scenario.document, "seed": world.streams.seed}),
        tables_of(world.recorder, steps),
    )
    if out is not None:
        recording = write_recording(recording, out)
    return FinishedRun(scenario, recording, world, steps)


def manifest_of(world: World, labels: Mapping[str, str], steps: Sequence[Step]) -> dict[str, Any]:
    """What a run was: enough to tell it from any other, and to make it again."""
    scenario = world.scenario
    return {
        "format_version": FORMAT_VERSION,
        "scenario_name": scenario.name,
        "scenario_hash": scenario.hash,
        "seed": world.streams.seed,
        "replication": world.streams.replication,
        "code_version": code_version(),
        "dialect": scenario.dialect,
        "labels": dict(labels),
        "table_name": scenario.table.name,
        "start_ms": scenario.start_ms,
        "initial_version": world.initial_version,
        "warm_up_ms": scenario.warm_up,
        "duration_ms": scenario.duration,
        "counts": counts_of(world.recorder.transactions),
        "live_rows": steps[-1].live_rows if steps else 0,
    }


def _simulate(world: World, progress: Progress | None) -> None:
    duration_ms = world.scenario.duration
    world.start()
    for piece in range(1, SLICES + 1):
        world.kernel.run_until(duration_ms * piece / SLICES)
        if progress is not None:
            progress(Tick(world.kernel.now_ms, duration_ms, len(world.recorder.transactions)))


def _command(world: World) -> str:
    seed, replication = world.streams.seed, world.streams.replication
    chosen = f"--seed {seed}" + (f" --replication {replication}" if replication else "")
    return f"whitecap run {shlex.quote(world.scenario.source)} {chosen}"
