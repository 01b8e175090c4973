"""Run one scenario once: simulate, check conservation, record."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from msgspec import Struct

from whitecap.sim.history.conservation import (
    WalkedLog,
    check_conservation,
    columns_checked,
    counts_of,
)
from whitecap.sim.history.damage import Damage
from whitecap.sim.history.tables import commit_row, writers_table
from whitecap.sim.history.walk import LogWalk
from whitecap.sim.machine.garbage import OLD_OBJECTS, seldom_collecting
from whitecap.sim.machine.interruption import RunInterrupted, interrupted_by
from whitecap.sim.machine.places import written
from whitecap.sim.manifest import damage_of, manifest_of, price_of
from whitecap.sim.recording.recorded_table import TableInMemory, columns_of
from whitecap.sim.recording.recording import (
    SCHEMAS,
    Recording,
    require_free_for_run,
    write_recording,
)
from whitecap.sim.recording.row_stream import RowStream
from whitecap.sim.scenario.model import Scenario
from whitecap.sim.store.requests.limits import LimitsBite
from whitecap.sim.time.kernel import Kernel
from whitecap.sim.time.random_streams import RandomStreams
from whitecap.sim.world import SimulatedWorld
from whitecap.sim.writers.table_in_store import TableInStore

SLICES = 200
"""In how many pieces of simulated time a run reports its progress."""

_OnTick = Callable[["Tick"], None]

Findings = Callable[["FinishedRun"], Mapping[str, int]]
"""Counts what is wrong with a finished run, by name; the manifest holds it as `findings`."""


class Tick(Struct, frozen=True):
    """How far a run is: simulated time, and how many transactions there have been."""

    now_ms: float
    duration_ms: float
    submitted: int


@dataclass(frozen=True, slots=True)
class FinishedRun:
    """A run with everything that it left: its recording, and the store with the table in it."""

    scenario: Scenario
    recording: Recording
    world: SimulatedWorld = field(repr=False)


def run_scenario(
    scenario: Scenario,
    *,
    seed: int | None = None,
    replication: int = 0,
    out: Path | None = None,
    labels: Mapping[str, str] | None = None,
    requests: bool = False,
    progress: _OnTick | None = None,
    overwrite: bool = False,
    until_ms: float | None = None,
    findings: Findings | None = None,
    most_rows: float = math.inf,
) -> FinishedRun:
    """Simulate `scenario`, of its duration `until_ms`; write the recording to `out` if given.

    `findings` is asked where the scenario expects something of them.
    With `out`, Ctrl-C ends the run early: what was recorded until then is written.

    Raises:
        InvariantViolated: a rule of ours is broken; says how to reproduce it.
        InvalidInput: `out` cannot be written, or holds a run (without `overwrite`) or something
            else; nothing is simulated then.
        RunInterrupted: after the recording was written.
        NotWritten: `out` took no recording; the run is the error's `result`.
        Overgrown: more than `most_rows` were written to a table.
    """
    if out is not None:
        require_free_for_run(out, overwrite=overwrite)
    seed = scenario.seed if seed is None else seed
    streams = RandomStreams(seed, replication)
    end_ms = scenario.duration if until_ms is None else until_ms
    requests = requests or (scenario.price is not None and scenario.price.requests is not None)
    OLD_OBJECTS.search()
    made = partial(_world, scenario, streams, requests, most_rows)
    world = _simulated(made, end_ms, progress, ends_early=out is not None)
    return finished(world, labels, out, overwrite=overwrite, findings=findings)


def _simulated(
    made: Callable[..., SimulatedWorld],
    end_ms: float,
    progress: _OnTick | None,
    *,
    ends_early: bool,
) -> SimulatedWorld:
    """A world that has come to its end; where limits might have refused something that ran ahead
    of others, another one that is `patient`. With `ends_early` it ends at Ctrl-C, too."""
    world = made()
    with interrupted_by(lambda: world.kernel.stop()) if ends_early else nullcontext():
        try:
            _simulate(world, end_ms, progress)
        except LimitsBite:
            hasty = world.kernel
            world = made(patient=True)
            _simulate(world, _end_ms(hasty) if hasty.stopped else end_ms, progress)
            if hasty.stopped:  # Ctrl-C came before there was another kernel
                world.kernel.stop()
    return world


def _world(
    scenario: Scenario,
    streams: RandomStreams,
    requests: bool,
    most_rows: float,
    *,
    patient: bool = False,
) -> SimulatedWorld:
    world = SimulatedWorld.of(scenario, streams, with_requests=requests, patient=patient)
    for table in world.tables:
        table.store.most_rows = most_rows
    return world


def finished(
    world: SimulatedWorld,
    labels: Mapping[str, str] | None = None,
    out: Path | None = None,
    *,
    overwrite: bool = False,
    findings: Findings | None = None,
) -> FinishedRun:
    """Check and record a run that has come to its end. Raises as `run_scenario` does."""
    with seldom_collecting():
        run = _recorded(world, labels)
    if findings is not None and world.scenario.asks_oracles and not world.kernel.stopped:
        manifest = {**run.recording.manifest, "findings": dict(findings(run))}
        run = replace(run, recording=replace(run.recording, manifest=manifest))
    return run if out is None else _written(run, out, overwrite)


def _written(run: FinishedRun, out: Path, overwrite: bool) -> FinishedRun:
    write = partial(write_recording, run.recording, overwrite=overwrite)
    recording = written(run, write, out)
    kernel = run.world.kernel
    if kernel.stopped:
        raise RunInterrupted(out, kernel.now_ms)
    return replace(run, recording=recording)


def _recorded(world: SimulatedWorld, labels: Mapping[str, str] | None) -> FinishedRun:
    """What a world leaves, held to what must be so of any."""
    scenario = world.scenario
    world.recorder.close(_end_ms(world.kernel))
    apart = scenario.tells_statements_apart
    commits, damage = RowStream("commits", apart), Damage(scenario)
    walked = [_walked(table, world, commits, damage) for table in world.tables]
    writers = (record for writer in world.writers for record in writer.recorded())
    rows = {
        **world.recorder.rows(),
        "commits": commits.end(),
        "writers": TableInMemory(writers_table(writers, apart)),
    }
    checked = columns_of(rows, columns_checked(apart))
    again = scenario.command_of(world.streams.seed, world.streams.replication)
    check_conservation(checked, walked, again)
    counts = counts_of(checked["transactions"])
    recording = Recording(
        manifest_of(world, labels or scenario.labels, counts, walked)
        | price_of(scenario, rows)
        | damage_of(walked)
        | damage.document(),
        scenario.text(world.streams.seed),
        {name: rows[name] for name in SCHEMAS if name in rows},
    )
    return FinishedRun(scenario, recording, world)


def _walked(
    table: TableInStore, world: SimulatedWorld, commits: RowStream, damage: Damage
) -> WalkedLog:
    """Go through a table's log and make its versions rows of `commits`."""
    scenario, store = world.scenario, table.store
    store.settle(world.kernel.now_ms)
    broken = list[str]()
    live_rows: int | None = 0
    walk = LogWalk(store, table.shared.commits, notes_transactions=bool(scenario.faults))
    name = table.name if scenario.tells_statements_apart else None

    def rows() -> Iterator[tuple[Any, ...]]:
        nonlocal live_rows
        for step in walk.steps():
            broken.extend(damage.unless_expected(step))
            live_rows = step.live_rows
            yield commit_row(step, name)

    commits.extend(rows())
    lost = frozenset((lost.transaction_id, lost.version) for lost in store.overwritten)
    return WalkedLog(table.name, live_rows, () if lost else tuple(broken), lost, walk.doubled)


def _end_ms(kernel: Kernel) -> float:
    """The instant before which everything belongs to the recording.

    A run that was stopped ends after what happened at its last instant, any other before it.
    """
    return math.nextafter(kernel.now_ms, math.inf) if kernel.stopped else kernel.now_ms


def _simulate(world: SimulatedWorld, duration_ms: float, progress: _OnTick | None) -> None:
    world.start()
    with seldom_collecting():
        for piece in range(1, SLICES + 1):
            world.kernel.run_until(duration_ms * piece / SLICES)
            world.settle()
            if world.kernel.stopped:
                return
            if progress is not None:
                progress(Tick(world.kernel.now_ms, duration_ms, world.recorder.submitted))
