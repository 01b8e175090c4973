"""Durations measured apart: windows and gaps, whatever the speed of the machine was."""

from __future__ import annotations

import random

import numpy as np
import pytest

from tests.freerun.free_runs import HOLD_MS, TAIL_MS, made_up
from whitecap.sim.freerun.calibration import (
    PIECE,
    calibration_of,
    drawn_anew,
    measured_in,
    quantiles,
)
from whitecap.sim.freerun.statements import Observed, Statement
from whitecap.sim.freerun.workloads import Workload, mixed_workload, update_workload
from whitecap.sim.quantities.distributions import Distribution

UPDATES = update_workload(4, 4)


def _window(chance: random.Random) -> float:
    return chance.uniform(500, 1500)


def _lead(chance: random.Random) -> float:
    return chance.uniform(100, 300)


def _apart(workload: Workload, statements: int, slower: float = 1.0) -> Observed:
    return made_up(workload, statements, _window, _lead, apart=True, slower=slower)


def test_what_was_made_up_is_measured_without_the_waits_for_the_lock() -> None:
    observed = made_up(UPDATES, 400, _window, lambda _: 200, apart=True)
    measured = measured_in(calibration_of(observed))
    waits = [each.decided_ms - each.attempt_ms - HOLD_MS for each in observed.counted]  # type: ignore[operator]
    assert max(waits) > HOLD_MS / 2
    assert measured.hold.mean() == pytest.approx(HOLD_MS, rel=0.05)
    assert measured.kinds["update"].work.mean() == pytest.approx(1000, rel=0.05)
    assert measured.kinds["update"].gap.mean() == pytest.approx(200 + TAIL_MS, rel=0.05)
    assert measured.kinds["update"].lead_ms == pytest.approx(200, rel=0.05)


def test_a_machine_that_becomes_slower_has_the_same_shares() -> None:
    steady, slowed = (
        measured_in(calibration_of(_apart(UPDATES, 400, factor))).kinds["update"]
        for factor in (1.0, 3.0)
    )
    shares = [float(each.work.mean()) / each.cycle_ms for each in (steady, slowed)]
    spread = [float(each.work.std() / each.work.mean()) for each in (steady, slowed)]
    assert shares[1] == pytest.approx(shares[0], abs=0.015)
    assert spread[1] == pytest.approx(spread[0], abs=0.08)


def test_statements_for_warmth_do_not_count() -> None:
    observed = _apart(UPDATES, 60)
    cold = Statement("update-1", "update", 0, 0.0, 1e9, 0.0, 0.0, 1e9, 1e9, 0)
    assert observed.warm_up == 8
    with_cold = Observed(observed.began_at, 9, [cold, *observed.statements])
    assert calibration_of(with_cold) == calibration_of(observed)


def test_a_statement_without_commit_has_no_window() -> None:
    idle = [Statement("update-9", "update", 0, n, n + 1.0, float(n)) for n in range(5)]
    observed = _apart(UPDATES, 60)
    both = Observed(observed.began_at, 8, [*observed.statements, *idle])
    assert len(measured_in(calibration_of(both)).kinds["update"].work) == len(
        measured_in(calibration_of(observed)).kinds["update"].work
    )


def test_what_is_drawn_anew_has_every_kind_of_statement() -> None:
    mix = mixed_workload(4)
    pieces = calibration_of(_apart(mix, 60))
    chance = np.random.default_rng(1)
    for _ in range(20):
        assert measured_in(drawn_anew(pieces, chance)).kinds.keys() == mix.kinds.keys()


def test_pieces_hold_some_statements_of_each_thread() -> None:
    pieces = calibration_of(_apart(UPDATES, 300))
    assert all(PIECE <= len(piece) < 2 * PIECE for piece in pieces)


@pytest.mark.parametrize("count", [1, 7, 40, 333])
def test_quantiles_keep_the_mean_of_what_was_measured(count: int) -> None:
    values = np.sort(np.random.default_rng(count).lognormal(6.0, 0.5, count))
    given = Distribution.model_validate({"quantiles": quantiles(values)})
    assert given.mean_ms() == pytest.approx(float(values.mean()), rel=0.02)
