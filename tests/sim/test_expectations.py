"""Expectations are held against what was recorded, warm-up left out."""

from __future__ import annotations

from typing import Any

import pytest

from whitecap.sim.expectations import evaluate
from whitecap.sim.recording import Recording, table_of
from whitecap.sim.scenario.expect import Expectation

COLUMNS = {
    "transaction_id": 0, "job_id": 0, "rerun_number": 0, "writer": "a-1", "writer_group": "a",
    "command": "UPDATE", "statement": "", "app_id": None, "batch_id": None, "read_version": 0,
    "submitted_at_ms": 0.0, "snapshot_at_ms": 0.0, "commit_started_at_ms": None,
    "ended_at_ms": 100.0, "outcome": "committed", "committed_version": 1, "exception": None,
    "error_class": None, "rule": None, "winning_version": None, "evidence": None,
    "message": None, "isolation_level": None, "is_blind_append": None, "attempts": 1,
    "compute_ms": 50.0, "rows_inserted": 0, "files_added": 0, "files_removed": 0,
    "bytes_written": 0, "given_up": False,
}  # fmt: skip


def _recording(*changes: dict[str, Any]) -> Recording:
    rows = [
        tuple({**COLUMNS, "transaction_id": n, "job_id": n, **c}.values())
        for n, c in enumerate(changes)
    ]
    manifest = {"warm_up_ms": 1000.0, "duration_ms": 61_000.0}
    return Recording(manifest, "", {"transactions": table_of("transactions", rows)})


LATER = {"submitted_at_ms": 2000.0, "ended_at_ms": 2400.0}
REFUSED = {
    **LATER,
    "outcome": "aborted",
    "committed_version": None,
    "exception": "ConcurrentAppendException",
}
RECORDING = _recording(
    {},  # in the warm-up
    LATER,
    {**LATER, "attempts": 3, "ended_at_ms": 2800.0},
    {**REFUSED, "compute_ms": 100.0},
    {**REFUSED, "given_up": True, "job_id": 3, "rerun_number": 1, "exception": "WriterCrash"},
    {**LATER, "writer_group": "b", "writer": "b-1", "outcome": "unknown", "given_up": True},
    {**LATER, "writer_group": "b", "writer": "b-1", "outcome": "in_flight", "ended_at_ms": None},
)


@pytest.mark.parametrize(
    ("expectation", "found"),
    [
        ({"measure": "submitted"}, 6),
        ({"measure": "committed"}, 2),
        ({"measure": "aborted"}, 2),
        ({"measure": "aborted", "exception": "WriterCrash"}, 1),
        ({"measure": "unknown"}, 1),
        ({"measure": "in_flight"}, 1),
        ({"measure": "given_up"}, 2),
        ({"measure": "reruns"}, 1),
        ({"measure": "attempts"}, 8),
        ({"measure": "conflict_rate"}, 1 / 8),
        ({"measure": "retry_rate"}, 2 / 8),
        ({"measure": "abort_rate"}, 2 / 5),
        ({"measure": "rerun_rate"}, 1 / 6),
        ({"measure": "goodput_per_minute"}, 2),
        ({"measure": "job_success_rate"}, 2 / 4),
        ({"measure": "latency_p50_ms"}, 600),
        ({"measure": "wasted_compute_share"}, 150 / 300),
        ({"measure": "submitted", "writer": "b"}, 2),
        ({"measure": "submitted", "writer": "a-1"}, 4),
        ({"measure": "submitted", "command": "MERGE"}, 0),
    ],
)
def test_measures_are_those_worked_out_by_hand(expectation: dict[str, Any], found: float) -> None:
    (result,) = evaluate([Expectation(**expectation, at_least=0)], RECORDING)
    assert result.found == pytest.approx(found)


@pytest.mark.parametrize(
    ("threshold", "missed"),
    [
        ({"equals": 2}, None),
        ({"equals": 3}, "3"),
        ({"at_least": 2}, None),
        ({"at_least": 2.5}, "at least 2.5"),
        ({"at_most": 2}, None),
        ({"at_most": 1}, "at most 1"),
        ({"at_least": 1, "at_most": 1.5}, "at most 1.5"),
    ],
)
def test_a_threshold_that_is_missed_is_named(
    threshold: dict[str, float], missed: str | None
) -> None:
    (result,) = evaluate([Expectation(measure="committed", **threshold)], RECORDING)
    assert result.missed == missed
    assert result.is_met == (missed is None)


def test_what_could_not_be_measured_misses_every_threshold() -> None:
    nothing = Expectation(measure="latency_p50_ms", writer="b", at_most=1e9)
    (result,) = evaluate([nothing], RECORDING)
    assert not result.is_met
