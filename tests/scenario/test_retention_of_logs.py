"""How long a table keeps its log and its deleted files: two properties, judged as a pair."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.command_line import invoked
from tests.inferring.synthetic_logs import LogOnDisk
from tests.real_table.beginnings import scenario_from
from tests.sim.sim_worlds import TABLE, document
from whitecap.engine.errors import InvalidInput
from whitecap.engine.log.checkpoints.checkpoint import write_checkpoint
from whitecap.engine.log.clients.stored_log import StoredLog
from whitecap.engine.storage.disk.directory import DirectoryStore
from whitecap.engine.storage.memory import run as drive
from whitecap.exit_codes import ExitCode
from whitecap.sim.loading import scenario_of

LOG, FILES = "delta.logRetentionDuration", "delta.deletedFileRetentionDuration"
TWO_DAYS = {LOG: "interval 2 days", FILES: "interval 2 days"}
LONG = {LOG: "interval 40 days", FILES: "interval 35 days"}
ILLEGAL = {LOG: "interval 2 days", FILES: "interval 3 days"}


def _problems(**table: Any) -> list[str]:
    with pytest.raises(InvalidInput) as raised:
        scenario_of(document(table={**TABLE, **table}))
    return [f"{problem.place.split()[-1]}: {problem.text}" for problem in raised.value.problems]


@pytest.mark.parametrize("properties", [TWO_DAYS, dict(reversed(TWO_DAYS.items())), LONG])
def test_a_pair_that_is_legal_together_is_taken_in_any_order(properties: dict[str, str]) -> None:
    table = scenario_of(document(table={**TABLE, "properties": properties})).table
    assert table is not None
    assert table.properties == properties


@pytest.mark.parametrize(
    ("properties", "key"),
    [
        (ILLEGAL, LOG),
        ({LOG: "interval 2 days"}, LOG),
        ({FILES: "interval 35 days"}, FILES),
    ],
)
def test_a_log_that_goes_before_its_deleted_files_is_told_once(
    properties: dict[str, str], key: str
) -> None:
    (problem,) = _problems(properties=properties)
    assert problem == (
        f"table.properties.{key}: requirement failed: The table property {LOG} needs to be greater "
        f"than or equal to {FILES}."
    )


def test_a_value_that_is_no_interval_is_told_alone() -> None:
    (problem,) = _problems(properties={LOG: "interval 2 days", FILES: "soon"})
    assert problem.startswith(f"table.properties.{FILES}: ")


@pytest.mark.parametrize("properties", [TWO_DAYS, LONG])
def test_a_real_table_keeps_its_legal_pair(tmp_path: Path, properties: dict[str, str]) -> None:
    log = LogOnDisk(tmp_path / "events", properties=properties)
    log.append("2026-01-12")
    table = scenario_from(log.folder, key="id").table
    assert table is not None
    assert {key: table.properties.get(key) for key in properties} == properties


def test_of_a_real_table_a_pair_that_delta_refuses_is_left_out(tmp_path: Path) -> None:
    log = LogOnDisk(tmp_path / "events", properties=ILLEGAL)
    log.append("2026-01-12")
    table = scenario_from(log.folder, key="id").table
    assert table is not None
    assert not {LOG, FILES} & set(table.properties)


def test_a_log_of_a_table_with_a_legal_pair_is_drafted(tmp_path: Path) -> None:
    log = LogOnDisk(tmp_path / "events", properties=TWO_DAYS)
    for _ in range(12):
        log.append("2026-01-12", readVersion=log.version - 1)
    drafted = invoked("from-log", log.folder)
    assert drafted.exit_code == ExitCode.FINE, drafted.output
    assert f'{FILES}: "interval 2 days"' in drafted.output


def test_a_table_has_one_retention_whoever_says_it() -> None:
    log = {"rate": "1 per h", "retention": "9 d"}
    stated = {LOG: "interval 9 days"}
    table = scenario_of(document(table={**TABLE, "properties": stated, "log": log})).table
    assert table is not None
    (problem,) = _problems(properties=LONG, log=log)
    assert problem == (
        f"table.log.retention: table.properties.{LOG} says 'interval 40 days', and a table has one "
        "retention: leave this out"
    )


def test_a_draft_says_a_retention_once(tmp_path: Path) -> None:
    """In three digits it would be another one than the property's."""
    log = LogOnDisk(tmp_path / "events", properties={LOG: "interval 1234 hours"})
    for _ in range(24):
        log.append("2026-01-12", readVersion=log.version - 1)
    store = DirectoryStore(log.folder)
    drive(write_checkpoint(drive(StoredLog().update(), store)), store)
    for version in range(10):
        (log.log / f"{version:020d}.json").unlink()
    drafted = invoked("from-log", log.folder)
    assert drafted.exit_code == ExitCode.FINE, drafted.output
    assert f'{LOG}: "interval 1234 hours"' in drafted.output
    assert "retention:" not in drafted.output
