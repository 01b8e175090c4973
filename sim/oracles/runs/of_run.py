"""A run of the simulator before the oracles: its store's bytes, and its recording as a history.

A recording on disk holds no rows and no log, but the scenario and the seed, of which the same run
follows byte for byte: it is made once more and judged.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
from msgspec import Struct

from whitecap.engine.errors import InvalidInput, Problem
from whitecap.engine.isolation import IsolationLevel
from whitecap.engine.log.commit_file import log_key
from whitecap.engine.log.snapshot import EMPTY_SNAPSHOT
from whitecap.engine.recorded import STREAMING, RecordedOutcome
from whitecap.engine.storage.requests import Get, ListFrom, ReadRows, Request, Response
from whitecap.sim.loading.loading import parse_scenario
from whitecap.sim.oracles.evidence import Evidence
from whitecap.sim.oracles.finding import Judgement
from whitecap.sim.oracles.history import History, HistoryTransaction, Promise
from whitecap.sim.oracles.judging import Judge, judge_evidence
from whitecap.sim.oracles.log_validation import CheckedLog, checked_commits
from whitecap.sim.recording.recording import INTERRUPTED, read_recording
from whitecap.sim.run import FinishedRun, run_scenario
from whitecap.sim.scenario.model import Scenario
from whitecap.sim.store.contents.objects import FakeStore
from whitecap.sim.writers.table_in_store import TableInStore


class _StoreAfterwards(Struct, frozen=True):
    """The store of a finished run, answering at once."""

    store: FakeStore

    def answer(self, request: Request) -> Response:
        match request:
            case ReadRows():
                return self.store.read_rows(request)
            case Get() | ListFrom():
                return self.store.answer(request)
        raise AssertionError(f"an oracle does not ask {request}")


def judge(run: FinishedRun, judge_table: Judge = judge_evidence) -> Judgement:
    """All that is wrong with a finished run, table by table."""
    tables = run.world.tables
    judged = {table.name: judge_table(evidence_of(run, table)) for table in tables}
    return Judgement.of_tables(judged)


def judge_run_directory(directory: Path, judge_table: Judge) -> Judgement:
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
    return judge(run, judge_table)


def evidence_of(run: FinishedRun, table: TableInStore) -> Evidence:
    """What a finished run left of a table; one that nobody came to create is no broken one."""
    store = table.store
    versions = [landing.version for landing in store.landings]
    bodies = {version: store.objects[log_key(version)].body for version in versions}
    landed = {landing.version: landing.landed_at_ms for landing in store.landings}
    return Evidence(
        checked_commits(bodies) if bodies else CheckedLog(EMPTY_SNAPSHOT, EMPTY_SNAPSHOT),
        _StoreAfterwards(store),
        history_of(run, table.name),
        landed,
        frozenset(store.data_files).union(store.objects),
        overwritten=tuple(lost.version for lost in store.overwritten),
        unfinished=tuple(item.version for item in store.commit_table.incomplete()),
    )


def history_of(run: FinishedRun, table_name: str | None = None) -> History:
    """The recording as a history, of one of its tables or of all."""
    wrote: dict[int | None, list[int]] = {}
    for row in _of_table(run.recording.commits, table_name):
        wrote.setdefault(row["transaction_id"], []).append(row["version"])
    scenario = run.scenario
    promise = Promise(
        level=_level_promised(scenario),
        settings=dict(scenario.settings),
        faults_stop=_faults_stop(scenario),
        limits=any(table.throttle.has_refused for table in run.world.tables),
    )
    rows = _of_table(run.recording.transactions, table_name)
    return History(tuple(_transaction(row, wrote) for row in rows), promise)


def _level_promised(scenario: Scenario) -> IsolationLevel:
    """Of a table that sets none: where engines differ in their default, the weaker one."""
    dialects = [scenario.dialect_of(group) for group in scenario.writers.values()]
    defaults = {dialect.default_isolation for dialect in dialects}
    weaker = IsolationLevel.WRITE_SERIALIZABLE
    return weaker if weaker in defaults else IsolationLevel.SERIALIZABLE


def _faults_stop(scenario: Scenario) -> float | None:
    """When nothing fails any more; `None` if that is never."""
    ends = [None if each.between is None else each.between[1] for each in scenario.faults]
    finite = [end for end in ends if end is not None]
    return max(finite, default=0.0) if len(finite) == len(ends) else None


_COLUMNS = frozenset(
    {
        *("app_id", "batch_id", "command", "committed_version", "ended_at_ms", "exception"),
        *("job_id", "outcome", "read_version", "statement", "statement_number"),
        *("submitted_at_ms", "table_name", "transaction_id", "version", "writer", "writer_group"),
    }
)
"""Of what a recording says of transactions and commits: what a history tells."""


def _of_table(recorded: pa.Table, name: str | None) -> list[dict[str, Any]]:
    """The rows of one table: where there is one, they do not say which."""
    columns = [column for column in recorded.column_names if column in _COLUMNS]
    rows: list[dict[str, Any]] = recorded.select(columns).to_pylist()
    return [row for row in rows if name is None or row.get("table_name", name) == name]


def _work_of(row: dict[str, Any]) -> str:
    """Of which piece of work a transaction is a try: a job, a statement of it, or of a batch.

    A streaming query that begins a job anew may find another batch next, and one that shares its
    checkpoint the same: what it writes once is a batch.
    """
    number = row.get("statement_number", 1)
    statement = "" if number == 1 else f" statement {number}"
    if row["batch_id"] is None:
        return f"{row['job_id']}{statement}"
    if row["command"] == STREAMING:
        return f"{row['app_id']} batch {row['batch_id']}"
    return f"{row['writer_group']} batch {row['batch_id']}{statement}"


def _transaction(row: dict[str, Any], wrote: dict[int | None, list[int]]) -> HistoryTransaction:
    number, version = row["transaction_id"], row["committed_version"]
    return HistoryTransaction(
        name=f"{row['writer']} #{number}",
        writer=row["writer"],
        outcome=RecordedOutcome(row["outcome"]),
        statement=row["statement"] or None,
        began=row["submitted_at_ms"],
        ended=row["ended_at_ms"],
        read_version=None if row["read_version"] < 0 else row["read_version"],
        acknowledged=() if version is None else (version,),
        wrote=tuple(wrote.get(number, ())),
        job=_work_of(row),
        app_id=row["app_id"],
        batch_id=row["batch_id"],
        exception=row["exception"],
    )
