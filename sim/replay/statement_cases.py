"""Conformance cases at the level of SQL, on a real Delta Lake under phase locks.

The current statement takes its snapshot, writes its files and waits before its commit; the
winners run from beginning to end, or are staged too and then commit in order; then the current
statement goes on.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from whitecap.engine.log.properties import AUTO_COMPACT
from whitecap.engine.races.conformance.case import CaseResult, Entrant, NumberedWrite, StatementCase
from whitecap.engine.races.conformance.compare import judge
from whitecap.engine.races.row_tables import TableOf
from whitecap.sim.replay.real.commands import RealCommand, Sql, StreamBatch, runner
from whitecap.sim.replay.real.commit_gate import WITH_IDLE_TRANSACTIONS, gated
from whitecap.sim.replay.real.failures import failure_of
from whitecap.sim.replay.real.phase_locks import Ended, Interleaving, phase_locks
from whitecap.sim.replay.real.session_settings import INTERPRETED, session_settings
from whitecap.sim.replay.real.tables import (
    build_table,
    commit_info,
    copy_table,
    forget_table,
    latest_version,
    live_rows,
    name_table,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

COMMITTED = "committed"
NOTHING = "nothing_to_commit"


class Templates:
    """Tables already built, by what describes them; a case gets copies.

    A table that is compacted after commits is built anew for each case: Delta counts small files
    by the table's id, in memory, and a copy has the id of what it is copied from.
    Source: AutoCompactPartitionStats.scala.
    """

    def __init__(self, spark: SparkSession, folder: Path) -> None:
        self._spark = spark
        self._folder = folder

    def copy(self, table: TableOf, place: Path) -> None:
        """Put a table that `table` describes at `place`."""
        if AUTO_COMPACT.key in table.properties:
            build_table(self._spark, table, place)
            return
        described = msgspec.json.encode(table, order="deterministic")
        template = self._folder / hashlib.sha256(described).hexdigest()[:16]
        if not template.exists():
            # Under another name until it is whole: a table that cannot be built is never copied.
            unfinished = template.with_suffix(".unfinished")
            shutil.rmtree(unfinished, ignore_errors=True)
            build_table(self._spark, table, unfinished)
            unfinished.rename(template)
        copy_table(template, place)


def run_statement_case(
    spark: SparkSession, case: StatementCase, templates: Templates, folder: Path
) -> CaseResult:
    """Play one case with its tables as folders in `folder`, and judge what happened."""
    return judge(case, race(spark, case, templates, folder))


def race(
    spark: SparkSession, case: StatementCase, templates: Templates, folder: Path
) -> dict[str, Any]:
    """Play one case; what happened, under the keys that a case may expect."""
    for name, table in case.tables.items():
        templates.copy(table, folder / name)
        name_table(spark, name, folder / name)
    try:
        with session_settings(spark, {**INTERPRETED, **case.settings}):
            for played in case.before:
                runner(spark, command_of(played), folder / "target")()
            return _race(spark, case, folder / "target")
    finally:
        for name in case.tables:
            forget_table(spark, name)


def _race(spark: SparkSession, case: StatementCase, target: Path) -> dict[str, Any]:
    facts: dict[str, Any] = {}
    with Interleaving(spark) as interleaving:
        statements = _Statements(spark, interleaving, target)
        start = latest_version(target)
        # A current statement that ends before it comes to a commit has no race: no winner runs.
        if statements.stage("current", case.current, case.waits_at):
            winners = _win(statements, case)
            facts["winner"] = winners if isinstance(case.winner, list) else winners[0]
            start = latest_version(target)
        ended = interleaving.finish("current")
        facts |= _current_facts(ended, target, start)
        if case.rerun:
            facts["rerun"] = statements.run("rerun", case.current)
    if "rows" in case.expect:
        facts["rows"] = live_rows(spark, target)
    return facts


def _win(statements: _Statements, case: StatementCase) -> list[str]:
    """How the winners end, one after the other, or once all of them are staged."""
    named = [(f"winner {number}", played) for number, played in enumerate(case.winners)]
    if case.overlapping:
        for name, played in named:
            statements.stage(name, played)
        return [statements.finish(name) for name, _ in named]
    return [statements.run(name, played) for name, played in named]


def command_of(played: Entrant) -> RealCommand:
    """What takes part in a race, as a command for real Spark."""
    match played:
        case str():
            return Sql(played)
        case NumberedWrite(sql=None):
            return StreamBatch(
                played.app_id,
                played.version,
                played.schema,
                played.rows,
                played.reads_table,
                played.complete,
            )
        case NumberedWrite(sql=sql):
            return Sql(str(sql), played.app_id, played.version)


class _Statements:
    """The statements of a race by their names, each in two parts: to its commit, and to its end."""

    def __init__(self, spark: SparkSession, interleaving: Interleaving, target: Path) -> None:
        self._spark = spark
        self._interleaving = interleaving
        self._target = target

    def stage(self, name: str, played: Entrant, waits_at: int = 1) -> bool:
        """Run a statement up to one of its commits; whether it waits there."""
        command = command_of(played)
        locks = gated if WITH_IDLE_TRANSACTIONS.match(command.text) else phase_locks
        waits = self._interleaving.begin(name, self._action(command), waits_at, locks)
        for number in range(1, waits_at):
            if waits:
                self._interleaving.finish_transaction(name, number - 1)
                waits = self._interleaving.begin_transaction(name, number)
        return waits

    def run(self, name: str, played: Entrant) -> str:
        """Run a statement from beginning to end; how it ended, in one word."""
        action = self._action(command_of(played))
        return self._ending(lambda: self._interleaving.run(name, action))

    def finish(self, name: str) -> str:
        """Let a staged statement go on to its end; how it ended, in one word."""
        return self._ending(lambda: self._interleaving.finish(name))

    def _ending(self, go_on: Callable[[], Ended]) -> str:
        start = latest_version(self._target)
        ended = go_on()
        return _outcome(ended, latest_version(self._target) > start)

    def _action(self, command: RealCommand) -> Callable[[], Any]:
        return runner(self._spark, command, self._target)


def _outcome(ended: Ended, committed: bool) -> str:
    if ended.error is not None:
        return failure_of(ended.error).exception
    return COMMITTED if committed else NOTHING


def _current_facts(ended: Ended, target: Path, start: int) -> dict[str, Any]:
    """What the current statement did, whose commits are those after version `start`."""
    version = start + 1
    committed = latest_version(target) >= version
    facts: dict[str, Any] = {"current": _outcome(ended, committed)}
    if ended.error is not None:
        failure = failure_of(ended.error)
        facts["error_class"], facts["message"] = failure.error_class, failure.message
    elif committed:
        info = commit_info(target, version)
        facts["version"] = version
        facts["isolation_level"] = info.get("isolationLevel")
        facts["is_blind_append"] = info.get("isBlindAppend")
    return facts
