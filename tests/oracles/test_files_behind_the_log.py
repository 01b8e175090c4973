"""Files that are gone or damaged, and statistics that lie: found, and nothing else is silenced."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import deltalake
import pyarrow as pa
import pytest

from tests.sim.sim_worlds import scenario
from whitecap.engine.log.actions import AddFile
from whitecap.engine.log.schema import parse_ddl
from whitecap.sim.oracles.data_files.untrue import untrue_of
from whitecap.sim.oracles.finding import Anomaly, Finding
from whitecap.sim.oracles.history import History, HistoryTransaction
from whitecap.sim.oracles.judging import judge_directory, judge_table
from whitecap.sim.oracles.runs.of_run import history_of
from whitecap.sim.run import run_scenario
from whitecap.sim.table.export import export_table

TABLE: dict[str, Any] = {
    "schema": "event_id BIGINT, kind STRING, v INT",
    "key": "event_id",
    "values": {"kind": ["a", "b"]},
    "properties": {"delta.enableDeletionVectors": "true"},
    "initial": {"rows": 60, "rows_per_file": 20},
}
ERASER: dict[str, Any] = {
    "statement": "DELETE FROM events WHERE event_id IN (:keys)",
    "parameters": {"keys": {"keys": {"count": 1}}},
    "arrival": {"closed": {"think": "20 s"}},
    "compute": "1 s",
}


@pytest.fixture
def exported(tmp_path: Path) -> tuple[Path, History]:
    """A small table with deletion vectors in a directory, and what its writers know."""
    run = run_scenario(scenario(table=TABLE, writers={"eraser": ERASER}, duration="1 min"))
    export_table(run.world.store, tmp_path / "table", data=True)
    return tmp_path / "table", history_of(run)


def _without_its_last_commit(history: History) -> History:
    """A history whose last commit is one that the log does not have."""
    lost = HistoryTransaction("lost", "lost", history.transactions[0].outcome, acknowledged=(99,))
    return History((*history.transactions, lost), history.promise)


def _anomalies(table: Path, history: History) -> dict[Anomaly, Finding]:
    return {each.anomaly: each for each in judge_table(table, history).findings}


def test_an_exported_table_with_vectors_is_sound(exported: tuple[Path, History]) -> None:
    judgement = judge_table(*exported)
    assert not judgement.findings
    assert not judgement.not_checked


def test_a_live_vector_that_is_gone_is_found_besides_all_else(
    exported: tuple[Path, History],
) -> None:
    table, history = exported
    vectors = list(table.rglob("*.bin"))
    for vector in vectors:
        vector.unlink()
    judged = _anomalies(table, _without_its_last_commit(history))
    assert judged.keys() == {Anomaly.DURABILITY, Anomaly.LOST_COMMIT}
    assert "deletion vector" in judged[Anomaly.DURABILITY].sentence
    assert {vector.name for vector in vectors} & set(judged[Anomaly.DURABILITY].files)
    reasons = {gap.why for gap in judge_table(table, history).not_checked}
    assert "a deletion vector is gone" in reasons


def _cut(place: Path) -> None:
    place.write_bytes(place.read_bytes()[:-8])


def _flipped(place: Path) -> None:
    body = bytearray(place.read_bytes())
    body[-6] ^= 0xFF
    place.write_bytes(bytes(body))


@pytest.mark.parametrize(("files", "damages"), [("*.parquet", _cut), ("*.bin", _flipped)])
def test_a_damaged_live_file_is_found_besides_all_else(
    exported: tuple[Path, History], files: str, damages: Callable[[Path], None]
) -> None:
    table, history = exported
    for place in table.glob(files):
        damages(place)
    judged = _anomalies(table, _without_its_last_commit(history))
    assert judged.keys() == {Anomaly.DURABILITY, Anomaly.LOST_COMMIT}
    assert "a data file of the newest version cannot be read" in judged[Anomaly.DURABILITY].sentence


def _adds(table: Path) -> Iterator[tuple[Path, list[dict[str, Any]], dict[str, Any]]]:
    for log in sorted(table.glob("_delta_log/*.json")):
        lines = [json.loads(line) for line in log.read_text().splitlines()]
        yield from ((log, lines, line["add"]) for line in lines if "add" in line)


def _planted(table: Path, lie: Callable[[dict[str, Any], dict[str, Any]], None]) -> None:
    """Let the newest add of the log lie."""
    log, lines, add = list(_adds(table))[-1]
    statistics = json.loads(add["stats"])
    lie(add, statistics)
    add["stats"] = json.dumps(statistics)
    log.write_text("".join(json.dumps(line) + "\n" for line in lines))


def _no_rows_there(_: dict[str, Any], statistics: dict[str, Any]) -> None:
    statistics["minValues"]["event_id"] = statistics["maxValues"]["event_id"] = -1


def _more_rows(_: dict[str, Any], statistics: dict[str, Any]) -> None:
    statistics["numRecords"] += 5


def _all_null(_: dict[str, Any], statistics: dict[str, Any]) -> None:
    statistics["nullCount"]["event_id"] = statistics["numRecords"]


def _more_deleted(add: dict[str, Any], _: dict[str, Any]) -> None:
    add["deletionVector"]["cardinality"] += 3


@pytest.mark.parametrize(
    ("lie", "said"),
    [
        (_no_rows_there, "the largest 'event_id' is said to be -1"),
        (_more_rows, "numRecords is 25, and it has 20 rows"),
        (_all_null, "nullCount of 'event_id' is 20, and it has 0 in"),
        (_more_deleted, "the cardinality of its deletion vector is"),
    ],
)
def test_what_the_log_says_of_a_file_is_held_against_its_rows(
    exported: tuple[Path, History], lie: Callable[[dict[str, Any], dict[str, Any]], None], said: str
) -> None:
    table, _ = exported
    _planted(table, lie)
    (finding,) = judge_directory(table, None).findings
    assert finding.anomaly is Anomaly.LOG_FORM
    assert said in finding.sentence


def test_the_statistics_of_delta_rs_are_no_lies(tmp_path: Path) -> None:
    """Long texts, single precision, NaN, microseconds, long decimals, and a column that is new."""
    rows = pa.table(
        {
            "text": ["x" * 99, "\U0001f30a" * 70, "a"],
            "single": pa.array([0.1, 16777217.3, float("nan")], pa.float32()),
            "double": [0.1 + 0.2, float("nan"), None],
            "at": pa.array([1_700_000_000_123_456, 999, -1], pa.timestamp("us", "UTC")),
            "number": pa.array([Decimal("12345678901234567.891"), None, Decimal("0.001")]),
            "raw": [b"z", b"\xff\xff", None],
            "flag": [True, False, None],
            "none": pa.array([None, None, None], pa.int32()),
            "parts": [{"a": 1}, None, {"a": None}],
        }
    )
    place = tmp_path / "table"
    deltalake.write_deltalake(str(place), rows)
    more = rows.append_column("late", pa.array([1, 2, 3]))
    deltalake.write_deltalake(str(place), more, mode="append", schema_mode="merge")
    deltalake.DeltaTable(str(place)).optimize.compact()
    assert not judge_directory(place, None).findings


@pytest.mark.parametrize(
    ("ddl", "value", "least", "most"),
    [
        ("c STRING", "ab\U0001f30az", "ab", "ab\ufffd"),
        ("c TIMESTAMP", datetime(2026, 1, 1, 0, 0, 0, 999, UTC), *["2026-01-01T00:00:00.000Z"] * 2),
        ("c TIMESTAMP", datetime(1969, 1, 1, 0, 0, 0, 1, UTC), *["1969-01-01T00:00:00.001Z"] * 2),
        ("c DOUBLE", float("nan"), 1.0, 1.0),
        ("c FLOAT", 0.10000000149011612, 0.1, 0.1),
        ("c BINARY", b"z", "a", "a"),
    ],
)
def test_legal_bounds_that_are_cut_or_rounded_are_no_lies(
    ddl: str, value: Any, least: Any, most: Any
) -> None:
    said = {"numRecords": 1, "minValues": {"c": least}, "maxValues": {"c": most}}
    file = AddFile(
        path="a",
        partition_values={},
        size=1,
        modification_time=1,
        data_change=True,
        stats=json.dumps(said),
    )
    assert not list(untrue_of(file, [(value,)], None, parse_ddl(ddl)))
