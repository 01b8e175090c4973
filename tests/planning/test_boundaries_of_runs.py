"""A plan's interval holds the boundary that running everything tells, on a real scenario."""

from __future__ import annotations

import pytest

from benchmarks.planning import Pool, coverage, pool_of
from whitecap.sim.machine.processes import Processes


@pytest.fixture(scope="module")
def pool() -> Pool:
    """Every count twenty times: two plans of ten replications."""
    with Processes(1) as processes:
        return pool_of(processes, 20)


@pytest.mark.parametrize("threshold", ["90 %", "78 %"])
def test_the_interval_holds_the_boundary_that_brute_force_knows(pool: Pool, threshold: str) -> None:
    covered = coverage(pool, threshold, plans=2, most=10)
    assert covered.held == 2
    assert covered.at.point > covered.beyond.point
    assert covered.width < 4, "an interval that says nothing holds anything"
