"""Queries whose function writes each batch by statements: what is repeated, and what is known."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from tests.sim.sim_worlds import rows
from whitecap.engine.errors import InvalidInput
from whitecap.sim.loading import scenario_of
from whitecap.sim.oracles.runs.of_run import judge
from whitecap.sim.run import FinishedRun, run_scenario

TABLE = {
    "schema": "id BIGINT, country STRING, amount INT",
    "key": "id",
    "values": {"country": ["at", "be"]},
    "initial": {"rows": 100, "rows_per_file": 100},
}
ROWS = {"rows": {"rows": {"count": 2}}}
CHANGES = "UPDATE gold SET amount = amount + 1 WHERE country = 'at'"

QUERY: dict[str, Any] = {
    "name": "query",
    "duration": "20 min",
    "store": "s3",
    "tables": {"silver": TABLE, "gold": TABLE},
    "writers": {
        "query": {
            "foreach_batch": {"checkpoint": "orders"},
            "statements": [
                {"statement": "INSERT INTO silver VALUES :rows", "parameters": ROWS},
                {"statement": CHANGES},
            ],
            "arrival": {"schedule": {"every": "60 s", "offset": "5 s"}},
            "stops": "15 min",
            "compute": "4 s",
        },
        "rival": {
            "statement": "UPDATE gold SET amount = 1 WHERE country = 'at'",
            "arrival": {"closed": {"think": "4 s"}},
            "compute": "3 s",
        },
    },
}
STARTED_AGAIN = {"writers.query.restart": {"fixed": {"wait": "1 s", "budget": 20}}}
IDEMPOTENT = {"writers.query.foreach_batch.idempotent": True}
TWICE = {"writers.query.count": 2}


def ran(*changes: dict[str, Any]) -> FinishedRun:
    merged = {path: value for each in changes for path, value in each.items()}
    return run_scenario(scenario_of(QUERY, merged))


def written(run: FinishedRun, group: str = "query") -> list[dict[str, Any]]:
    """The group's transactions in their order."""
    return [row for row in rows(run) if row["writer_group"] == group]


def commits_of(run: FinishedRun, table: str) -> Counter[int]:
    """How many commits a table has of each batch."""
    of_table = (row for row in written(run) if row["table_name"] == table)
    return Counter(row["batch_id"] for row in of_table if row["committed_version"] is not None)


def refused_after_a_commit(run: FinishedRun) -> set[int]:
    """Batches whose second statement was refused once or oftener."""
    return {row["batch_id"] for row in written(run) if row["outcome"] == "aborted"}


def test_a_batch_that_fails_is_written_again_by_the_restart() -> None:
    run = ran(STARTED_AGAIN)
    again = refused_after_a_commit(run)
    assert again
    silver = commits_of(run, "silver")
    assert {batch for batch, count in silver.items() if count > 1} == again
    assert set(commits_of(run, "gold").values()) == {1}
    left = run.recording.manifest["live_rows_of"]["silver"]
    assert left == 100 + 2 * silver.total()


def test_what_is_written_again_are_the_same_values() -> None:
    of_batches: dict[tuple[int, str], set[str]] = {}
    for row in written(ran(STARTED_AGAIN)):
        key = row["batch_id"], row["table_name"]
        of_batches.setdefault(key, set()).add(row["statement"])
    assert {len(texts) for texts in of_batches.values()} == {1}
    silver = [next(iter(texts)) for (_, name), texts in of_batches.items() if name == "silver"]
    assert len(set(silver)) == len(silver)


def test_a_table_knows_a_batch_again_by_its_application_and_version() -> None:
    run = ran(STARTED_AGAIN, IDEMPOTENT)
    assert refused_after_a_commit(run)
    for table in ("silver", "gold"):
        assert set(commits_of(run, table).values()) == {1}
    batches = len(commits_of(run, "silver"))
    assert run.recording.manifest["live_rows_of"]["silver"] == 100 + 2 * batches
    repeated = [
        row
        for row in written(run)
        if row["outcome"] == "committed" and row["committed_version"] is None
    ]
    assert {row["batch_id"] for row in repeated} == refused_after_a_commit(run)
    assert all(row["app_id"] for row in written(run))


def test_what_is_written_twice_is_found_by_the_oracle_and_nothing_else_is() -> None:
    (kind,) = {finding.anomaly for finding in judge(ran(STARTED_AGAIN)).findings}
    assert kind == "duplicate"
    assert not judge(ran(STARTED_AGAIN, IDEMPOTENT)).findings


