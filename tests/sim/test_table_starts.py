"""How a table starts: not there, or liquid-clustered; and a stream that reads what it writes."""

from __future__ import annotations

from typing import Any

import pytest

from tests.oracles.log_validation import validate_commits
from tests.sim.sim_worlds import steps_of
from whitecap.engine.errors import InvalidInput
from whitecap.engine.log.commit_file import decode_commit, log_key
from whitecap.sim.loading import scenario_of
from whitecap.sim.run import FinishedRun, run_scenario

DDL = "event_id BIGINT, site STRING"
LOADER: dict[str, Any] = {
    "statement": "INSERT INTO events VALUES :rows",
    "parameters": {"rows": {"rows": {"count": 2}}},
    "arrival": {"schedule": {"at": ["10 s", "30 s"]}},
}
CREATOR = {
    "count": 2,
    "statement": f"CREATE TABLE events ({DDL}) USING DELTA",
    "arrival": {"schedule": {"at": ["20 s"]}},
}


def _run(table: dict[str, Any], writers: dict[str, Any]) -> FinishedRun:
    document = {
        "name": "starts",
        "duration": "1 min",
        "store": "s3",
        "table": {"schema": DDL, "key": "event_id", "values": {"site": ["n", "s"]}, **table},
        "writers": writers,
    }
    return run_scenario(scenario_of(document))


def _ends(run: FinishedRun) -> list[tuple[str, str | None]]:
    rows = run.recording.transactions.to_pylist()
    return [(row["writer_group"], row["exception"]) for row in rows]


def test_a_table_that_is_not_there_is_created_once_and_then_written() -> None:
    run = _run({"exists": False}, {"loader": LOADER, "creator": CREATOR})
    too_early, *creators, later = _ends(run)
    assert too_early == ("loader", "DeltaAnalysisException")
    assert {exception for _, exception in creators} == {None, "ProtocolChangedException"}
    assert later == ("loader", None)
    assert run.recording.commits["version"].to_pylist() == [0, 1]
    assert run.recording.manifest["initial_version"] == -1
    assert run.recording.manifest["live_rows"] == 2


def test_a_run_in_which_nobody_creates_the_table_has_no_log() -> None:
    run = _run({"exists": False}, {"loader": LOADER})
    assert run.recording.commits.num_rows == 0
    assert run.recording.manifest["live_rows"] == 0


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"exists": False, "initial": {"rows": 1}}, "does not exist has no initial rows"),
        ({"cluster_by": ["site"], "partition_by": ["site"]}, "both partitioned and clustered"),
        ({"cluster_by": ["sit"]}, "the table has no column 'sit'"),
    ],
)
def test_a_start_that_cannot_be_is_a_problem(table: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput) as raised:
        _run(table, {"loader": LOADER})
    assert message in str(raised.value)


def test_the_log_of_a_clustered_table_says_by_which_columns() -> None:
    run = _run({"cluster_by": ["site", "event_id"]}, {"loader": LOADER})
    created = decode_commit(run.world.store.objects[log_key(0)].body, 0)
    (domain,) = created.domains
    assert domain.domain == "delta.clustering"
    assert '"clusteringColumns": [["site"], ["event_id"]]' in domain.configuration
    assert created.protocol is not None
    assert {"clustering", "domainMetadata"} <= set(created.protocol.writer_features or ())
    assert created.metadata is not None
    assert not created.metadata.configuration


def test_a_stream_that_reads_its_table_is_no_blind_append() -> None:
    stream = {
        "streaming": {"checkpoint": "clicks", "rows": {"count": 2}, "reads_table": True},
        "arrival": {"schedule": {"at": ["10 s"]}},
        "compute": "10 s",
    }
    plain = {**stream, "streaming": {"checkpoint": "orders", "rows": {"count": 2}}}
    run = _run({}, {"reading": stream, "plain": plain, "loader": {**LOADER, "starts": "1 s"}})
    rows = run.recording.transactions.to_pylist()
    blind = {row["writer_group"]: row["is_blind_append"] for row in rows}
    assert blind == {"reading": False, "plain": True, "loader": True}
    assert _ends(run)[0] == ("reading", "ConcurrentAppendException")


@pytest.mark.parametrize(
    "properties",
    [
        {},
        {"delta.enableRowTracking": True},
        {"delta.enableInCommitTimestamps": True},
        {"delta.columnMapping.mode": "name"},
        {"delta.enableRowTracking": True, "delta.columnMapping.mode": "name"},
        {"delta.enableDeletionVectors": True, "delta.enableChangeDataFeed": True},
    ],
    ids=lambda properties: "+".join(properties) or "none",
)
def test_the_initial_log_is_as_its_features_want_it(properties: dict[str, Any]) -> None:
    table = {"properties": properties, "initial": {"rows": 12, "rows_per_file": 3}}
    run = _run(
        table,
        {
            "loader": {
                **LOADER,
                "statement": "DELETE FROM events WHERE event_id = 3",
                "parameters": {},
            }
        },
    )
    objects = run.world.store.objects
    bodies = {step.version: objects[log_key(step.version)].body for step in steps_of(run)}
    snapshot = validate_commits(bodies)
    assert snapshot.version == 2
    tracked = properties.get("delta.enableRowTracking", False)
    ids = [file.base_row_id for file in snapshot.all_files()]
    assert all((number is not None) == tracked for number in ids)
    named = "delta.rowTracking.materializedRowIdColumnName" in snapshot.configuration
    assert named == tracked
    mapped = properties.get("delta.columnMapping.mode") == "name"
    assert snapshot.configuration.get("delta.columnMapping.maxColumnId") == (
        "2" if mapped else None
    )


def test_dates_may_be_listed_and_do_not_go_on() -> None:
    run = _run(
        {
            "schema": f"{DDL}, day DATE",
            "partition_by": ["day"],
            "values": {"site": ["n"], "day": ["2025-12-24", "2026-01-01"]},
        },
        {"loader": LOADER | {"parameters": {**LOADER["parameters"], "day": "newest"}}},
    )
    snapshot = run.world.tables[0].history.snapshot(2)
    days = {(file.partition_values or {})["day"] for file in snapshot.all_files()}
    assert days == {"2026-01-01"}


def test_a_listed_text_that_is_no_date_is_refused() -> None:
    with pytest.raises(InvalidInput, match="'soon' is not a value of type DATE"):
        _run({"schema": f"{DDL}, day DATE", "values": {"day": ["soon"]}}, {"loader": LOADER})


@pytest.mark.parametrize("kind", ["DECIMAL(10,2)", "DECIMAL(3,2)", "DECIMAL(1,0)", "DECIMAL(2,2)"])
def test_new_rows_have_decimals_that_their_column_can_hold(kind: str) -> None:
    run = _run({"schema": f"{DDL}, price {kind}"}, {"loader": LOADER})
    assert run.recording.manifest["counts"]["committed"] == 2
