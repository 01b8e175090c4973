"""Slots and computing power that writers share: queueing theory, and what a run makes of it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from tests.sim.sim_worlds import document, rows
from whitecap.engine.errors import InvalidInput
from whitecap.sim.loading import scenario_of
from whitecap.sim.quantities.distributions import Distribution
from whitecap.sim.run import FinishedRun, run_scenario
from whitecap.sim.spark.sharing import Processor, Slots
from whitecap.sim.time.kernel import Clock, Kernel, Waiting
from whitecap.sim.time.random_streams import RandomStreams

JOBS = 16_000
TAKES: dict[str, Any] = {
    "constant": "1 s",
    "exponential": {"exponential": {"mean": "1 s"}},
    "two kinds": {
        "mixture": [{"share": 0.8, "of": "500 ms"}, {"share": 0.2, "of": "3 s"}],
    },
}


def _draws(of: Any, entity: str) -> list[float]:
    ranks = RandomStreams(3).source("test", entity).uniforms(range(JOBS), [0])
    drawn: list[float] = Distribution.model_validate(of).quantile(ranks)[:, 0].tolist()
    return drawn


def _in_system(use: Any, rate_per_s: float, takes: Any) -> np.ndarray[Any, Any]:
    """How long jobs of a Poisson process stay; `use(kernel)` makes what a job does."""
    kernel = Kernel()
    arrivals = np.cumsum(_draws({"exponential": {"mean": f"{1000 / rate_per_s} ms"}}, "gaps"))
    stays = np.zeros(JOBS)
    serve = use(kernel)

    def job(number: int, work_ms: float) -> Waiting[None]:
        clock = Clock(kernel, number)
        clock.now_ms = float(arrivals[number])
        yield from serve(clock, work_ms)
        stays[number] = clock.now_ms - arrivals[number]

    for number, work_ms in enumerate(_draws(takes, "work")):
        kernel.start(job(number, work_ms))
    kernel.run_until(math.inf)
    return stays


def _slots(count: int) -> Any:
    def made(_: Kernel) -> Any:
        slots = Slots(count)

        def serve(clock: Clock, work_ms: float) -> Waiting[None]:
            yield from slots.acquire(clock)
            clock.now_ms += work_ms
            yield from slots.release(clock)

        return serve

    return made


def _processor(full_speed: int) -> Any:
    return lambda kernel: Processor(kernel, full_speed).compute


def _waits(count: int, load: float) -> float:
    """Erlang's C: the probability that a job of M/M/c waits."""
    terms = [load**n / math.factorial(n) for n in range(count)]
    last = load**count / math.factorial(count) * count / (count - load)
    return last / (sum(terms) + last)


def test_one_slot_and_constant_jobs_are_an_m_d_1_queue() -> None:
    stays = _in_system(_slots(1), 0.7, TAKES["constant"])
    assert stays.mean() == pytest.approx(1000 * (1 + 0.7 / (2 * 0.3)), rel=0.04)


def test_one_slot_and_any_jobs_are_pollaczek_and_khinchins_queue() -> None:
    stays = _in_system(_slots(1), 0.7, TAKES["two kinds"])
    second_moment = 0.8 * 0.5**2 + 0.2 * 3**2
    assert stays.mean() == pytest.approx(1000 * (1 + 0.7 * second_moment / (2 * 0.3)), rel=0.06)


@pytest.mark.parametrize("count", [2, 5])
def test_several_slots_and_exponential_jobs_are_an_m_m_c_queue(count: int) -> None:
    load = 0.8 * count
    stays = _in_system(_slots(count), load, TAKES["exponential"])
    assert stays.mean() == pytest.approx(
        1000 * (1 + _waits(count, load) / (count - load)), rel=0.05
    )


@pytest.mark.parametrize("takes", list(TAKES))
def test_a_shared_speed_makes_every_job_as_much_longer_whatever_jobs_there_are(takes: str) -> None:
    """M/G/1 with processor sharing: a job of length x stays x / (1 - rho) on average."""
    stays = _in_system(_processor(1), 0.6, TAKES[takes])
    works = np.array(_draws(TAKES[takes], "work"))
    assert stays.mean() == pytest.approx(1000 / 0.4, rel=0.05)
    longer = works > np.median(works)
    if longer.any():
        assert stays[longer].mean() == pytest.approx(works[longer].mean() / 0.4, rel=0.06)


def test_a_speed_shared_beyond_several_jobs_is_as_in_m_m_c_on_average() -> None:
    """With exponential jobs, who is served next decides nothing about how many there are."""
    stays = _in_system(_processor(3), 2.4, TAKES["exponential"])
    assert stays.mean() == pytest.approx(1000 * (1 + _waits(3, 2.4) / (3 - 2.4)), rel=0.05)


