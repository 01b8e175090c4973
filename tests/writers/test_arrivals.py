"""Jobs fall due as the scenario says: by hour and weekday, in bursts and batches, with jitter."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise, takewhile
from typing import Any

import numpy as np
import pytest

from tests.sim.sim_worlds import UPDATE, document
from whitecap.engine.errors import InvalidInput
from whitecap.sim.loading import parse_scenario, scenario_of
from whitecap.sim.run import run_scenario
from whitecap.sim.scenario.arrivals import Profile
from whitecap.sim.scenario.model import Scenario
from whitecap.sim.scenario.yaml.text import show_document
from whitecap.sim.time.random_streams import RandomStreams
from whitecap.sim.world import SimulatedWorld
from whitecap.sim.writers.instants import HOUR_MS

WEEK_MS = 7 * 24 * HOUR_MS
APPEND: dict[str, Any] = {"statement": "INSERT INTO events VALUES (1, DATE'2026-01-14', 'DE', 1.0)"}
DAY_SHIFT = {"hours": {"8-18": 4, "22-6": 0}, "weekdays": {"Sat": 0.5, "Sun": 0}}


def scenario(arrival: dict[str, Any], duration: str = "28 d", **parts: Any) -> Scenario:
    """A writer with that arrival; simulated time begins on a Monday at midnight."""
    writers = {"w": {**APPEND, "arrival": arrival, **parts}}
    start = "2026-01-12 00:00:00"
    return scenario_of(document(start=start, duration=duration, store="instant", writers=writers))


def due(arrival: dict[str, Any], duration: str = "28 d", replication: int = 0) -> list[float]:
    """The instants at which the jobs of one writer fall due within the run."""
    made = scenario(arrival, duration)
    (writer,) = SimulatedWorld.of(made, RandomStreams(1, replication)).writers
    return list(takewhile(lambda instant_ms: instant_ms < made.duration, writer.instants(0)))


def opened(replication: int = 0, **more: Any) -> list[float]:
    return due({"open": {"rate": "60 per h", **more}}, replication=replication)


def test_a_run_begins_jobs_when_they_are_due() -> None:
    arrival = {"open": {"rate": "60 per h", "profile": DAY_SHIFT, "batch": 2}}
    run = run_scenario(scenario(arrival, "12 h"))
    assert run.recording.transactions["submitted_at_ms"].to_pylist() == due(arrival, "12 h")


def test_the_rate_is_the_mean_over_a_week() -> None:
    """Four weeks of 60 per hour: 40,320 jobs, give or take 200."""
    for more in ({}, {"profile": DAY_SHIFT}, {"batch": 4}):
        assert len(opened(**more)) == pytest.approx(40_320, abs=4 * 200 * 2)


def test_an_hour_has_its_share_of_the_weeks_jobs() -> None:
    expected = 4 * 60 * np.array(Profile.model_validate(DAY_SHIFT).factors())
    hours = np.array(opened(profile=DAY_SHIFT)) % WEEK_MS // HOUR_MS
    counted = Counter(hours.astype(int).tolist())
    observed = np.array([counted[hour] for hour in range(168)])
    assert expected[9] == 4 * expected[19] == 2 * expected[5 * 24 + 9]
    assert observed[expected == 0].sum() == 0
    busy = expected > 0
    chi_square = ((observed[busy] - expected[busy]) ** 2 / expected[busy]).sum()
    assert chi_square < busy.sum() + 4 * (2 * busy.sum()) ** 0.5


def test_a_profile_moves_jobs_and_draws_none_anew() -> None:
    """In the time that passes as the rate does, the same job comes at the same instant."""
    even, busy = opened(), opened(profile=DAY_SHIFT)
    factors = Profile.model_validate(DAY_SHIFT).factors()
    passed = np.concatenate([[0], np.cumsum(factors * 4)]) * HOUR_MS
    own = np.interp(busy[:40_000], np.arange(len(passed)) * HOUR_MS, passed)
    assert own == pytest.approx(even[:40_000], abs=1)


def test_a_burst_has_its_share_of_the_jobs() -> None:
    """A tenth of the time at nine times the rate between: the counts are overdispersed.

    The dispersion of counts over long stretches of a Markov-modulated Poisson process with two
    states is 1 + 2 p (1 - p) (b - q)^2 / ((x + y) m), of shares p and 1 - p, rates b and q with the
    mean m, and x and y the rates at which the states are left (Fischer and Meier-Hellstern, 1993).
    """
    bursts = {"every": "10 min", "lasts": "1 min", "times": 9}
    counts = np.concatenate(
        [np.histogram(opened(n, bursts=bursts), 112, (0, 28 * 24 * HOUR_MS))[0] for n in range(10)]
    )
    share, mean = 0.1, 1.0
    quiet = mean / (1 - share + share * 9)
    leaving = 1 / 1.0 + 1 / 9.0
    expected = 1 + 2 * share * (1 - share) * (8 * quiet) ** 2 / (leaving * mean)
    assert counts.mean() == pytest.approx(360, rel=0.03)
    assert counts.var() / counts.mean() == pytest.approx(expected, rel=0.15)
    even = np.histogram(opened(), 112, (0, 28 * 24 * HOUR_MS))[0]
    assert even.var() / even.mean() < 1.5 < expected


def test_writers_of_a_group_have_their_bursts_together() -> None:
    bursts = {"every": "4 h", "lasts": "10 min", "times": 500}
    made = scenario({"open": {"rate": "60 per h", "bursts": bursts}}, count=2)
    first, second = (
        np.histogram(list(takewhile(lambda t: t < 28 * 24 * HOUR_MS, writer.instants(0))), 672)[0]
        for writer in SimulatedWorld.of(made, RandomStreams(1)).writers
    )
    assert np.corrcoef(first, second)[0, 1] > 0.7


def test_a_batch_arrives_at_one_instant() -> None:
    instants = opened(batch=3)
    assert instants[0] == instants[1] == instants[2] < instants[3]
    gaps = np.diff(instants[::3])
    assert gaps.mean() == pytest.approx(3 * 60_000, rel=0.05)
    assert gaps.std() == pytest.approx(gaps.mean(), rel=0.05)


def _schedule(**options: Any) -> list[float]:
    return due({"schedule": {"every": "6 h", **options}})


def test_a_schedule_keeps_to_its_weekdays() -> None:
    instants = _schedule(offset="2 h", weekdays=["Tue", "Sat"])
    assert len(instants) == 4 * 2 * 4
    assert {int(instant_ms % WEEK_MS // (24 * HOUR_MS)) for instant_ms in instants} == {1, 5}
    assert instants[0] == 26 * HOUR_MS


def test_a_schedule_whose_days_never_come_is_silent() -> None:
    assert due({"schedule": {"every": "7 d", "weekdays": ["Tue"]}}) == []
    assert due({"schedule": {"at": ["1 h", "30 h"], "weekdays": ["Tue"]}}) == [30 * HOUR_MS]


def test_jitter_makes_each_job_later_by_its_own_draw() -> None:
    planned = _schedule()
    late = _schedule(jitter={"exponential": {"mean": "2 min"}})
    delays = np.array(late) - planned
    assert len(set(delays)) == len(planned) == 112
    assert delays.min() >= 0
    assert delays.mean() == pytest.approx(120_000, rel=0.3)


def test_no_job_overtakes_the_one_before() -> None:
    instants = due({"schedule": {"every": "1 min", "jitter": {"exponential": {"mean": "1 h"}}}})
    assert len(instants) > 1000
    assert all(earlier <= later for earlier, later in pairwise(instants))


def _problems(**arrival: Any) -> Iterator[str]:
    with pytest.raises(InvalidInput) as raised:
        scenario(arrival)
    return map(str, raised.value.problems)


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({"profile": {"hours": {"8": 1}}}, "'8' is no span of hours: write for instance '8-18'"),
        ({"profile": {"hours": {"8-25": 1}}}, "'8-25' is no span of hours"),
        ({"profile": {"hours": {"8-18": 1, "17-19": 2}}}, "an hour is in two spans"),
        ({"profile": {"hours": {"0-24": 0}}}, "nothing would ever arrive"),
        ({"profile": {"hours": {"8-18": -1}}}, "the weight of 8-18 is not between 0 and"),
        ({"profile": {"weekdays": {"Monday": 1}}}, "'Monday' is none of Mon, Tue, Wed"),
        ({"bursts": {"every": "1 h", "lasts": "1 h", "times": 2}}, "lasts is not shorter than"),
        ({"bursts": {"every": "1 ms", "lasts": "0 s", "times": 2}}, "at most once a second"),
        ({"bursts": {"every": "1 h", "lasts": "1 min", "times": 0.5}}, "must be at least 1"),
        ({"batch": 0}, "must be at least 1"),
    ],
)
def test_what_cannot_be_meant_is_refused(more: dict[str, Any], expected: str) -> None:
    assert any(expected in text for text in _problems(open={"rate": "1 per min", **more}))


def test_days_that_do_not_exist_are_refused() -> None:
    problems = list(_problems(schedule={"every": "1 h", "weekdays": ["Mo"]}))
    assert any("'Mo' is none of Mon, Tue" in text for text in problems)


@pytest.mark.parametrize("start", ["2026-01-12T02:00:00+02:00", "2026-01-11 19:00:00 -05:00"])
def test_a_start_of_another_zone_is_refused_since_hours_and_weekdays_are_those_of_utc(
    start: str,
) -> None:
    text = show_document(document(duration="1 h", writers={"w": UPDATE}))
    with pytest.raises(InvalidInput) as raised:
        parse_scenario(f"{text}start: {start}\n", "x.yaml")
    (problem,) = raised.value.problems
    assert "start: has an offset from UTC, by which hours and weekdays go here" in str(problem)
    assert str(problem).endswith("write 2026-01-12 00:00:00")


@pytest.mark.parametrize("start", ["2026-01-12T00:00:00Z", "2026-01-12 00:00:00+00:00"])
def test_a_start_may_say_that_it_is_in_utc(start: str) -> None:
    at_once = {"w": {**APPEND, "arrival": {"schedule": {"every": "1 h"}}}}
    given = scenario_of(document(start=start, duration="1 h", store="instant", writers=at_once))
    assert given.start_ms == scenario({"schedule": {"every": "1 h"}}).start_ms