def test_without_a_restart_the_next_job_takes_the_batch_that_is_not_done() -> None:
    run = ran(IDEMPOTENT)
    first_of_jobs = [row for row in written(run) if row["statement_number"] == 1]
    given_up = {row["batch_id"] for row in written(run) if row["given_up"]}
    assert given_up
    taken = [row["batch_id"] for row in first_of_jobs]
    assert taken == sorted(taken)
    again = {batch for batch in taken if taken.count(batch) > 1}
    assert given_up - {max(taken)} <= again <= given_up
    assert set(commits_of(run, "silver").values()) == {1}


def test_a_rerun_of_a_statement_stays_in_its_batch() -> None:
    run = ran({"writers.query.rerun": {"fixed": {"wait": "1 s", "budget": 20}}})
    assert refused_after_a_commit(run)
    assert set(commits_of(run, "silver").values()) == {1}
    assert not [row for row in written(run) if row["given_up"]]


def test_two_runs_of_one_query_write_each_batch_twice() -> None:
    run = ran(TWICE, STARTED_AGAIN)
    assert 2 in commits_of(run, "gold").values()


def test_two_runs_of_one_idempotent_query_stop_each_other() -> None:
    run = ran(TWICE, STARTED_AGAIN, IDEMPOTENT)
    assert set(commits_of(run, "silver").values()) == {1}
    assert "ConcurrentTransactionException" in {row["exception"] for row in written(run)}


def test_a_second_statement_of_a_batch_on_one_table_is_taken_for_the_first() -> None:
    """As in Delta: the two write the same version of the same application."""
    both = ["INSERT INTO silver VALUES (1, 'at', 1)", "INSERT INTO silver VALUES (2, 'at', 1)"]
    silent = {"writers.rival.statement": "DELETE FROM gold WHERE id < 0"}
    run = ran(IDEMPOTENT, silent, {"writers.query.statements": both})
    second = [row for row in written(run) if row["statement_number"] == 2]
    assert second
    assert all(row["committed_version"] is None for row in second)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"arrival": {"open": {"rate": "1 per min"}}}, "a query runs one batch at a time"),
        ({"statements": None, "streaming": {"checkpoint": "orders", "table": "silver"}},
         "streaming appends by itself"),
        ({"dialect": "delta-rs-1.6.6"}, "foreach_batch"),
        ({"statements": [{"statement": "DELETE FROM gold WHERE id = :id",
                          "parameters": {"id": {"member": {}}}}]},
         "a batch belongs to its checkpoint"),
    ],
)  # fmt: skip
def test_what_no_query_can_do_is_told(changes: dict[str, Any], expected: str) -> None:
    with pytest.raises(InvalidInput) as raised:
        scenario_of(QUERY, {f"writers.query.{key}": value for key, value in changes.items()})
    assert expected in str(raised.value)


@pytest.mark.parametrize(
    "arrival", [{"open": {"rate": "1 per min"}}, {"trace": {"text": "at\n1 s\n", "concurrency": 2}}]
)
def test_a_query_that_appends_by_itself_runs_one_batch_at_a_time_too(
    arrival: dict[str, Any],
) -> None:
    streaming = {"checkpoint": "orders", "table": "silver"}
    query = {"streaming": streaming, "arrival": arrival, "compute": "1 s"}
    with pytest.raises(InvalidInput, match="a query runs one batch at a time"):
        scenario_of(QUERY, {"writers.query": query})
    (kind,) = arrival
    scenario_of(QUERY, {"writers.query": query, f"writers.query.arrival.{kind}.concurrency": 1})


@pytest.mark.parametrize(
    "other",
    [
        {"streaming": {"checkpoint": "orders", "table": "silver"}},
        {"foreach_batch": {"checkpoint": "orders"}, "statement": CHANGES},
    ],
)
def test_a_checkpoint_is_of_one_query(other: dict[str, Any]) -> None:
    stranger = {**other, "arrival": {"schedule": {"every": "60 s"}}, "compute": "1 s"}
    with pytest.raises(InvalidInput) as raised:
        scenario_of(QUERY, {"writers.stranger": stranger})
    assert "checkpoint 'orders' is of another query, that of 'query'" in str(raised.value)
