"""A commit that the local disk loses: the run does not count, and is begun again."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from whitecap.engine.errors import InvariantViolated
from whitecap.sim.freerun.driving import CommitLost
from whitecap.sim.freerun.free_run import MOST_AGAIN, warm_up_by, with_a_whole_log
from whitecap.sim.freerun.statements import ObservedRun

WHOLE = ObservedRun("2026-01-01T00:00:00.000", 0, [])


def _losing(times: int, error: Exception) -> Callable[[], ObservedRun]:
    left = iter([error] * times)

    def run() -> ObservedRun:
        for lost in left:
            raise lost
        return WHOLE

    return run


@pytest.mark.parametrize("times", range(MOST_AGAIN + 1))
def test_a_run_that_lost_a_commit_is_begun_again(times: int) -> None:
    assert with_a_whole_log(_losing(times, CommitLost("lost"))) == (WHOLE, times)


def test_a_commit_that_is_lost_before_anything_counts_is_no_loss() -> None:
    warm_up_by(_losing(1, CommitLost("lost")))
    with pytest.raises(InvariantViolated, match="nobody made"):
        warm_up_by(_losing(1, InvariantViolated("nobody made the versions")))


def test_who_loses_every_time_is_told() -> None:
    with pytest.raises(CommitLost, match="lost"):
        with_a_whole_log(_losing(MOST_AGAIN + 1, CommitLost("lost")))


def test_what_else_goes_wrong_is_told_at_once() -> None:
    with pytest.raises(InvariantViolated, match="nobody made"):
        with_a_whole_log(_losing(1, InvariantViolated("nobody made the versions")))
