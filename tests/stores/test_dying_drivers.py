"""A driver dies whatever it is doing: while its jobs run, and while it waits for the next one."""

from __future__ import annotations

from typing import Any

import pytest

from tests.sim.sim_worlds import ran, rows
from tests.stores.test_log_access import INSERT, READ, log_kinds, log_run, log_writer
from whitecap.engine.recorded import Interruption
from whitecap.sim.run import FinishedRun

DIES_AT_30_S = {
    "writer_crash": {"rate": "10 per ms", "restart": "10 s"}, "between": ["30 s", "30001 ms"]
}  # fmt: skip
"""A great many crashes, of which the first leaves no driver for the others."""

UP_AGAIN_MS = pytest.approx(40_000, abs=1)


def _ran(at: list[str], *, count: int = 1, **more: Any) -> FinishedRun:
    writer = log_writer(INSERT, ["0 s", *at], cluster="etl", count=count, **more)
    return log_run({"w": writer}, faults=[DIES_AT_30_S])


def test_who_comes_after_its_driver_died_finds_a_cold_one() -> None:
    run = _ran(["60 s"])
    assert log_kinds(run)[1][:4] == ["head!", "list", *READ]


def test_who_comes_while_its_driver_is_down_waits_until_it_is_up() -> None:
    run = _ran(["35 s"], count=2)
    cold, *_ = rows(run)
    took_ms = cold["snapshot_at_ms"] - cold["submitted_at_ms"]
    began = [row["snapshot_at_ms"] - took_ms for row in rows(run)[2:]]
    assert min(began) == UP_AGAIN_MS


def test_what_is_down_dies_no_second_time() -> None:
    """Of a thousand crashes within a millisecond one counts."""
    assert [row["outcome"] for row in rows(_ran(["35 s", "45 s"]))] == ["committed"] * 3


def test_a_deadline_is_kept_while_the_driver_is_down() -> None:
    run = _ran(["32 s", "36 s"], deadline="5 s")
    _, late, in_time = rows(run)
    assert late["exception"] == Interruption.DEADLINE_PASSED
    assert late["ended_at_ms"] == 37_000
    assert late["given_up"]
    assert in_time["outcome"] == "committed"


def test_a_driver_is_up_for_its_share_of_the_time() -> None:
    """A minute up and five down, in the mean, whether a job runs or none."""
    crash = {"writer_crash": {"rate": "60 per h", "restart": {"exponential": {"mean": "5 min"}}}}
    loader = {
        "statement": INSERT,
        "parameters": {"rows": {"rows": {"count": 1}}},
        "arrival": {"schedule": {"every": "30 min"}},
        "compute": "1 ms",
    }
    run = ran(store="instant", duration="300 h", writers={"w": loader}, faults=[crash])
    waits = [row["snapshot_at_ms"] - row["submitted_at_ms"] for row in rows(run)]
    at_once = sum(wait_ms < 1 for wait_ms in waits) / len(waits)
    assert at_once == pytest.approx(1 / 6, abs=0.05)
    assert sum(waits) / len(waits) == pytest.approx(5 / 6 * 5 * 60_000, rel=0.15)