def test_who_goes_without_leaves_the_rest_to_the_others() -> None:
    kernel, slots = Kernel(), Slots(1)
    processor = Processor(kernel, 1)
    done: dict[str, float | tuple[float, bool]] = {}

    def computes(name: str, work_ms: float, until_ms: float = math.inf) -> Waiting[None]:
        clock = Clock(kernel, len(done))
        yield from processor.compute(clock, work_ms, until_ms)
        done[name] = clock.now_ms

    def holds(name: str, until_ms: float) -> Waiting[None]:
        clock = Clock(kernel, len(done))
        taken = yield from slots.acquire(clock, until_ms)
        done[name] = (clock.now_ms, taken)
        if taken:
            clock.now_ms += 100
            yield from slots.release(clock)

    kernel.start(computes("long", 100))
    kernel.start(computes("cut", 500, until_ms=60))
    for name, until_ms in (("first", math.inf), ("impatient", 50), ("second", math.inf)):
        kernel.start(holds(name, until_ms))
    kernel.run_until(math.inf)
    assert done["cut"] == 60
    assert done["long"] == 130  # half speed for 60 ms, then alone
    assert (done["first"], done["impatient"], done["second"]) == (
        (0, True),
        (50, False),
        (100, True),
    )


APPEND = "INSERT INTO events VALUES (1, DATE'2026-01-14', 'DE', 1.0)"


def _played(cluster: dict[str, Any], duration: str = "60 min", **writer: Any) -> FinishedRun:
    writers = {
        name: {
            "statement": APPEND,
            "cluster": "etl",
            "arrival": {"open": {"rate": "2 per min"}},
            "compute": {"exponential": {"mean": "10 s"}},
            **writer,
        }
        for name in ("one", "other")
    }
    given = document(store="instant", writers=writers, clusters={"etl": cluster}, duration=duration)
    return run_scenario(scenario_of(given))


def test_jobs_of_a_cluster_begin_in_their_turn() -> None:
    """Lindley's recursion: a job begins when it is due, or when the one before has ended."""
    ended = [row for row in rows(_played({"slots": 1})) if row["ended_at_ms"] is not None]
    free_ms = 0.0
    for row in ended:
        began_ms = max(row["submitted_at_ms"], free_ms)
        free_ms = began_ms + row["compute_ms"]
        assert row["snapshot_at_ms"] == pytest.approx(began_ms)
        assert row["ended_at_ms"] == pytest.approx(free_ms)
    assert any(row["snapshot_at_ms"] > row["submitted_at_ms"] for row in ended)


def test_jobs_that_wait_for_a_slot_when_the_run_ends_have_not_begun() -> None:
    run = _played({"slots": 1}, compute="5 min", duration="20 min")
    waiting = [row for row in rows(run) if row["snapshot_at_ms"] is None]
    assert len(waiting) > 20
    assert sum(row["jobs_not_begun"] for row in rows(run, "writers")) == len(waiting)


def test_reruns_that_get_no_slot_say_what_they_would_have_done() -> None:
    update: dict[str, Any] = {"statement": "UPDATE events SET amount = 0.5", "count": 3}
    arrival = {"closed": {"think": "1 s"}}
    run = _played(
        {"slots": 2}, **update, arrival=arrival, deadline="40 s", rerun={"fixed": {"wait": "1 s"}}
    )
    waited = [r for r in rows(run) if r["rerun_number"] and r["snapshot_at_ms"] is None]
    assert len(waited) > 5
    assert {row["statement"] for row in waited} == {update["statement"]}


def test_a_shared_speed_lengthens_what_runs_and_not_what_it_costs() -> None:
    alone, shared = _played({"full_speed": 1000}), _played({"full_speed": 1})
    both = list(zip(rows(alone), rows(shared), strict=False))
    both = [pair for pair in both if pair[1]["ended_at_ms"] is not None]
    assert all(single["compute_ms"] == crowded["compute_ms"] for single, crowded in both)
    longer = [crowded["ended_at_ms"] - single["ended_at_ms"] for single, crowded in both]
    assert min(longer) == pytest.approx(0, abs=1e-6)
    assert np.mean(longer) > 1_000


@pytest.mark.parametrize(
    ("cluster", "expected"),
    [
        ({}, "says nothing: give slots, full_speed or load"),
        ({"slots": 0}, "must be at least 1"),
        ({"full_speed": 0.5}, "needs a whole number"),
        ({"load": {"cv": 0, "lasts": "1 min"}}, "must be more than 0"),
        ({"load": {"cv": 1, "lasts": "5 ms"}}, "is shorter than a second"),
        ({"cores": 1}, "unknown key"),
    ],
)
def test_a_cluster_that_cannot_be_meant_is_refused(cluster: Any, expected: str) -> None:
    with pytest.raises(InvalidInput, match=expected):
        _played(cluster)


def test_a_cluster_on_which_nobody_runs_is_refused() -> None:
    writer = {"statement": APPEND, "arrival": "closed", "cluster": "etl", "compute": "1 s"}
    given = document(writers={"w": writer}, clusters={"elt": {"slots": 1}})
    with pytest.raises(InvalidInput) as raised:
        scenario_of(given)
    (problem,) = raised.value.problems
    assert "clusters.elt" in problem.place
    assert "no writer runs on it" in problem.text
    assert problem.nearest == "etl"
