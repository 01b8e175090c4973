"""MSER-5 on series whose transient is known, and on series that have none."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from whitecap.reports.measures.truncation import (
    BATCH,
    FEWEST_BATCHES,
    MOST_BATCHES,
    SeriesCourse,
    settles_at_ms,
)

Series = np.ndarray[Any, np.dtype[np.float64]]
Draw = Callable[[np.random.Generator], Series]

SETS = 60


def autoregressive(
    random: np.random.Generator, alike: float, runs: int, values: int = 2_000
) -> Series:
    """Runs down, values of variance 1 across, neighbours correlated."""
    noise = random.normal(size=(runs, values)) * math.sqrt(1 - alike**2)
    series = np.empty_like(noise)
    series[:, 0] = random.normal(size=runs)
    for at in range(1, values):
        series[:, at] = alike * series[:, at - 1] + noise[:, at]
    return series


def decaying(bias: float, length: float, values: int = 2_000) -> Series:
    """A transient: it begins with a bias, which falls to a third in each length."""
    result: Series = bias * np.exp(-np.arange(values) / length)
    return result


def times_in_system(random: np.random.Generator, load: float, runs: int, jobs: int) -> Series:
    """Of an M/M/1 queue that begins empty, in service times (Lindley)."""
    gaps = random.exponential(1 / load, (runs, jobs))
    served = random.exponential(1.0, (runs, jobs))
    waits = np.zeros((runs, jobs))
    for job in range(1, jobs):
        waits[:, job] = np.maximum(0, waits[:, job - 1] + served[:, job - 1] - gaps[:, job])
    return waits + served


def found_in(draw: Draw, sets: int = SETS) -> Series:
    """What is found in so many sets of runs; a value is a millisecond."""
    random = np.random.default_rng(7)
    return np.array([settled(draw(random)) for _ in range(sets)])


def settled(runs: Series) -> float:
    """What is found in these runs."""
    settled_at = settles_at_ms(
        [SeriesCourse.of(np.arange(len(run), dtype=float), run) for run in runs]
    )
    assert settled_at is not None
    return settled_at


@pytest.mark.parametrize("runs", [1, 5, 20])
@pytest.mark.parametrize("alike", [0.0, 0.5, 0.9])
def test_where_there_is_no_transient_none_is_found(alike: float, runs: int) -> None:
    settled_at = found_in(lambda random: autoregressive(random, alike, runs))
    assert np.mean(settled_at > 0) <= 0.04


@pytest.mark.parametrize("runs", [1, 5, 20])
def test_a_decaying_bias_is_cut_until_little_of_it_is_left(runs: int) -> None:
    settled_at = found_in(lambda random: autoregressive(random, 0.0, runs) + decaying(2.0, 100.0))
    assert np.all(settled_at > 0)
    assert np.all(np.isfinite(settled_at))
    left = 2.0 * np.exp(-np.median(settled_at) / 100.0)
    assert left < 0.6 / math.sqrt(runs) + 0.1
    assert np.median(settled_at) <= 400


def test_more_replications_find_a_smaller_transient() -> None:
    def draw(runs: int) -> Draw:
        return lambda random: autoregressive(random, 0.9, runs) + decaying(1.0, 100.0)

    few, many = (found_in(draw(runs)) for runs in (1, 20))
    assert np.mean(few > 0) < 0.2
    assert np.mean(many > 0) > 0.95


def test_a_queue_that_begins_empty_warms_up() -> None:
    """At a load of 0.8 the relaxation time is 2 / (2.8 (1 - sqrt rho)^2), 64 services or some 51
    jobs (Odoni and Roth 1983)."""
    settled_at = found_in(lambda random: times_in_system(random, 0.8, 40, 2_000), 20)
    assert np.mean(settled_at > 0) > 0.7
    assert 10 <= np.median(settled_at[settled_at > 0]) <= 150


@pytest.mark.parametrize("runs", [5, 20])
def test_what_never_settles_is_not_cut(runs: int) -> None:
    settled_at = found_in(lambda random: autoregressive(random, 0.5, runs) + np.arange(2_000) / 500)
    assert np.all(np.isinf(settled_at))


def test_too_little_says_nothing() -> None:
    random = np.random.default_rng(1)
    enough = BATCH * FEWEST_BATCHES
    assert settles_at_ms([]) is None
    for values, is_known in ((enough - 1, False), (enough, True)):
        course = SeriesCourse.of(np.arange(values, dtype=float), random.normal(size=values))
        assert (settles_at_ms([course]) is not None) is is_known


def test_a_course_is_in_order_of_its_instants_and_has_a_thousand_batches_at_most() -> None:
    instants, values = np.array([30.0, 10.0, 20.0, 0.0, 40.0, 50.0]), np.arange(6.0)
    course = SeriesCourse.of(instants, values)
    assert course.started_ms.tolist() == [0.0]
    assert course.values.tolist() == [(3 + 1 + 2 + 0 + 4) / 5]
    long = SeriesCourse.of(np.arange(30_001.0), np.arange(30_001.0))
    assert MOST_BATCHES / 2 < len(long.values) <= MOST_BATCHES
    assert (long.values[0], long.started_ms[1]) == (17.0, 35.0)


def test_a_constant_series_has_no_transient() -> None:
    assert settles_at_ms([SeriesCourse.of(np.arange(500.0), np.zeros(500))]) == 0.0
