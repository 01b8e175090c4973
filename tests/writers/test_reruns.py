"""Waits before reruns: how they grow, how they are spread, and when the job is given up."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from whitecap.sim.scenario.writers import Rerun
from whitecap.sim.time.random_streams import RandomStreams
from whitecap.sim.writers.rerun import JobReruns, policy_of


def _waits(policy: Any, draw: float | None = None, count: int = 6) -> list[float | None]:
    source = RandomStreams(1).source("rerun", "x")
    uniform = partial(source.uniform, 0) if draw is None else lambda _: draw
    reruns = JobReruns(policy_of(Rerun.model_validate(policy)), uniform)
    return [reruns.next_wait_ms(number, is_unknown=False) for number in range(1, count + 1)]


def _exponential(jitter: str, **more: Any) -> dict[str, Any]:
    return {"exponential": {"base": "1 s", "cap": "6 s", "jitter": jitter, **more}}


def test_without_a_policy_the_job_is_given_up_at_once() -> None:
    assert _waits("none") == [None] * 6


def test_a_fixed_wait_is_the_same_until_the_budget_is_spent() -> None:
    assert _waits({"fixed": {"wait": "2 s", "budget": 3}}) == [2000] * 3 + [None] * 3


def test_an_exponential_wait_doubles_up_to_its_cap() -> None:
    assert _waits(_exponential("none")) == [1000, 2000, 4000, 6000, 6000, 6000]


@pytest.mark.parametrize(
    ("jitter", "lowest", "highest"),
    [
        ("full", [0, 0, 0, 0], [1000, 2000, 4000, 6000]),
        ("equal", [500, 1000, 2000, 3000], [1000, 2000, 4000, 6000]),
        ("decorrelated", [1000, 1000, 1000, 1000], [3000, 6000, 6000, 6000]),
    ],
)
def test_jitter_spreads_the_wait_over_its_range(
    jitter: str, lowest: list[float], highest: list[float]
) -> None:
    assert _waits(_exponential(jitter), 0.0, 4) == pytest.approx(lowest)
    assert _waits(_exponential(jitter), 1.0, 4) == pytest.approx(highest)


def test_the_budget_counts_reruns_not_transactions() -> None:
    assert _waits(_exponential("full", budget=2), 0.5)[1:3] == [1000, None]
