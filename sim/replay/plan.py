"""What of a recorded run is replayed: a window of its versions, of each table if there are several.

A statement reads no table but the one that it writes, so what happens to a table follows from its
own log alone: each is played by itself. Jobs that wrote several are put together again afterwards.
"""

from __future__ import annotations

import json
from typing import Any

from msgspec import Struct

from whitecap.engine.dialects import dialect_named
from whitecap.engine.errors import InvalidInput, Problem
from whitecap.engine.recorded import STREAMING
from whitecap.engine.transaction.lost_reply import LostReply
from whitecap.sim.loading import parse_scenario
from whitecap.sim.recording.recording import Recording
from whitecap.sim.replay.choice import ChosenRun
from whitecap.sim.replay.history.recorded import (
    OVERWRITTEN,
    Recorded,
    first_version,
    recorded_transactions,
)
from whitecap.sim.replay.history.window import (
    DEFAULT_TRANSACTIONS,
    Window,
    best_window,
    check_window,
    members,
)
from whitecap.sim.replay.history.windows import TableHistory, best_windows, windows_around
from whitecap.sim.replay.playing.script import End, Planned
from whitecap.sim.replay.real.commands import RealCommand, Sql, StreamBatch
from whitecap.sim.replay.real.releases import release_here
from whitecap.sim.scenario.model import Scenario


class TablePlan(Struct, frozen=True):
    """What will be replayed of one table: a window of its versions, and what was decided in it."""

    name: str
    window: Window
    transactions: tuple[Recorded, ...]

    def script(self) -> list[Planned]:
        """What is played, as a script."""
        return [
            Planned(each.name, real_command(each), each.parts, each.result, each.repeats)
            for each in self.transactions
            if each.left_out is None
        ]


class ReplayPlan(Struct, frozen=True):
    """What will be replayed of a run, table by table."""

    chosen: ChosenRun
    recording: Recording
    scenario: Scenario
    tables: tuple[TablePlan, ...]
    outside: int
    """How many transactions of the run were decided before the windows or after them."""

    @property
    def transactions(self) -> list[Recorded]:
        """The transactions of all tables, in the order of the recording."""
        every = (each for table in self.tables for each in table.transactions)
        return sorted(every, key=lambda each: each.transaction_id)

    @property
    def doubt(self) -> str | None:
        """Why real Delta may rightly disagree, if the run is one of another platform."""
        if any(each.left_out == OVERWRITTEN for each in self.transactions):
            return "commits of this run were overwritten, and it may have read one"
        writers = self.scenario.writers.values()
        here = release_here()
        others = {self.scenario.dialect_of(group) for group in writers}
        others.discard(dialect_named(here.dialect))
        if not others:
            return None
        dialect = min(others, key=lambda other: other.name)
        if dialect.resolves_rows:
            return f"{dialect.name} resolves conflicts by rows, which {here} lacks"
        return f"{dialect.name} is not {here}"

    @property
    def played(self) -> list[Recorded]:
        """The transactions that can be repeated in reality."""
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
        windows = ", ".join(str(table.window) for table in self.tables)
        place = f"of {self.chosen.label}, versions {windows}"
        return f"replaying {counted} {place}, on real Delta Lake, {conflicts}{besides}"


def plan_replay(
    chosen: ChosenRun, window: Window | None = None, limit: int | None = None
) -> ReplayPlan:
    """Choose what of a run is replayed: a window, or without one that of at most `limit` which
    shows most. Of several tables the window names one, and of the others comes what its jobs wrote.

    Raises InvalidInput: the recording is damaged, has no commits, or no such window; or there are
    a window and a limit.
    """
    if window is not None and limit is not None:
        text = "a window says what is replayed: a number of transactions besides is not used"
        raise InvalidInput([Problem("--transactions", text)])
    recording = chosen.recording
    scenario = parse_scenario(recording.scenario, chosen.label, cells=False)
    histories = _histories(recording, scenario)
    windows = _windows(histories, window, limit or DEFAULT_TRANSACTIONS)
    tables = tuple(
        TablePlan(name, each, tuple(members(histories[name].transactions, each)))
        for name, each in windows.items()
    )
    total = sum(len(history.transactions) for history in histories.values())
    outside = total - sum(len(table.transactions) for table in tables)
    return ReplayPlan(chosen, recording, scenario, tables, outside)


def _histories(recording: Recording, scenario: Scenario) -> dict[str, TableHistory]:
    knows_its_own = _knows_its_own(scenario)
    names = [table.name for table in scenario.all_tables]
    return {
        name: TableHistory(
            recorded_transactions(recording, name, knows_its_own=knows_its_own),
            first_version(recording, name),
        )
        for name in names
    }


def _windows(
    histories: dict[str, TableHistory], window: Window | None, limit: int
) -> dict[str, Window]:
    if len(histories) == 1:
        ((name, history),) = histories.items()
        if window is None:
            return {name: best_window(history.transactions, history.first_version, limit)}
        if window.table not in (None, name):
            text = f"names {window.table!r}, and the run's table is {name!r}"
            raise InvalidInput([Problem("--window", text)])
        check_window(history.transactions, window, history.first_version)
        return {name: window}
    if window is None:
        return {str(each.table): each for each in best_windows(histories, limit)}
    return {str(each.table): each for each in windows_around(histories, window)}


def _knows_its_own(scenario: Scenario) -> bool:
    """Whether writers take their own commit in their way as such."""
    settings = dialect_named(scenario.dialect).settings_of(scenario.settings)
    checks = scenario.store.client.on_lost_reply is LostReply.RESEND_AND_CHECK
    return checks or settings.commit_idempotency_check


def real_command(each: Recorded) -> RealCommand:
    """The recorded transaction as a command for real Spark."""
    if each.command != STREAMING:
        return Sql(each.statement, each.app_id, None if each.app_id is None else each.batch_id)
    batch: dict[str, Any] = json.loads(each.statement)
    reads_table = bool(batch.get("reads_table"))
    return StreamBatch(
        batch["app_id"], batch["batch_id"], batch["schema"], batch["rows"], reads_table
    )
