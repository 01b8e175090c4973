"""How long writers take, told from what they had read: known lognormals come out again."""

from __future__ import annotations

import math

import pytest

from tests.inferring.synthetic_logs import Workers, commits_at, commits_of
from whitecap.sim.inferring.brackets import Brackets, fitted_to
from whitecap.sim.inferring.figures import Surety, duration_text
from whitecap.sim.inferring.log.observed import ObservedCommit
from whitecap.sim.inferring.windows import ASSUMED_MS, TELLING, window_of


def _log(median_ms: float, sigma: float) -> tuple[list[ObservedCommit], dict[int, int]]:
    workers = Workers("never waits", 1, 10_000, median_ms, sigma)
    return commits_of(workers, 400 * 10_000, others_every_ms=1e15, seed=7)


@pytest.mark.parametrize("median_ms", [5_000.0, 40_000.0])
@pytest.mark.parametrize("sigma", [0.3, 0.8])
def test_the_versions_that_were_read_tell_median_and_spread(median_ms: float, sigma: float) -> None:
    window = window_of(*_log(median_ms, sigma))
    assert window.figure.surety is Surety.FITTED
    assert window.median_ms == pytest.approx(median_ms, rel=0.12)
    assert window.sigma == pytest.approx(sigma, rel=0.2)


def test_the_evidence_states_the_interval_of_the_fit() -> None:
    log = _log(20_000, 0.4)
    fit = fitted_to(Brackets.of(*log))
    low, high = (duration_text(math.exp(end)) for end in (fit.low, fit.high))
    assert f"median [{low}, {high}] at 95 %" in window_of(*log).figure.because


def test_a_stated_time_goes_before_brackets() -> None:
    stated = {"executionTimeMs": 8_000.0}
    commits = commits_at([1e6 * n for n in range(1, 20)], metrics=stated)
    window = window_of(commits, {each.version: each.timestamp_ms for each in commits})
    assert (window.median_ms, window.is_known) == (8_000, True)
    assert "executionTimeMs of 19 commits" in window.figure.because


def test_a_quiet_log_tells_no_time_and_the_draft_says_that_it_is_assumed() -> None:
    commits = commits_at([3_600_000.0 * n for n in range(1, 3 * TELLING)])
    window = window_of(commits, {each.version: each.timestamp_ms for each in commits})
    assert (window.figure.surety, window.median_ms) == (Surety.ASSUMED, ASSUMED_MS)
    assert "half of them took at most 60 min" in window.figure.because


def test_what_is_assumed_is_no_longer_than_the_log_allows() -> None:
    commits = commits_at([1_000.0 * n for n in range(1, 3 * TELLING)])
    window = window_of(commits, {each.version: each.timestamp_ms for each in commits})
    assert window.median_ms <= 1_000
