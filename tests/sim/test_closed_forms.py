"""Runs whose result can be worked out on paper come out as worked out."""

from __future__ import annotations

import math
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


@pytest.mark.parametrize("writers", [2, 8])
def test_lock_step_writers_commit_one_at_a_time(writers: int) -> None:
    """N equal writers without waiting: each round one commits, N - 1 are refused."""
    run = _run({"count": writers, "arrival": "closed", "compute": "1 s", "rerun": "none"}, "100 s")
    assert _value(run, Measure.ABORT_RATE) == pytest.approx(1 - 1 / writers, abs=0.02)
    assert _value(run, Measure.COMMITTED) == pytest.approx(100, abs=2)


def _ramanujan_q(writers: int) -> float:
    return 1 + sum(math.prod(1 - i / writers for i in range(1, j + 1)) for j in range(1, writers))


@pytest.mark.parametrize("writers", [2, 5])
def test_exponential_work_takes_ramanujans_q_attempts_per_commit(writers: int) -> None:
    """Each completion commits with k / N, k the transactions that began since the last commit.

    A refused transaction learns it when it is done and begins again at once, so the transactions
    per commit are 1 + sum over j of the products of (1 - i / N): Ramanujan's Q.
    """
    compute = {"exponential": {"mean": "1 s"}}
    run = _run({"count": writers, "arrival": "closed", "compute": compute}, "8 min")
    ended = _value(run, Measure.COMMITTED) + _value(run, Measure.ABORTED)
    assert ended / _value(run, Measure.COMMITTED) == pytest.approx(_ramanujan_q(writers), rel=0.08)


@pytest.mark.parametrize("load", [0.5, 2.0])
def test_poisson_arrivals_with_a_fixed_window_abort_with_rho_over_one_plus_rho(
    load: float,
) -> None:
    """Who is under way when another commits is refused: the loss formula with one server."""
    rate = f"{load} per s"
    run = _run({"arrival": {"open": {"rate": rate}}, "compute": "1 s"}, f"{800 / load} s")
    ended = _value(run, Measure.COMMITTED) + _value(run, Measure.ABORTED)
    expected = load / (1 + load)
    tolerance = 4 * math.sqrt(expected * (1 - expected) / ended)
    assert _value(run, Measure.ABORT_RATE) == pytest.approx(expected, abs=tolerance)


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


def test_a_queue_of_one_behaves_as_a_single_server() -> None:
    """M/D/1: the mean time in the system is s + rho s / (2 (1 - rho))."""
    arrival = {"open": {"rate": "0.6 per s", "concurrency": 1}}
    run = _run({"arrival": arrival, "compute": "1 s"}, "45 min")
    rows = run.recording.transactions.to_pylist()
    spent = [r["ended_at_ms"] - r["submitted_at_ms"] for r in rows if r["ended_at_ms"]]
    expected_ms = 1000 + 0.6 * 1000 / (2 * (1 - 0.6))
    assert sum(spent) / len(spent) == pytest.approx(expected_ms, rel=0.15)
    assert _value(run, Measure.ABORTED) == 0


def test_in_a_closed_loop_littles_law_holds() -> None:
    """Writers = throughput x (think + time in the system)."""
    writer = {
        "count": 5,
        "arrival": {"closed": {"think": {"exponential": {"mean": "3 s"}}}},
        "compute": {"exponential": {"mean": "2 s"}},
    }
    run = _run(writer, "15 min", store="s3")
    rows = [r for r in run.recording.transactions.to_pylist() if r["ended_at_ms"]]
    spent_ms = sum(r["ended_at_ms"] - r["submitted_at_ms"] for r in rows) / len(rows)
    assert len(rows) / run.scenario.duration * (3000 + spent_ms) == pytest.approx(5, rel=0.06)
