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
from whitecap.engine.transaction.lost_reply import LostReply
from whitecap.sim.loading import parse_scenario
from whitecap.sim.recording.recording import Recording
from whitecap.sim.replay.agreement import Agreement, Compared, compare, not_played
from whitecap.sim.replay.choice import Chosen
from whitecap.sim.replay.history.recorded import OVERWRITTEN, Recorded, recorded_transactions
from whitecap.sim.replay.history.window import (
    DEFAULT_TRANSACTIONS,
    Window,
    best_window,
    check_window,
    members,
)
from whitecap.sim.replay.playing.player import play
from whitecap.sim.replay.playing.script import End, Planned
from whitecap.sim.replay.playing.stage import Stage
from whitecap.sim.replay.real.commands import RealCommand, Sql, StreamBatch
from whitecap.sim.replay.real.environment import DELTA_VERSION, PYSPARK_VERSION
from whitecap.sim.replay.real.phase_locks import DEFAULT_TIMEOUT_S
from whitecap.sim.replay.real.session import delta_session
from whitecap.sim.replay.real.session_settings import session_settings, settings_of
from whitecap.sim.run import FinishedRun, run_scenario
from whitecap.sim.scenario import Scenario
from whitecap.sim.table.export import export_table

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Watch = Callable[[Compared], None]


@dataclass(frozen=True)
class ReplayPlan:
    """What will be replayed: a run, a window of it, and what was decided in that."""

    chosen: Chosen
    recording: Recording
    scenario: Scenario
    window: Window
    transactions: tuple[Recorded, ...]
    outside: int
    """How many transactions of the run were decided before the window or after it."""

    @property
    def doubt(self) -> str | None:
        """Why real Delta may rightly disagree, if the run is one of another platform."""
        if any(each.left_out == OVERWRITTEN for each in self.transactions):
            return "commits of this run were overwritten, and it may have read one"
        writers = self.scenario.writers.values()
        others = {self.scenario.dialect_of(group) for group in writers} - {DELTA_OSS_4_4}
        if not others:
            return None
        dialect = min(others, key=lambda other: other.name)
        if dialect.resolves_rows:
            return (
                f"{dialect.name} resolves conflicts by rows, which Delta Lake {DELTA_VERSION} lacks"
            )
        return f"{dialect.name} is not Delta Lake {DELTA_VERSION}"

    @property
    def played(self) -> list[Recorded]:
        """Those that reality can be made to repeat."""
        return [each for each in self.transactions if each.left_out is None]

    @property
    def conflicts(self) -> int:
        """How many transactions were refused."""
        return sum(each.result.end is End.ABORTED for each in self.played)

    @property
    def sentence(self) -> str:
        """What will be replayed, for people."""
        left_out = len(self.transactions) - len(self.played)
        counted = f"{len(self.played)} transactions"
        conflicts = f"{self.conflicts or 'none'} of which ended in a conflict or an error"
        besides = f"; {left_out} more are left out" if left_out else ""
        place = f"of {self.chosen.label}, versions {self.window}"
        return f"replaying {counted} {place}, on real Delta Lake, {conflicts}{besides}"

    def script(self) -> list[Planned]:
        """What is played, as a script."""
        return [
            Planned(each.name, real_command(each), each.parts, each.result, each.repeats)
            for each in self.played
        ]


def plan_replay(
    chosen: Chosen, window: Window | None = None, limit: int | None = None
) -> ReplayPlan:
    """Choose what of a run is replayed: a window, or without one that of at most `limit` which
    shows most.

    Raises InvalidInput: the recording is damaged, has no commits, or no such window; it is of
    several tables; or there are a window and a limit.
    """
    if window is not None and limit is not None:
        text = "a window says what is replayed: a number of transactions besides is not used"
        raise InvalidInput([Problem("--transactions", text)])
    recording = chosen.recording
    scenario = parse_scenario(recording.scenario, chosen.label, cells=False)
    if len(scenario.all_tables) > 1:
        listed = ", ".join(table.name for table in scenario.all_tables)
        text = f"is of the tables {listed}, and only runs of one table are replayed on real Delta"
        raise InvalidInput([Problem(chosen.label, text)])
    knows_its_own = _knows_its_own(scenario)
    transactions = recorded_transactions(recording, knows_its_own=knows_its_own)
    # A table cannot be set up at what was before its first version.
    first_version = max(0, int(recording.manifest["initial_version"]))
    if window is None:
        window = best_window(transactions, first_version, limit or DEFAULT_TRANSACTIONS)
    else:
        check_window(transactions, window, first_version)
    within = tuple(members(transactions, window))
    outside = len(transactions) - len(within)
    return ReplayPlan(chosen, recording, scenario, window, within, outside)


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
    recorded = {each.name: each for each in plan.transactions}
    compared = [not_played(each) for each in plan.transactions if each.left_out is not None]
    with _stage(session, plan) as stage:
        for observed in play(session, plan.script(), stage, plan.window.last, timeout_s):
            compared.append(compare(recorded[observed.planned.name], observed, plan.doubt))
            if watch is not None:
                watch(compared[-1])
    return Agreement(_origin(plan), tuple(compared))


@contextmanager
def _stage(spark: SparkSession, plan: ReplayPlan) -> Iterator[Stage]:
    """The run's table on disk, named as its statements name it, under the run's settings."""
    work = Path(tempfile.mkdtemp(prefix="whitecap-replay-"))
    settings = settings_of(plan.scenario)
    stage = Stage(spark, work / "recorded", work, plan.scenario.all_tables[0].name)
    try:
        again = simulate_again(plan.recording, plan.chosen.label)
        store = again.world.store
        export_table(store, work / "recorded", version=plan.window.last, data=True)
        with session_settings(spark, settings):
            yield stage
    finally:
        stage.close()
        shutil.rmtree(work, ignore_errors=True)


def _knows_its_own(scenario: Scenario) -> bool:
    """Whether writers take their own commit in their way as such."""
    settings = dialect_named(scenario.dialect).settings_of(scenario.settings)
    checks = scenario.store.client.on_lost_reply is LostReply.RESEND_AND_CHECK
    return checks or settings.commit_idempotency_check


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


def real_command(each: Recorded) -> RealCommand:
    """The recorded transaction as a command for real Spark."""
    if each.app_id is None:
        return Sql(each.statement)
    batch: dict[str, Any] = json.loads(each.statement)
    reads_table = bool(batch.get("reads_table"))
    return StreamBatch(
        batch["app_id"], batch["batch_id"], batch["schema"], batch["rows"], reads_table
    )


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
        "outside_window": plan.outside,
        "recorded_conflicts": plan.conflicts,
        **{key: manifest[key] for key in _KEPT},
    }
