"""VACUUM that deletes deletion vectors under a writer: F2 of the named failures, with vectors."""

from __future__ import annotations

from collections import Counter
from typing import Any

from tests.sim.sim_worlds import ran, rows
from whitecap.engine.refusals.table_errors import FILE_IS_GONE

TABLE: dict[str, Any] = {
    "schema": "event_id BIGINT, kind STRING, amount DOUBLE",
    "key": "event_id",
    "values": {"kind": ["a", "b"]},
    "properties": {"delta.enableDeletionVectors": "true"},
    "initial": {"rows": 100, "rows_per_file": 50},
}
AT_ONCE = {"spark.databricks.delta.retentionDurationCheck.enabled": "false"}
VACUUM = "VACUUM events RETAIN 0 HOURS"
DELETE = "DELETE FROM events WHERE event_id = "
COPY = "INSERT INTO events SELECT event_id + 1000, kind, amount FROM events"


def _at(minute: float, statement: str) -> dict[str, Any]:
    arrival = {"schedule": {"at": [f"{minute * 60:g} s"]}}
    return {"statement": statement, "arrival": arrival, "compute": "1 s"}


def _outcomes(writers: dict[str, Any], *faults: dict[str, Any]) -> dict[str, Counter[Any]]:
    """Per writer group, how its transactions ended."""
    parts: dict[str, Any] = {
        "table": TABLE,
        "settings": AT_ONCE,
        "faults": faults,
        "duration": "30 min",
    }
    ended: dict[str, Counter[Any]] = {name: Counter() for name in writers}
    for row in rows(ran(writers=writers, **parts)):
        ended[row["writer_group"]][row["outcome"], row["error_class"]] += 1
    return ended


def test_who_reads_a_vector_that_vacuum_deleted_is_aborted_and_the_run_goes_on() -> None:
    """As Delta 4.4 on Spark: UPDATE fails with the condition of a missing data file."""
    writers = {
        "eraser": _at(1, f"{DELETE}3"),
        "cleaner": _at(4, VACUUM),
        "corrector": _at(12, "UPDATE events SET amount = 0 WHERE kind = 'a'"),
        "latecomer": _at(14, "INSERT INTO events VALUES (5000, 'a', 1.0)"),
    }
    paused = {"pause": {"nth": 1, "lasts": "5 min"}, "writers": ["eraser"]}
    ended = _outcomes(writers, paused)
    assert ended["eraser"] == {("committed", None): 1}
    assert ended["corrector"] == {("aborted", FILE_IS_GONE): 1}
    assert ended["latecomer"] == {("committed", None): 1}


def test_a_vector_that_somebody_has_read_is_gone_after_vacuum_too() -> None:
    writers = {
        "eraser": _at(1, f"{DELETE}3"),
        "reader": _at(5, COPY),
        "next_eraser": _at(5.2, f"{DELETE}4"),
        "cleaner": _at(6, VACUUM),
    }
    read_late = {"nth": 1, "requests": ["get"], "files": ["commit"], "lasts": "5 min"}
    ended = _outcomes(writers, {"pause": read_late, "writers": ["reader"]})
    assert ended["next_eraser"] == {("committed", None): 1}
    assert ended["reader"] == {("aborted", FILE_IS_GONE): 1}
