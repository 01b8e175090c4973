"""Replays a window of a recorded run on a real Delta Lake.

The run is simulated again from its scenario and seed, and its table as it was at the window's
beginning is written to disk. On that table the recorded transactions become real commands, forced
into the recorded interleaving; how each really ends is held against the recording.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from whitecap.engine.dialects import DELTA_OSS_4_4, dialect_named
from whitecap.engine.errors import InvalidInput, Problem
from whitecap.sim.export import export_table
from whitecap.sim.recording import SCENARIO, Recording, read_recording
from whitecap.sim.replay.agreement import Agreement, Compared, compare, not_played
from whitecap.sim.replay.choice import Chosen
from whitecap.sim.replay.environment import DELTA_VERSION, PYSPARK_VERSION
from whitecap.sim.replay.phase_locks import DEFAULT_TIMEOUT_S
from whitecap.sim.replay.player import play
from whitecap.sim.replay.real_commands import RealCommand, Sql, StreamBatch
from whitecap.sim.replay.recorded import Recorded, recorded_transactions
from whitecap.sim.replay.script import Planned
from whitecap.sim.replay.session import delta_session
from whitecap.sim.replay.session_settings import session_settings
from whitecap.sim.replay.tables import forget_table, name_table
from whitecap.sim.replay.window import (
    DEFAULT_TRANSACTIONS,
    Window,
    began_before,
    best_window,
    check_window,
    members,
)
from whitecap.sim.run import FinishedRun, run_scenario
from whitecap.sim.scenario import load_scenario

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Watch = Callable[[Compared], None]


@dataclass(frozen=True)
class ReplayPlan:
    """What will be replayed: a run, a window of it, and its transactions as a script."""

    chosen: Chosen
    recording: Recording
    window: Window
    transactions: tuple[Recorded, ...]

    @property
    def table_name(self) -> str:
        """What the recorded statements call the table."""
        return str(self.recording.manifest["table_name"])

    @property
    def doubt(self) -> str | None:
        """Why real Delta may rightly disagree, if the run is one of another platform."""
        dialect = dialect_named(self.recording.manifest["dialect"])
        if dialect == DELTA_OSS_4_4:
            return None
        if dialect.resolves_rows:
            return (
                f"{dialect.name} resolves conflicts by rows, which Delta Lake {DELTA_VERSION} lacks"
            )
        return f"{dialect.name} is not Delta Lake {DELTA_VERSION}"

    def script(self) -> list[Planned]:
        """The transactions as a script; those that began before the window begin with it."""
        played = [each for each in self.transactions if each.can_be_played]
        return [_planned(each, self.window) for each in played]


def plan_replay(
    chosen: Chosen, window: Window | None = None, limit: int = DEFAULT_TRANSACTIONS
) -> ReplayPlan:
    """Choose what of a run is replayed; `window` overrides the choice of at most `limit`.

    Raises InvalidInput: the recording is damaged, has no commits, or no such window.
    """
    recording = read_recording(chosen.run)
    transactions = recorded_transactions(recording)
    first_version = int(recording.manifest["initial_version"])
    if window is None:
        window = best_window(transactions, first_version, limit)
    else:
        check_window(transactions, window, first_version)
    return ReplayPlan(chosen, recording, window, tuple(members(transactions, window)))


def replay(
    plan: ReplayPlan,
    spark: SparkSession | None = None,
    watch: Watch | None = None,
    timeout_s: float = DEFAULT_TIMEOUT_S,
) -> Agreement:
    """Play a plan on a real Delta Lake and compare.

    `watch` is told of each transaction as it ends.
    Raises EnvironmentMissing: no Java, packages or jar. InvalidInput: the run cannot be
    simulated again. StuckInterleaving: a wait took longer than `timeout_s`.
    """
    session = spark or delta_session()
    commands = {each.name: each.command for each in plan.transactions}
    compared = [_left_out(each) for each in plan.transactions if not each.can_be_played]
    with _real_table(session, plan) as table:
        for observed in play(session, plan.script(), table, timeout_s):
            compared.append(compare(observed, commands[observed.planned.name], plan.doubt))
            if watch is not None:
                watch(compared[-1])
    return Agreement(_origin(plan), tuple(compared))


@contextmanager
def _real_table(spark: SparkSession, plan: ReplayPlan) -> Iterator[Path]:
    """The run's table as it was at the window's beginning, named as its statements name it."""
    work = Path(tempfile.mkdtemp(prefix="whitecap-replay-"))
    given = load_scenario(plan.chosen.run / SCENARIO).settings
    # The others are options of this project's own.
    settings = {key: value for key, value in given.items() if key.startswith("spark.")}
    try:
        export_run(plan.chosen.run, work / "table", plan.window.first)
        name_table(spark, plan.table_name, work / "table")
        with session_settings(spark, settings):
            yield work / "table"
    finally:
        forget_table(spark, plan.table_name)
        shutil.rmtree(work, ignore_errors=True)


def export_run(run: Path, directory: Path, version: int) -> None:
    """Simulate a recorded run again and write its table up to `version`, data included.

    Raises InvalidInput: simulating it again does not give the same recording.
    """
    again = simulate_again(run)
    export_table(again.world.store, directory, version=version, data=True)


def simulate_again(run: Path) -> FinishedRun:
    """The recorded run from its own scenario and seed, checked to be the same one.

    Raises InvalidInput: it is not; then it was recorded by other code.
    """
    recording = read_recording(run)
    manifest = recording.manifest
    again = run_scenario(
        load_scenario(run / SCENARIO),
        seed=int(manifest["seed"]),
        replication=int(manifest["replication"]),
    )
    if not again.recording.transactions.equals(recording.transactions):
        text = "simulating it again gives another history; it was recorded by code version "
        raise InvalidInput([Problem(str(run), f"{text}{manifest['code_version']}: run it again")])
    return again


def _planned(each: Recorded, window: Window) -> Planned:
    late = began_before(each, window)
    reason = f"it read version {each.read_version}, before the window, and was begun late"
    return Planned(
        name=each.name,
        command=real_command(each),
        read_version=window.first if late else each.read_version,
        decided_at=each.decided_at,
        recorded=each.result,
        excuse=each.excuse or (reason if late else None),
    )


def _left_out(each: Recorded) -> Compared:
    reason = each.excuse or ""
    return not_played(each.name, each.command, each.read_version, each.result, reason)


def real_command(each: Recorded) -> RealCommand:
    """The recorded transaction as a command for real Spark."""
    if each.app_id is None:
        return Sql(each.statement)
    batch: dict[str, Any] = json.loads(each.statement)
    return StreamBatch(batch["app_id"], batch["batch_id"], batch["schema"], batch["rows"])


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
        "window": {"from": plan.window.first, "to": plan.window.last},
        "delta_version": DELTA_VERSION,
        "spark_version": PYSPARK_VERSION,
        **{key: manifest[key] for key in _KEPT},
    }
