"""Runs of one writer or of blind appends, whose results can be worked out on paper.

More of them, with intervals: `benchmarks/validation`.
"""

from __future__ import annotations

from typing import Any

import pytest

from whitecap.engine.recorded import Measure
from whitecap.reports.measures.measured_run import measure_run
from whitecap.sim.loading import scenario_of
from whitecap.sim.run import FinishedRun, run_scenario

TABLE: dict[str, Any] = {
    "schema": "event_id BIGINT, amount DOUBLE",
    "key": "event_id",
    "initial": {"rows": 1},
}
TOUCH_ALL = "UPDATE events SET amount = 1.0"
"""Reads and rewrites the one row that there is: conflicts with every other such commit."""

INSERT = "INSERT INTO events VALUES (2, 1.0)"
"""Reads nothing."""


def _run(writer: dict[str, Any], duration: str, **parts: Any) -> FinishedRun:
    content = {
        "name": "paper",
        "duration": duration,
        "store": "instant",
        "table": TABLE,
        "writers": {"w": {"statement": TOUCH_ALL, **writer}},
    }
    return run_scenario(scenario_of({**content, **parts}))


def _value(run: FinishedRun, measure: Measure) -> float:
    return measure_run(run.recording.manifest, run.recording.tables).tally(measure).value


def test_one_closed_writer_commits_once_per_think_compute_and_latency() -> None:
    store = {
        "profile": "instant",
        "list": {"latency": "30 ms", "page_size": 1_000_000},
        "get": {"latency": "20 ms"},
        "put_if_absent": {"success": {"latency": "100 ms"}},
    }
    writer = {"arrival": {"closed": {"think": "4 s"}}, "compute": "850 ms"}
    table = {**TABLE, "properties": {"delta.checkpointInterval": 1_000_000}}
    run = _run({**writer, "statement": INSERT}, "100 min", store=store, table=table)
    cycle_ms = 4000 + 2 * 30 + 850 + 100  # it knows its own last commit
    assert _value(run, Measure.COMMITTED) == pytest.approx(100 * 60_000 / cycle_ms, abs=1.1)
    assert _value(run, Measure.LATENCY_P50_MS) == pytest.approx(1010)


def test_blind_appends_never_abort_and_pay_with_retries() -> None:
    insert = {
        "statement": "INSERT INTO events VALUES :rows",
        "parameters": {"rows": {"rows": {"count": 1}}},
    }
    writer = {**insert, "count": 8, "arrival": {"closed": {"think": "100 ms"}}}
    run = _run(writer, "30 s", store="s3")
    assert _value(run, Measure.ABORTED) == 0
    assert _value(run, Measure.ATTEMPTS) > 2 * _value(run, Measure.COMMITTED)


def test_commits_to_one_log_are_limited_by_the_latency_of_a_put() -> None:
    """Each version is put after the one before took effect, half a latency after it was sent."""
    insert = {
        "statement": "INSERT INTO events VALUES :rows",
        "parameters": {"rows": {"rows": {"count": 1}}},
    }
    store = {
        "profile": "instant",
        "put_if_absent": {"success": {"latency": "100 ms"}, "loss": {"latency": "100 ms"}},
    }
    few = _run({**insert, "count": 1, "arrival": "closed", "compute": "1 ms"}, "60 s", store=store)
    assert _value(few, Measure.COMMITTED) == pytest.approx(60_000 / 101, abs=2)


def test_statements_on_different_buckets_of_the_key_meet_as_many_new_rows() -> None:
    """Each insert of two rows in 25 s has one in the bucket with 2 / 16, and an update takes 20 s:
    of a closed loop of exponential times and 5 s that is 9.1 %.
    """
    table = {
        "schema": "id BIGINT, v INT, bucket BIGINT GENERATED ALWAYS AS (id % 16)",
        "key": "id",
        "partition_by": ["bucket"],
        "initial": {"rows": 1600, "rows_per_file": 10},
    }
    insert = {
        "statement": "INSERT INTO events (id, v) VALUES :rows",
        "parameters": {"rows": {"rows": {"count": 2}}},
        "arrival": {"closed": {"think": {"exponential": {"mean": "20 s"}}}},
        "compute": "5 s",
    }
    updates = {
        f"of_{bucket}": {
            "statement": f"UPDATE events SET v = 1 WHERE bucket = {bucket}",
            "arrival": {"closed": {"think": {"exponential": {"mean": "30 s"}}}},
            "compute": "20 s",
        }
        for bucket in (0, 1, 7, 15)
    }
    run = _run(insert, "10 h", table=table, writers={"w": insert, **updates})
    measured = measure_run(run.recording.manifest, run.recording.tables)
    for bucket in (0, 1, 7, 15):
        aborted = measured.tally(Measure.ABORT_RATE, f"of_{bucket}").value
        assert aborted == pytest.approx(0.091, abs=0.035)  # three standard errors of 720 updates
