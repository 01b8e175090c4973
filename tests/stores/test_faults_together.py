"""Several faults on one request: none swallows another, so that each strikes at its own rate."""

from __future__ import annotations

from typing import Any

import pytest

from tests.sim.sim_worlds import INSERT, ran, rows
from whitecap.sim.run import FinishedRun

LATE = {"late_effect": {"nth": 1, "delay": "20 s"}}
CRASH = {"nth": 1, "restart": "60 s"}


def _struck(*faults: dict[str, Any], **parts: Any) -> FinishedRun:
    """One INSERT in a minute, or what `parts` say."""
    loader = {**INSERT, "arrival": {"schedule": {"at": ["5 s"]}}, "compute": "1 s"}
    given = {"writers": {"loader": loader}, "duration": "3 min", "store": "s3", **parts}
    return ran(faults=list(faults), **given)


@pytest.mark.parametrize(
    "refusal",
    [{"throttling": {"nth": 1, "requests": ["put_if_absent"]}}, {"conflict_409": {"nth": 1}}],
    ids=["throttling", "409"],
)
def test_what_is_refused_takes_no_effect_late(refusal: dict[str, Any]) -> None:
    run = _struck(LATE, refusal)
    first, again = (r for r in rows(run, "requests") if r["kind"] == "put_if_absent")
    assert first["result"] in ("throttled", "409")
    assert first["effect_at_ms"] is None
    assert again["effect_at_ms"] is not None
    (insert,) = rows(run)
    assert insert["outcome"] == "committed"


def test_a_writer_that_dies_while_its_put_is_late_is_dead_and_the_put_lands_late() -> None:
    run = _struck(LATE, {"crash_at_request": {**CRASH, "when": "during"}})
    (insert,) = rows(run)
    (attempt,) = rows(run, "attempts")
    assert insert["exception"] == "WriterCrash"
    assert insert["ended_at_ms"] == attempt["sent_at_ms"]
    assert attempt["effect_at_ms"] == pytest.approx(attempt["sent_at_ms"] + 50_000, abs=100)


def test_a_writer_that_dies_after_its_put_had_it_in_time() -> None:
    run = _struck(LATE, {"crash_at_request": {**CRASH, "when": "after"}})
    (insert,) = rows(run)
    (attempt,) = rows(run, "attempts")
    assert insert["exception"] == "WriterCrash"
    assert attempt["effect_at_ms"] - attempt["sent_at_ms"] < 1_000


def test_crashes_come_at_their_rate_beside_late_effects() -> None:
    """In 1,400 puts 140 of them, with a standard deviation of 11."""
    late = {"late_effect": {"probability": 0.5, "delay": "1 s"}}
    dies = {"crash_at_request": {"probability": 0.1, "when": "after", "restart": "1 s"}}
    loader = {**INSERT, "arrival": {"closed": {"think": "20 s"}}, "compute": "1 s"}
    parts = {"writers": {"loader": loader}, "duration": "12 h", "store": "instant"}
    ended = rows(_struck(late, dies, **parts))
    crashes = sum(row["exception"] == "WriterCrash" for row in ended)
    assert abs(crashes / len(ended) - 0.1) < 0.03
