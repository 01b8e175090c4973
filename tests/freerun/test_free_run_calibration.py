"""Durations measured apart: windows and gaps, whatever the speed of the machine was."""

from __future__ import annotations

import random

import numpy as np
import pytest
from msgspec.structs import replace

from tests.freerun.free_runs import TAIL_MS, apart
from tests.freerun.worlds_with_a_log import (
    CHECKSUM_MS,
    CLOSING_MS,
    LEAD_MS,
    METADATA_MS,
    STATE_MS,
    apart_with_a_log,
)
from whitecap.sim.freerun.log_jobs import LogJobs, LogWork
from whitecap.sim.freerun.measured_cycles import (
    PIECE,
    Cycle,
    calibration_of,
    drawn_anew,
    durations_of,
    job_times_of,
    quantiles,
)
from whitecap.sim.freerun.statements import ObservedRun, TimedStatement
from whitecap.sim.freerun.workloads import mixed_workload, update_workload
from whitecap.sim.quantities.distributions import Distribution

UPDATES = update_workload(4, 4)
SLOW = LogWork(after=LogJobs(states=1))


def _window(chance: random.Random) -> float:
    return chance.uniform(500, 1500)


def _lead(chance: random.Random) -> float:
    return chance.uniform(100, 300)


def test_a_gap_reaches_from_a_commit_to_the_next_snapshot_of_the_thread() -> None:
    """In a world without a log there are no jobs for it."""
    durations = durations_of(calibration_of(apart(UPDATES, 60, lambda _: 1000, lambda _: 200)))
    assert durations["update"].window == pytest.approx(1000)
    assert durations["update"].gap == pytest.approx(200 + TAIL_MS)
    assert durations["update"].cycle_ms == pytest.approx(1200 + TAIL_MS)


def test_a_machine_that_becomes_slower_has_the_same_windows_by_their_share() -> None:
    steady, slowed = (
        durations_of(calibration_of(apart(UPDATES, 400, _window, _lead, slower=factor)))["update"]
        for factor in (1.0, 3.0)
    )
    spread = [float(each.window.std() / each.window.mean()) for each in (steady, slowed)]
    shares = [float(each.window.mean()) / each.cycle_ms for each in (steady, slowed)]
    assert shares[1] == pytest.approx(shares[0], abs=0.01)
    assert spread[1] == pytest.approx(spread[0], abs=0.08)


def test_statements_for_warmth_do_not_count() -> None:
    observed = apart(UPDATES, 60, _window, _lead)
    cold = TimedStatement("update-1", "update", 0, 0.0, 1e9, 0.0, 1e9)
    assert observed.warm_up == 8
    with_cold = ObservedRun(observed.began_at, 9, [cold, *observed.statements])
    assert calibration_of(with_cold) == calibration_of(observed)


def test_a_statement_without_commit_has_no_window() -> None:
    idle = [TimedStatement("update-9", "update", 0, n, n + 1.0, float(n)) for n in range(5)]
    observed = apart(UPDATES, 60, _window, _lead)
    both = ObservedRun(observed.began_at, 8, [*observed.statements, *idle])
    assert len(durations_of(calibration_of(both))["update"].window) == len(
        durations_of(calibration_of(observed))["update"].window
    )


def test_what_is_drawn_anew_has_every_kind_of_statement() -> None:
    mix = mixed_workload(4)
    pieces = calibration_of(apart(mix, 60, _window, _lead))
    chance = np.random.default_rng(1)
    for _ in range(20):
        assert durations_of(drawn_anew(pieces, chance)).keys() == mix.kinds.keys()


def test_pieces_hold_some_statements_of_each_thread() -> None:
    pieces = calibration_of(apart(UPDATES, 300, _window, _lead))
    assert len(pieces) > 1
    assert all(PIECE <= len(piece) < 2 * PIECE for piece in pieces)


def test_jobs_that_read_the_log_are_found_and_taken_out_of_what_else_takes_time() -> None:
    calibration = calibration_of(apart_with_a_log(UPDATES, 600))
    times, update = job_times_of(calibration), durations_of(calibration)["update"]
    assert times.metadata == pytest.approx(METADATA_MS, rel=0.25)
    assert times.state == pytest.approx(STATE_MS, rel=0.1)
    assert times.file == pytest.approx(CHECKSUM_MS, rel=0.1)
    assert update.gap.mean() == pytest.approx(LEAD_MS + CLOSING_MS, abs=20)
    assert update.window.mean() == pytest.approx(450, rel=0.1)


def test_what_is_left_without_jobs_has_the_exact_mean_and_is_always_something() -> None:
    cycles = [Cycle("update", 0.0, 100.0, ms, 0.0, SLOW, LogJobs()) for ms in (600.0, 5.0)]
    cycles += [Cycle("update", 0.0, 100.0, ms, 0.0, LogWork(), LogJobs()) for ms in (90.0, 110.0)]
    gap = durations_of([cycles])["update"].gap
    state_ms = job_times_of([cycles]).state
    assert state_ms > 100
    assert gap.min() > 0
    assert gap.mean() == pytest.approx((600 + 5 + 90 + 110 - 2 * state_ms) / 4)


def test_a_statement_of_nothing_but_jobs_still_takes_some_time() -> None:
    """Else an OPTIMIZE that finds nothing to do would be begun again at the same instant."""
    jobs = [Cycle("update", 0.0, 100.0, ms, 0.0, SLOW, LogJobs()) for ms in (500.0, 510.0)]
    insert = Cycle("insert", 0.0, 100.0, 10.0, 0.0, LogWork(), LogJobs())
    slow = [replace(insert, tail=900.0, work=SLOW)] * 9
    gap = durations_of([[*jobs, insert, *slow]])["update"].gap
    assert 0 < gap.mean() < 100


@pytest.mark.parametrize("count", [1, 7, 40, 333])
def test_quantiles_keep_the_mean_of_what_was_measured(count: int) -> None:
    values = np.sort(np.random.default_rng(count).lognormal(6.0, 0.5, count))
    given = Distribution.model_validate({"quantiles": quantiles(values)})
    assert given.mean_ms() == pytest.approx(float(values.mean()), rel=0.02)
