"""Windows between versions that are partly the writers' own: no bias, and intervals that hold."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Literal

import numpy as np
import pytest
from scipy.stats import binom

import whitecap
from tests.inferring.synthetic_logs import HOUR_MS, Workers, commits_of
from whitecap.sim.inferring.durations.brackets import Brackets, Fit, bracket, fitted_to
from whitecap.sim.inferring.durations.windows import window_of
from whitecap.sim.inferring.log.observed import ObservedCommit, observe

LOGS = 60
"""Of each group: 95 % of them are 53 to 60 with 95 %."""

BIAS = 0.03
"""Four standard errors of the mean of so many locations, of which each is off by some 5 %."""

UNLIKELY = 0.0005
"""An interval that holds covers fewer of the truths by chance in so many tries."""

NEVER_MS = 1e15

GROUPS = {
    "one that pauses for as long as it works": (Workers("pausing", 1, 20e3, 20e3, 0.4), 15e3),
    "one that hardly pauses": (Workers("pausing", 1, 5e3, 20e3, 0.4), 15e3),
    "one with a queue": (Workers("queue", 1, 50e3, 20e3, 0.4), 15e3),
    "one by a timetable": (Workers("timetable", 1, 60e3, 40e3, 0.4), 15e3),
    "two that pause among others": (Workers("pausing", 2, 60e3, 30e3, 0.5), 20e3),
    "two with queues among others": (Workers("queue", 2, 60e3, 12e3, 0.4), 15e3),
    "four alone": (Workers("pausing", 4, 120e3, 60e3, 0.4), NEVER_MS),
    "four alone that hardly pause": (Workers("pausing", 4, 60e3, 80e3, 0.4), NEVER_MS),
    "any number alone": (Workers("never waits", 1, 25e3, 40e3, 0.4), NEVER_MS),
}
"""Writers, and the mean gap between the commits of others."""


@pytest.mark.parametrize("name", GROUPS)
def test_medians_have_no_bias_and_their_intervals_cover_the_truth(name: str) -> None:
    workers, others_every_ms = GROUPS[name]
    logs = (commits_of(workers, 1.5 * HOUR_MS, others_every_ms, seed) for seed in range(LOGS))
    fits = [fitted_to(Brackets.of(*log)) for log in logs]
    truth = math.log(workers.median_ms)
    assert abs(np.mean([fit.location for fit in fits]) - truth) <= BIAS
    assert np.mean([fit.sigma for fit in fits]) == pytest.approx(workers.sigma, rel=0.05)
    assert _covering(fits, truth) >= binom.ppf(UNLIKELY, LOGS, 0.95)


def _covering(fits: list[Fit], truth: float) -> int:
    return sum(fit.low <= truth <= fit.high for fit in fits)


@pytest.mark.parametrize("way", ["pausing", "never waits"])
def test_busy_days_and_quiet_nights_do_not_look_like_jobs_that_wait(
    way: Literal["pausing", "never waits"],
) -> None:
    workers = Workers(way, 4, 20 * 60e3, 5 * 60e3, 0.4)
    fits = [fitted_to(Brackets.of(*_daily(workers, seed))) for seed in range(10)]
    bias = np.mean([fit.location for fit in fits]) - math.log(workers.median_ms)
    assert abs(bias) <= 2 * BIAS


def test_a_draft_says_where_overlapping_jobs_come_unevenly() -> None:
    workers = Workers("pausing", 4, 20 * 60e3, 5 * 60e3, 0.4)
    daily = window_of(*_daily(workers, 1)).figure.because
    assert "perhaps a tenth too short, since jobs overlap and come unevenly" in daily
    steady = commits_of(workers, 40 * HOUR_MS, NEVER_MS, 1)
    assert "too short" not in window_of(*steady).figure.because


def _daily(workers: Workers, seed: int) -> tuple[list[ObservedCommit], dict[int, int]]:
    """Of four days, ten hours each."""
    commits: list[ObservedCommit] = []
    instants = {0: 0}
    for day in range(4):
        before, of_day = len(commits), commits_of(workers, 10 * HOUR_MS, NEVER_MS, 4 * seed + day)
        begun_ms = day * 24 * HOUR_MS
        instants |= {v + before: at + begun_ms for v, at in of_day[1].items() if v > 0}
        commits += [
            ObservedCommit(
                commit.version + before,
                commit.timestamp_ms + begun_ms,
                commit.operation,
                read_version=(commit.read_version or 0) + before,
            )
            for commit in of_day[0]
        ]
    return commits, instants


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_jobs_that_refuse_each_other_show_the_windows_of_those_that_committed(
    seed: int, tmp_path: Path
) -> None:
    changes = {
        "duration": "12 h",
        "table.values.date.days": 7,
        "writers.etl.count": 4,
        "writers.etl.arrival": {"closed": {"think": {"exponential": {"mean": "4 min"}}}},
        "writers.etl.compute": {"lognormal": {"median": "90 s", "sigma": 0.4}},
    }
    run = whitecap.run("scenarios/capacity.yaml", seed=seed, changes=changes)
    run.export(tmp_path / "events", data=False)
    committed = run.transactions.query("outcome == 'committed'")
    windows = committed["commit_started_at_ms"] - committed["snapshot_at_ms"]
    commits = observe(str(tmp_path / "events"), 5000).commits
    instants = {commit.version: commit.timestamp_ms for commit in commits}
    updates = [commit for commit in commits if commit.operation == "UPDATE"]
    fit = fitted_to(Brackets.of(updates, instants))
    assert fit.low <= math.log(windows.median()) <= fit.high


def test_a_bracket_lies_between_the_version_that_was_read_and_the_next_one() -> None:
    commit = ObservedCommit(5, 10_000, "UPDATE", read_version=2)
    assert bracket(commit, {2: 3_000, 3: 4_500, 4: 9_000, 5: 10_000}) == (5_500, 7_000)
    assert bracket(commit, {3: 4_500}) is None
    alone = ObservedCommit(3, 10_000, "UPDATE", read_version=2)
    assert bracket(alone, {2: 3_000, 3: 10_000}) == (0, 7_000)


def test_of_one_writer_the_last_version_of_others_is_an_end_and_not_its_own() -> None:
    instants = {0: 0, 1: 1_000, 2: 5_000, 3: 8_000, 4: 9_000}
    own = [ObservedCommit(v, instants[v], "UPDATE", read_version=v - 2) for v in (2, 4)]
    brackets = Brackets.of(own, instants)
    assert brackets.low.tolist() == [4_000, 1_000]
    assert brackets.high.tolist() == [5_000, 8_000]


def test_clocks_that_went_backwards_leave_a_bracket() -> None:
    commit = ObservedCommit(3, 10_000, "UPDATE", read_version=1)
    assert bracket(commit, {1: 6_000, 2: 5_000, 3: 10_000}) == (4_000, 5_000)
    assert bracket(commit, {1: 6_000, 2: 6_000, 3: 10_000}) == (4_000, 4_001)
