"""How long writers take, told from what they had read: known lognormals come out again."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.inferring.synthetic_logs import commits_at
from whitecap.sim.inferring.figures import Surety
from whitecap.sim.inferring.observed import ObservedCommit
from whitecap.sim.inferring.windows import ASSUMED_MS, TELLING, bracket, window_of


def _log(
    median_ms: float, sigma: float, gap_ms: float, count: int, seed: int
) -> list[ObservedCommit]:
    """Jobs that come by chance and take lognormal times, as their commits tell of them."""
    draws = np.random.default_rng(seed)
    begun = np.cumsum(draws.exponential(gap_ms, count)) + 1e9
    ends = begun + np.exp(draws.normal(math.log(median_ms), sigma, count))
    order = np.argsort(ends)
    begun, ends = begun[order], ends[order]
    read = np.searchsorted(ends, begun)
    return [
        ObservedCommit(version, int(end), "UPDATE", read_version=int(seen))
        for version, (end, seen) in enumerate(zip(ends, read, strict=True), start=1)
    ]


@pytest.mark.parametrize("median_ms", [5_000.0, 40_000.0])
@pytest.mark.parametrize("sigma", [0.3, 0.8])
def test_the_versions_that_were_read_tell_median_and_spread(median_ms: float, sigma: float) -> None:
    commits = _log(median_ms, sigma, gap_ms=10_000, count=400, seed=7)
    window = window_of(commits, {each.version: each.timestamp_ms for each in commits})
    assert window.figure.surety is Surety.FITTED
    assert window.median_ms == pytest.approx(median_ms, rel=0.12)
    assert window.sigma == pytest.approx(sigma, rel=0.2)


def test_the_stated_interval_of_the_median_covers_it_as_often_as_it_says() -> None:
    import re

    covered = 0
    for seed in range(40):
        commits = _log(20_000, 0.4, gap_ms=15_000, count=120, seed=seed)
        window = window_of(commits, {each.version: each.timestamp_ms for each in commits})
        ends = re.search(r"\[([\d.]+) s, ([\d.]+) s\]", window.figure.because)
        assert ends is not None
        covered += float(ends[1]) <= 20 <= float(ends[2])
    assert covered >= 34  # of 40 at 95 %: fewer by chance once in 200 tries


def test_a_bracket_lies_between_the_version_that_was_read_and_the_next_one() -> None:
    commit = ObservedCommit(5, 10_000, "UPDATE", read_version=2)
    assert bracket(commit, {2: 3_000, 3: 4_500, 4: 9_000, 5: 10_000}) == (5_500, 7_000)
    assert bracket(commit, {3: 4_500}) is None
    alone = ObservedCommit(3, 10_000, "UPDATE", read_version=2)
    assert bracket(alone, {2: 3_000, 3: 10_000}) == (0, 7_000)


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
