"""The bench: what it measures adds up, and its page says so."""

from __future__ import annotations

from datetime import date
from functools import partial
from pathlib import Path

import pytest

from benchmarks.measure import Measurement, measure
from benchmarks.profiler import PARTS, ROOT, SamplingProfiler, part_of
from benchmarks.speed_page import Speed, page_of
from benchmarks.workloads import TimedScenario, made, workloads

APPENDS = TimedScenario("appends", partial(made, "append-only", 10, 10, 200), goal=1_000)


def speed(us_per_attempt: float, goal: int | None = None) -> Speed:
    measured = Measurement(1_000, 5_000, us_per_attempt / 1_000, 0.0)
    return Speed(TimedScenario("w", APPENDS.scenario, goal), measured, 2.0, {})


def test_all_code_of_engine_and_simulator_is_at_work_for_some_part() -> None:
    modules = [path for room in ("engine", "sim") for path in (ROOT / room).rglob("*.py")]
    assert modules
    assert not [path for path in modules if part_of(path) is None]


def test_a_library_is_counted_for_whoever_called_it() -> None:
    assert part_of(Path(pytest.__file__)) is None


def test_what_a_run_is_at_work_for_adds_up_to_all_of_it() -> None:
    profiler = SamplingProfiler()
    measured = measure(APPENDS, profiler)
    assert measured.attempts > 200
    shares = profiler.shares()
    assert set(shares) == set(PARTS)
    assert sum(shares.values()) == pytest.approx(1.0)
    assert sum(share > 0 for share in shares.values()) > len(PARTS) / 2


def test_what_is_left_out_of_a_workload_is_not_measured() -> None:
    half = measure(TimedScenario("late", APPENDS.scenario, from_share=0.5))
    assert half.attempts < 0.6 * measure(APPENDS).attempts


def test_the_page_gives_units_and_tells_who_is_within_the_goal() -> None:
    lines = "\n".join(page_of([speed(50, 30), speed(50, 20), speed(50)], date(2026, 1, 2)))
    assert "last on 2026-01-02" in lines
    assert "| w | 1,000 | 5.0 | 50 | **25** | 30 |" in lines
    assert "| w | 1,000 | 5.0 | 50 | 25 | 20 |" in lines
    assert "| w | 1,000 | 5.0 | 50 | 25 |  |" in lines


def test_no_two_workloads_have_one_name_and_some_are_watched() -> None:
    offered = list(workloads())
    assert len({workload.name for workload in offered}) == len(offered)
    assert any(workload.is_watched for workload in offered)
