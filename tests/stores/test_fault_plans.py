"""Fault plans: which request of which writer is struck, and the same ones in every cell."""

from __future__ import annotations

from typing import Any

import pytest

from tests.sim.sim_worlds import INSERT, ran, rows, scenario
from whitecap.engine.errors import InvalidInput
from whitecap.sim.run import FinishedRun

LOADERS = {"etl": {**INSERT, "count": 3, "arrival": {"closed": {"think": "5 s"}}}}

ALONE = {"etl": {**LOADERS["etl"], "count": 1}}

Rows = list[dict[str, Any]]


def _hit(fault: dict[str, Any], **parts: Any) -> FinishedRun:
    return ran(**{"faults": [fault], "writers": LOADERS, "duration": "2 min", **parts})


def _requests_of(run: FinishedRun, writer: str, kind: str) -> Rows:
    """In the order in which they were sent."""
    writers = {row["transaction_id"]: row["writer"] for row in rows(run)}
    sent = [
        request
        for request in rows(run, "requests")
        if writers[request["transaction_id"]] == writer and request["kind"] == kind
    ]
    return sorted(sent, key=lambda request: request["sent_at_ms"])


def _throttled(requests: Rows) -> list[int]:
    return [n for n, request in enumerate(requests, start=1) if request["result"] == "throttled"]


def test_the_third_put_of_one_writer_is_struck_and_no_other_request() -> None:
    fault = {"throttling": {"nth": 3, "requests": ["put"]}, "writers": ["etl-2"]}
    run = _hit(fault)
    assert _throttled(_requests_of(run, "etl-2", "put")) == [3]
    assert len(_throttled(rows(run, "requests"))) == 1


def test_each_writer_of_a_group_is_counted_by_itself() -> None:
    run = _hit({"throttling": {"nth": [1, 4], "requests": ["put"]}, "writers": ["etl"]})
    for writer in ("etl-1", "etl-2", "etl-3"):
        assert _throttled(_requests_of(run, writer, "put")) == [1, 4]


@pytest.mark.parametrize("nth", [1, 4, 5])
def test_the_statements_of_a_writer_are_counted_together(nth: int) -> None:
    part = {name: INSERT[name] for name in ("statement", "parameters")}
    writer = {"statements": [part, part], "arrival": {"schedule": {"every": "10 s"}}}
    run = _hit({"throttling": {"nth": nth, "requests": ["put"]}}, writers={"etl": writer})
    assert _throttled(_requests_of(run, "etl-1", "put")) == [nth]


def test_a_request_that_is_sent_again_is_counted_again() -> None:
    run = _hit({"throttling": {"nth": [2, 3], "requests": ["put"]}, "writers": ["etl-1"]})
    second, third = _requests_of(run, "etl-1", "put")[1:3]
    assert (second["result"], third["result"]) == ("throttled", "throttled")
    assert second["key"] == third["key"]


def test_only_requests_of_some_jobs_for_some_files_are_counted() -> None:
    about = {"nth": 1, "requests": ["put"], "files": ["checksum"], "of_jobs": 2}
    run = _hit({"throttling": about, "writers": ["etl-1"]})
    (struck,) = [r for r in _requests_of(run, "etl-1", "put") if r["result"] == "throttled"]
    own = [row["transaction_id"] for row in rows(run) if row["writer"] == "etl-1"]
    assert struck["transaction_id"] == own[1]
    assert struck["key"].endswith(".crc")


def test_only_requests_inside_the_window_are_counted() -> None:
    fault = {"throttling": {"nth": 1, "requests": ["put"]}, "between": ["60 s", "90 s"]}
    run = _hit({**fault, "writers": ["etl-1"]})
    sent = _requests_of(run, "etl-1", "put")
    (struck,) = [request for request in sent if request["result"] == "throttled"]
    assert struck is next(request for request in sent if request["sent_at_ms"] >= 60_000)


@pytest.mark.parametrize("strike", [{"probability": 0.2}, {"nth": [1, 5], "of_jobs": [1, 3]}])
def test_the_same_commits_are_struck_in_every_layout(strike: dict[str, Any]) -> None:
    """Loaders never conflict, so that a job's first put is the same thing in all of them."""

    def struck(changes: dict[str, Any]) -> list[tuple[str, int]]:
        document = {"faults": [{"lost_reply": strike}], "writers": LOADERS, "duration": "2 min"}
        run = ran(changes, **document)
        first_jobs = [row for row in rows(run) if row["job_id"] < 9]
        return [(row["writer"], row["job_id"]) for row in first_jobs if row["outcome"] == "unknown"]

    assert struck({}) == struck({"table.partition_by": []})
    assert struck({}) == struck({"table.properties": {"delta.enableDeletionVectors": True}})
    assert struck({})


def test_a_catalogued_fault_can_be_planned() -> None:
    (fault,) = scenario(faults=[{"use": "lost-reply", "lost_reply": {"nth": 2}}]).faults
    assert fault.lost_reply is not None
    assert (fault.lost_reply.probability, fault.lost_reply.nth) == (None, [2])
    assert fault.source


