"""Ranges of the prediction: as wide as runs vary, and narrow enough to find an error."""

from __future__ import annotations

import random
from collections import Counter

import numpy as np
import pytest

from tests.freerun.free_runs import apart, refused_together
from tests.freerun.worlds_with_a_log import apart_with_a_log, together_with_a_log
from whitecap.sim.freerun.comparison import ComparedShare
from whitecap.sim.freerun.measured_cycles import calibration_of
from whitecap.sim.freerun.prediction import (
    ABORTS,
    OTHERS,
    count_of,
    predicted_ranges,
    quantities_of,
    range_of,
)
from whitecap.sim.freerun.upcoming import UpcomingRun
from whitecap.sim.freerun.workloads import mixed_workload, update_workload

STATEMENTS, COMPARISONS = 300, 17


def _window(chance: random.Random) -> float:
    return chance.uniform(500, 2500)


def _short_window(chance: random.Random) -> float:
    return _window(chance) / 10


def _lead(chance: random.Random) -> float:
    return chance.uniform(100, 300)


def _shares(rate: float, count: int = 200) -> np.ndarray:
    return np.random.default_rng(1).binomial(STATEMENTS, rate, count) / STATEMENTS


@pytest.mark.parametrize("rate", [0.02, 0.1, 0.3, 0.5])
def test_a_range_holds_what_varies_as_the_replications_and_not_what_is_15_points_off(
    rate: float,
) -> None:
    predicted = range_of(ABORTS, _shares(rate), STATEMENTS, COMPARISONS)
    others = np.random.default_rng(2).binomial(STATEMENTS, rate, 2000)
    wrong = np.random.default_rng(3).binomial(STATEMENTS, rate + 0.15, 2000)
    held = [ComparedShare(predicted, int(count), STATEMENTS).holds for count in others]
    fooled = [ComparedShare(predicted, int(count), STATEMENTS).holds for count in wrong]
    assert 1 - np.mean(held) < 2 * 0.05 / COMPARISONS + 0.002
    assert np.mean(fooled) < 0.05


def test_a_range_is_wider_when_more_must_hold_together() -> None:
    single, many = (range_of(ABORTS, _shares(0.3), STATEMENTS, count) for count in (1, 17))
    assert single.reach == pytest.approx(1.96 * np.sqrt(0.21 / 300), rel=0.2)
    assert many.low < single.low < single.high < many.high


def test_what_never_happens_by_the_rules_may_not_happen() -> None:
    never = range_of(OTHERS, np.zeros(200), STATEMENTS, COMPARISONS)
    assert ComparedShare(never, 0, STATEMENTS).holds
    assert not ComparedShare(never, 1, STATEMENTS).holds


@pytest.mark.parametrize("partitions", [2, 8])
def test_the_simulator_refuses_as_many_as_a_model_of_a_few_lines(partitions: int) -> None:
    workload = update_workload(partitions, 4)
    calibration = calibration_of(apart(workload, 1500, _window, _lead))
    refusals = UpcomingRun(workload, calibration, 1500, seed=1).refusals(replication=0)
    expected = refused_together(4, partitions, 40_000, _window, _lead)
    assert refusals.keys() == {"ConcurrentAppendException"}
    assert refusals.total() / 1500 == pytest.approx(expected, abs=0.035)


def test_where_missing_checksums_cost_jobs_that_follows_from_a_run_apart() -> None:
    """Refused statements leave fewer commits, so fewer checksums are missing than apart."""
    workload = update_workload(2, 4)
    run_apart, together = apart_with_a_log(workload, 600), together_with_a_log(workload, 6000)
    calibration = calibration_of(run_apart)
    refusals = UpcomingRun(workload, calibration, 1500, seed=1).refusals(replication=0)
    expected = together.refusals.total() / len(together.counted)
    assert refusals.total() / 1500 == pytest.approx(expected, abs=0.035)
    assert together.window_share > run_apart.window_share + 0.15
    share = UpcomingRun(workload, calibration, 300, seed=1).window_share()
    assert share == pytest.approx(together.window_share, abs=0.035)


def test_a_prediction_from_wrong_windows_is_found_out() -> None:
    workload = update_workload(4, 4)
    ranges = {
        name: predicted_ranges(
            UpcomingRun(
                workload, calibration_of(apart(workload, STATEMENTS, window, _lead)), STATEMENTS, 1
            ),
            COMPARISONS, jobs=1, replications=8, watch=lambda _: None,
        )[0]
        for name, window in (("right", _window), ("wrong", _short_window))
    }  # fmt: skip
    count = round(refused_together(4, 4, STATEMENTS, _window, _lead) * STATEMENTS)
    assert ComparedShare(ranges["right"], count, STATEMENTS).holds
    assert not ComparedShare(ranges["wrong"], count, STATEMENTS).holds
    assert ranges["right"].reach < 0.2


def test_every_refusal_is_in_one_class_of_the_comparison() -> None:
    workload = mixed_workload(4)
    refusals = Counter(
        ConcurrentAppendException=5, ConcurrentDeleteReadException=2, MetadataChangedException=1
    )
    quantities = quantities_of(workload)
    counts = {quantity: count_of(quantity, workload, refusals) for quantity in quantities}
    assert counts.pop(ABORTS) == 8
    assert sum(counts.values()) == 8
    assert counts[OTHERS] == 1


def test_a_mix_is_refused_by_several_classes() -> None:
    workload = mixed_workload(4)
    calibration = calibration_of(apart(workload, 200, _window, _lead))
    refusals = UpcomingRun(workload, calibration, 200, seed=1).refusals(replication=0)
    assert len(refusals) > 1
    assert 0.1 < refusals.total() / 200 < 0.7
