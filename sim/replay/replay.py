"""Replays a window of a recorded run on a real Delta Lake, table by table.

The run is simulated again from its scenario and seed, and its table as it was at the window's
beginning is written to disk. On that table the recorded transactions become real commands, forced
into the recorded interleaving; how each really ends is held against the recording.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from whitecap.engine.errors import InvalidInput, Problem
from whitecap.sim.loading import parse_scenario
from whitecap.sim.recording.recording import Recording
from whitecap.sim.replay.agreement import Agreement, ComparedTransaction, compare, not_played
from whitecap.sim.replay.plan import ReplayPlan, TablePlan
from whitecap.sim.replay.playing.player import play
from whitecap.sim.replay.playing.stage import Stage
from whitecap.sim.replay.real.phase_locks import DEFAULT_TIMEOUT_S
from whitecap.sim.replay.real.releases import release_here
from whitecap.sim.replay.real.session import SOON_DONE, delta_session
from whitecap.sim.replay.real.session_settings import playing_settings_of, session_settings
from whitecap.sim.run import FinishedRun, run_scenario
from whitecap.sim.table.export import export_table

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_Watch = Callable[[ComparedTransaction], None]


def replay(
    plan: ReplayPlan,
    spark: SparkSession | None = None,
    watch: _Watch | None = None,
    timeout_s: float = DEFAULT_TIMEOUT_S,
) -> Agreement:
    """Play a plan on a real Delta Lake and compare.

    `watch` is told of each transaction as it ends.
    Raises EnvironmentMissing: no Java, packages or jar. InvalidInput: the run cannot be
    simulated again. StuckInterleaving: a wait took longer than `timeout_s`.
    """
    session = spark or delta_session(jvm_options=SOON_DONE)
    compared = [not_played(each) for each in plan.transactions if each.left_out is not None]
    again = simulate_again(plan.recording, plan.chosen.label)
    settings = playing_settings_of(plan.scenario)
    for table in plan.tables:
        recorded = {each.name: each for each in table.transactions}
        with _stage(session, again, table, settings) as stage:
            for observed in play(session, table.script(), stage, table.window.last, timeout_s):
                compared.append(compare(recorded[observed.planned.name], observed, plan.doubt))
                if watch is not None:
                    watch(compared[-1])
    return Agreement(_origin(plan), tuple(compared))


@contextmanager
def _stage(
    spark: SparkSession, again: FinishedRun, table: TablePlan, settings: Mapping[str, str]
) -> Iterator[Stage]:
    """A table of the run on disk, named as its statements name it, under the run's settings."""
    work = Path(tempfile.mkdtemp(prefix="whitecap-replay-"))
    stage = Stage(spark, work / "recorded", work, table.name)
    try:
        store = again.world.table_named(table.name).store
        export_table(store, work / "recorded", version=table.window.last, data=True)
        with session_settings(spark, settings):
            yield stage
    finally:
        stage.close()
        shutil.rmtree(work, ignore_errors=True)


def simulate_again(recording: Recording, label: str) -> FinishedRun:
    """The recorded run from its own scenario and seed, checked to be the same one.

    Raises InvalidInput: it is not; then it was recorded by other code.
    """
    manifest = recording.manifest
    again = run_scenario(
        parse_scenario(recording.scenario, label, cells=False),
        seed=int(manifest["seed"]),
        replication=int(manifest["replication"]),
        until_ms=float(manifest["duration_ms"]),
    )
    if not again.recording.transactions.equals(recording.transactions):
        text = "simulating it again gives another history; it was recorded by code version "
        raise InvalidInput([Problem(label, f"{text}{manifest['code_version']}: run it again")])
    return again


_KEPT = (
    "scenario_name",
    "scenario_hash",
    "seed",
    "replication",
    "code_version",
    "dialect",
    "labels",
)


def _origin(plan: ReplayPlan) -> dict[str, Any]:
    manifest = plan.recording.manifest
    return {
        "run": plan.chosen.label,
        "cell": plan.chosen.cell,
        **_windows(plan),
        "delta_version": release_here().delta,
        "spark_version": release_here().spark,
        "outside_window": plan.outside,
        "recorded_conflicts": plan.conflicts,
        **{key: manifest[key] for key in _KEPT},
    }


def _windows(plan: ReplayPlan) -> dict[str, Any]:
    """Which versions were replayed: of the only table, or of each."""
    bounds = {
        table.name: {"from": table.window.first, "to": table.window.last} for table in plan.tables
    }
    if len(plan.scenario.all_tables) == 1:
        return {"window": bounds[plan.tables[0].name]}
    return {"windows": bounds}
