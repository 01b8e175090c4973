"""How often jobs come: timetables, one after the other, by chance, by hours and weekdays."""

from __future__ import annotations

import numpy as np
import pytest

from tests.inferring.synthetic_logs import HOUR_MS, MONDAY_MS, Workers, commits_at, commits_of
from whitecap.sim.inferring.cadence import Cadence, cadence_of, most_in_flight, regular_period
from whitecap.sim.inferring.durations.windows import TransactionWindow, window_of
from whitecap.sim.inferring.log.observed import ObservedCommit
from whitecap.sim.inferring.profiles import profile_of
from whitecap.sim.scenario.arrivals import Arrival
from whitecap.sim.scenario.yaml.text import YamlText

DAY_MS = 24 * HOUR_MS


def _arrival(text: str) -> Arrival:
    return Arrival.model_validate(YamlText(text, "arrival").content)


def _window(commits: list[ObservedCommit]) -> TransactionWindow:
    return window_of(commits, {})


def _by_chance(rate_per_h: float, hours: float, seed: int) -> list[float]:
    draws = np.random.default_rng(seed)
    return sorted(MONDAY_MS + draws.uniform(0, hours * HOUR_MS, int(rate_per_h * hours)))


def _is_busy(instant: float) -> bool:
    return 8 <= (instant // HOUR_MS) % 24 < 18


def test_a_timetable_is_found_with_its_offset_though_jobs_are_late_and_some_missing() -> None:
    draws = np.random.default_rng(3)
    due = [MONDAY_MS + 5 * 60_000 + n * HOUR_MS for n in range(40) if n not in (7, 20, 21)]
    instants = [at + draws.uniform(0, 120_000) + 30_000 for at in due]
    commits = commits_at(instants, metrics={"executionTimeMs": 30_000.0})
    cadence = cadence_of(commits, _window(commits), 40 * HOUR_MS, is_stream=False)
    schedule = _arrival(cadence.arrival(MONDAY_MS)).schedule
    assert schedule is not None
    assert schedule.every == HOUR_MS
    assert schedule.offset == pytest.approx(5 * 60_000, abs=30_000)
    assert schedule.jitter is not None
    assert "3 of these instants have no commit" in cadence.evidence[0].because
    later = _arrival(cadence.arrival(MONDAY_MS + 20 * 60_000)).schedule
    assert later is not None
    assert later.offset == pytest.approx(45 * 60_000, abs=30_000)


def test_jobs_by_chance_have_no_timetable() -> None:
    for seed in range(60):
        instants = _by_chance(1.0, 20, seed)
        assert regular_period(instants, 20 * HOUR_MS) is None


def test_jobs_by_chance_are_open_with_the_rate_at_which_they_came() -> None:
    commits = commits_at(_by_chance(30, 10, seed=1))
    cadence = cadence_of(commits, _window(commits), 10 * HOUR_MS, is_stream=False)
    arrival = _arrival(cadence.arrival(MONDAY_MS)).open
    assert arrival is not None
    assert arrival.rate * HOUR_MS == pytest.approx(30, rel=0.01)
    assert arrival.concurrency == 1
    assert "300 commits" in cadence.evidence[0].because


def test_even_gaps_without_a_timetable_are_one_job_after_the_other() -> None:
    draws = np.random.default_rng(5)
    instants = MONDAY_MS + np.cumsum(draws.uniform(80_000, 120_000, 50))
    commits = commits_at(instants, metrics={"executionTimeMs": 40_000.0})
    span_ms = float(instants[-1] - instants[0]) * 50 / 49
    cadence = cadence_of(commits, _window(commits), span_ms, is_stream=False)
    closed = _arrival(cadence.arrival(MONDAY_MS)).closed
    assert closed is not None
    assert closed.think.mean_ms() == pytest.approx(60_000, rel=0.1)


def test_versions_read_tell_how_many_ran_at_one_time() -> None:
    reads = [(1, 0), (2, 0), (3, 0), (4, 3), (5, 3)]
    commits = [ObservedCommit(v, v, "UPDATE", read_version=r) for v, r in reads]
    assert most_in_flight(commits) == 3
    assert most_in_flight(commits[3:]) == 2
    assert most_in_flight([*commits, ObservedCommit(6, 6, "UPDATE")]) is None


def test_a_busy_day_becomes_hours_and_a_quiet_weekend_weekdays() -> None:
    draws = np.random.default_rng(11)
    instants = [
        at
        for at in _by_chance(20, 28 * 24, seed=2)
        if draws.random()
        < (1.0 if _is_busy(at) else 0.1) * (0.2 if at // DAY_MS % 7 in (2, 3) else 1)
    ]
    profile = profile_of(instants)
    assert profile is not None
    parsed = _arrival(f"{{open: {{rate: 1 per h, profile: {profile.figure.text}}}}}").open
    assert parsed is not None
    assert parsed.profile is not None
    factors = np.array(parsed.profile.factors()).reshape(7, 24)
    assert factors[0, 8:18].mean() / factors[0, :8].mean() == pytest.approx(10, rel=0.25)
    assert factors[5].mean() / factors[1].mean() == pytest.approx(0.2, rel=0.4)
    assert len(parsed.profile.hours) <= 5


def test_commits_that_come_evenly_have_no_profile() -> None:
    with_profile = sum(profile_of(_by_chance(10, 21 * 24, seed)) is not None for seed in range(40))
    assert with_profile <= 3  # two tests at 1 % each


def test_a_group_that_came_late_has_the_rate_of_its_own_time() -> None:
    commits = commits_at(_by_chance(12, 10, seed=4))
    cadence = cadence_of(commits, _window(commits), 100 * HOUR_MS, is_stream=False)
    assert cadence.rate * HOUR_MS == pytest.approx(12, rel=0.1)
    assert "in which it was there" in cadence.evidence[0].because


@pytest.mark.parametrize(
    ("from_hour", "hours"),
    [(0, 72), (8, 58), (8, 106), (18, 62)],
    ids=["whole days", "Mon 8:00 to Wed 18:00", "Mon 8:00 to Fri 18:00", "Mon 18:00 to Thu 8:00"],
)
def test_busy_hours_have_their_rate_though_the_log_begins_and_ends_within_a_day(
    from_hour: int, hours: int
) -> None:
    busy, quiet = 30.0, 3.0
    drafted = [_hourly_rates(from_hour, hours, busy, quiet, seed) for seed in range(20)]
    means = np.mean(drafted, axis=0)
    assert means[8:18].mean() == pytest.approx(busy, rel=0.04)
    assert means[:7].mean() == pytest.approx(quiet, rel=0.1)


def _hourly_rates(from_hour: int, hours: int, busy: float, quiet: float, seed: int) -> list[float]:
    """The rates that a draft has on a Monday, of a log that begins then and is so long."""
    draws = np.random.default_rng(seed)
    begins = [MONDAY_MS + hour * HOUR_MS for hour in range(from_hour, from_hour + hours)]
    instants = sorted(
        begin + at * HOUR_MS
        for begin in begins
        for at in draws.random(draws.poisson(busy if _is_busy(begin) else quiet))
    )
    commits = commits_at(instants, metrics={"executionTimeMs": 1.0})
    cadence = cadence_of(commits, _window(commits), hours * HOUR_MS, is_stream=False)
    arrival = _arrival(cadence.arrival(MONDAY_MS)).open
    assert arrival is not None
    assert arrival.profile is not None
    assert "of a week's mean" in cadence.evidence[0].because
    return [arrival.rate * HOUR_MS * factor for factor in arrival.profile.factors()[:24]]


@pytest.mark.parametrize(("writers", "sigma"), [(1, 0.6), (4, 0.3)])
def test_writers_that_begin_a_job_when_one_has_ended_have_no_queue_to_wait_in(
    writers: int, sigma: float
) -> None:
    cadence = _of_workers(Workers("pausing", writers, 2_000, 30_000, sigma))
    arrival = _arrival(cadence.arrival(MONDAY_MS))
    assert arrival.closed is not None, cadence.otherwise
    assert arrival.closed.think.mean_ms() == pytest.approx(2_000, abs=1_500)
    assert "% of their time" in cadence.evidence[0].because
    assert cadence.count.text == str(writers)


def test_writers_that_are_idle_for_half_of_their_time_take_jobs_from_a_queue() -> None:
    cadence = _of_workers(Workers("queue", 4, 60_000, 30_000, 0.3))
    assert _arrival(cadence.arrival(MONDAY_MS)).open is not None


def _of_workers(workers: Workers) -> Cadence:
    """The cadence of these, beside others that commit each four seconds."""
    span_ms = 3 * HOUR_MS
    commits, instants = commits_of(workers, span_ms, others_every_ms=4_000, seed=3)
    window = window_of(commits, instants)
    return cadence_of(commits, window, span_ms, is_stream=False)


def test_of_a_pause_goes_off_what_a_run_spends_outside_of_windows() -> None:
    cadence = _of_workers(Workers("pausing", 1, 3_000, 30_000, 0.3))
    assert cadence.pause_ms is not None
    shorter = cadence.without(1_000)
    assert shorter.pause_ms == pytest.approx(cadence.pause_ms - 1_000)
    assert "less 1000 ms that a run spends between windows" in shorter.evidence[0].because
    assert _arrival(cadence.without(1e9).arrival(MONDAY_MS)).closed is not None