@pytest.mark.parametrize("when", ["before", "during", "after"])
def test_a_driver_dies_before_during_or_after_its_put(when: str) -> None:
    crash = {"nth": 1, "of_jobs": 2, "when": when, "restart": "10 s"}
    run = _hit({"crash_at_request": crash}, writers=ALONE)
    (dead,) = [row for row in rows(run) if row["rule"] == "writer_crash"]
    owners = [row["transaction_id"] for row in rows(run, "commits")]
    assert dead["outcome"] == ("aborted" if when == "before" else "unknown")
    assert (dead["transaction_id"] in owners) == (when != "before")
    puts = [r for r in rows(run, "requests") if r["transaction_id"] == dead["transaction_id"]]
    assert any(r["kind"] == "put_if_absent" for r in puts) == (when != "before")
    later = next(row for row in rows(run) if row["job_id"] > dead["job_id"])
    assert later["snapshot_at_ms"] >= dead["ended_at_ms"] + 10_000


def test_a_driver_that_dies_between_checkpoint_and_pointer_leaves_the_checkpoint() -> None:
    crash = {"nth": 1, "requests": ["put"], "files": ["pointer"], "when": "before"}
    run = _hit({"crash_at_request": {**crash, "restart": "10 s"}}, writers=ALONE, duration="5 min")
    (dead,) = [row for row in rows(run) if row["rule"] == "writer_crash"]
    written = [r for r in rows(run, "requests") if r["kind"] == "put"]
    own = [r["key"] for r in written if r["transaction_id"] == dead["transaction_id"]]
    assert own[-1].endswith(".checkpoint.parquet")
    assert dead["transaction_id"] in {row["transaction_id"] for row in rows(run, "commits")}
    assert len([r for r in written if r["key"].endswith("_last_checkpoint")]) >= 1


def test_a_paused_writer_stands_still_before_it_sends() -> None:
    run = _hit({"pause": {"nth": 1, "of_jobs": 2, "lasts": "40 s"}, "writers": ["etl-1"]})
    own = [row for row in rows(run) if row["writer"] == "etl-1"]
    assert own[1]["ended_at_ms"] - own[1]["submitted_at_ms"] > 40_000
    assert own[0]["ended_at_ms"] - own[0]["submitted_at_ms"] < 40_000


def test_a_put_that_is_delivered_twice_is_refused_the_second_time() -> None:
    twice = {"duplicate_delivery": {"probability": 1, "delay": "1 s"}}
    run, once = _hit(twice), _hit({"throttling": {"probability": 1e-300}})
    assert rows(run, "commits") == rows(once, "commits")


def test_a_put_that_was_refused_has_no_effect_that_could_happen_again() -> None:
    faults = [
        {"duplicate_delivery": {"probability": 1, "delay": "1 ms"}},
        {"throttling": {"nth": [1, 2], "requests": ["put_if_absent"]}},
    ]
    puts = rows(_hit(faults[1], faults=faults, writers=ALONE), "requests")
    refused = [put for put in puts if put["result"] == "throttled"]
    assert len(refused) == 2
    landed = [put["key"] for put in puts if put["effect_at_ms"] is not None]
    assert refused[0]["key"] in landed
    run = _hit(faults[1], faults=faults, writers=ALONE)
    created = [put for put in rows(run, "attempts") if put["effect_at_ms"] is not None]
    assert all(put["result"] == "created" for put in created)


@pytest.mark.parametrize(
    ("on_409", "outcomes"),
    [("resend", {"committed"}), ("taken", {"committed"}), ("fail", {"committed", "aborted"})],
)
def test_a_409_is_sent_again_taken_for_lost_or_failed(on_409: str, outcomes: set[str]) -> None:
    store = {"profile": "s3", "client": {"on_409": on_409}}
    run = _hit({"conflict_409": {"nth": 2}}, store=store)
    assert {row["outcome"] for row in rows(run)} - {"in_flight"} == outcomes
    answered = [r for r in rows(run, "requests") if r["result"] == "409"]
    assert len(answered) == 3
    landed = {row["transaction_id"] for row in rows(run, "commits")}
    assert not landed & {row["transaction_id"] for row in rows(run) if row["outcome"] == "aborted"}


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (
            {"lost_reply": {"nth": 3}, "writers": ["etl-9"]},
            "faults.0.writers.0: there is no writer 'etl-9' (did you mean 'etl-3'?)",
        ),
        (
            {"lost_reply": {"nth": 3, "requests": ["put_item"]}},
            "faults.0.lost_reply.requests: no writer ever sends a put_item to s3: they send",
        ),
        ({"lost_reply": {"nth": 0}}, "must be at least 1, not 0"),
        ({"lost_reply": {"nth": 1, "probability": 0.5}}, "give either probability or nth"),
        ({"lost_reply": {}}, "give either probability or nth"),
        ({"pause": {"nth": 1}}, "'lasts' is missing"),
        (
            {"crash_at_request": {"nth": 1, "requests": ["list"], "restart": "1 s"}},
            "are requests that a driver can die at",
        ),
    ],
)
def test_misuse_is_told(fault: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidInput) as raised:
        scenario(faults=[fault], writers=LOADERS)
    assert said in str(raised.value)


def test_a_driver_that_several_share_does_not_die_at_a_request_of_one() -> None:
    crash = {"crash_at_request": {"nth": 1, "restart": "1 s"}}
    with pytest.raises(InvalidInput, match="'etl' shares its own"):
        scenario(faults=[crash], writers={"etl": {**LOADERS["etl"], "cluster": "one"}})
