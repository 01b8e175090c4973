"""Jobs that are due and have not begun when a run ends are recorded, writer by writer."""

from __future__ import annotations

from typing import Any

import pytest

from tests.sim.sim_worlds import document
from whitecap.sim.loading import scenario_of
from whitecap.sim.recording.recording import Recording
from whitecap.sim.run import run_scenario

SLOW: dict[str, Any] = {
    "statement": "UPDATE events SET amount = 0 WHERE date = :date",
    "parameters": {"date": "newest"},
    "compute": "1500 ms",
}


def recorded(arrival: dict[str, Any], **more: Any) -> Recording:
    """100 s on a store that takes no time."""
    text = document(
        duration="100 s", store="instant", writers={"slow": SLOW | {"arrival": arrival} | more}
    )
    return run_scenario(scenario_of(text)).recording


def writers_of(arrival: dict[str, Any], **more: Any) -> list[dict[str, Any]]:
    """The recorded writers."""
    rows: list[dict[str, Any]] = recorded(arrival, **more).writers.to_pylist()
    return rows


def test_a_schedule_that_falls_behind_says_how_far() -> None:
    """Due every second, each takes a second and a half: 67 of the 100 have begun."""
    (row,) = writers_of({"schedule": {"every": "1 s"}})
    assert (row["jobs_due"], row["jobs_not_begun"]) == (100, 33)
    assert (row["writer"], row["writer_group"], row["command"]) == ("slow-1", "slow", "UPDATE")
    assert row["arrival"] == "schedule"


QUERIES: list[dict[str, Any]] = [
    {"streaming": {"checkpoint": "c"}, "statement": None, "parameters": {}},
    {"foreach_batch": {"checkpoint": "c"}},
]
"""A query that appends by itself, and one whose function runs a statement."""


def submitted(recording: Recording) -> list[float]:
    """When its jobs began to wait, in seconds."""
    return [each / 1000 for each in recording.transactions["submitted_at_ms"].to_pylist()]


@pytest.mark.parametrize("query", QUERIES)
def test_a_query_that_misses_its_trigger_begins_its_next_batch_at_once(
    query: dict[str, Any],
) -> None:
    """Triggered every second, a batch takes one and a half; none waits for longer than it runs."""
    recording = recorded({"schedule": {"every": "1 s"}}, **query)
    assert submitted(recording) == [1.5 * number for number in range(67)]
    (row,) = recording.writers.to_pylist()
    assert (row["jobs_due"], row["jobs_not_begun"]) == (67, 0)


@pytest.mark.parametrize("query", QUERIES)
def test_triggers_that_pass_while_a_query_stands_still_are_one(query: dict[str, Any]) -> None:
    """The batch of the second trigger takes 35 s more; the boundaries stay where they were."""
    pause = [{"pause": {"nth": 1, "of_jobs": [2], "lasts": "35 s"}}]
    text = document(
        duration="100 s",
        store="instant",
        faults=pause,
        writers={"slow": SLOW | {"arrival": {"schedule": {"every": "10 s"}}} | query},
    )
    begun = submitted(run_scenario(scenario_of(text)).recording)
    assert begun == [0, 10, 46.5, 50, 60, 70, 80, 90]


@pytest.mark.parametrize("query", QUERIES)
def test_a_query_that_has_stopped_begins_no_batch_that_it_missed(query: dict[str, Any]) -> None:
    recording = recorded({"schedule": {"every": "10 s"}}, compute="25 s", stops="41 s", **query)
    assert submitted(recording) == [0, 25]


@pytest.mark.parametrize("query", QUERIES)
def test_runs_of_a_query_that_are_listed_wait_for_each_other(query: dict[str, Any]) -> None:
    """Somebody starts them; a trigger interval is what is skipped."""
    recording = recorded({"schedule": {"at": ["1 s", "2 s", "99 s"]}}, **query)
    assert submitted(recording) == [1, 2, 99]
    (row,) = recording.writers.to_pylist()
    assert (row["jobs_due"], row["jobs_not_begun"]) == (3, 0)


def test_listed_instants_that_are_past_count_and_later_ones_do_not() -> None:
    (row,) = writers_of({"schedule": {"at": ["98 s", "99 s", "99500 ms", "100 s", "3 min"]}})
    assert (row["jobs_due"], row["jobs_not_begun"]) == (3, 1)


@pytest.mark.parametrize(("starts", "due"), [("60 s", 1), ("5 min", 0)])
def test_listed_instants_before_a_writer_starts_are_nobodys(starts: str, due: int) -> None:
    """As those of a recorded trace: who does not work yet has no job that waits."""
    (row,) = writers_of({"schedule": {"at": ["30 s", "90 s"]}}, starts=starts)
    assert (row["jobs_due"], row["jobs_not_begun"]) == (due, 0)


def test_what_would_be_due_after_a_writer_stops_is_not() -> None:
    """What waits by then is still run: 50 jobs take 75 s."""
    (row,) = writers_of({"schedule": {"every": "1 s"}}, stops="50 s")
    assert (row["jobs_due"], row["jobs_not_begun"]) == (50, 0)
    (row,) = writers_of({"schedule": {"every": "1 s"}}, starts="10 s", stops="99 s")
    assert row["jobs_due"] == 89


def test_an_open_loop_counts_the_jobs_that_wait_for_their_turn() -> None:
    recording = recorded({"open": {"rate": "2 per s", "concurrency": 1}})
    (row,) = recording.writers.to_pylist()
    assert row["jobs_due"] == recording.transactions.num_rows
    assert row["jobs_not_begun"] == recording.transactions["snapshot_at_ms"].null_count > 20


@pytest.mark.parametrize("arrival", [{"closed": {"think": "1 s"}}, {"open": {"rate": "1 per s"}}])
def test_where_no_job_waits_for_another_none_is_late(arrival: dict[str, Any]) -> None:
    rows = writers_of(arrival, count=2)
    assert [row["writer"] for row in rows] == ["slow-1", "slow-2"]
    assert all(row["jobs_not_begun"] == 0 < row["jobs_due"] for row in rows)
