"""Jobs as Databricks, dbt, Fabric and Trino log them become statements that do the same."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import whitecap
from tests.inferring.synthetic_logs import LogOnDisk
from whitecap.sim.inferring.drafting import DraftedScenario, draft_of
from whitecap.sim.inferring.evidence.reading import evidence_in
from whitecap.sim.inferring.log.observed import observe
from whitecap.sim.inferring.text import Options
from whitecap.sim.loading import parse_scenario

DATABRICKS = "Databricks-Runtime/16.4.x-scala2.12"
DAYS = ("2026-01-10", "2026-01-11", "2026-01-12")
TIMES = 5


def _drafted(log: LogOnDisk) -> DraftedScenario:
    return draft_of(observe(str(log.folder), 1000), Options())


def _statement(draft: DraftedScenario, name: str) -> str:
    return " ".join(str(parse_scenario(draft.text).writers[name].statement).split())


def _paths(draft: DraftedScenario) -> list[str]:
    return [figure.path for figure in evidence_in(draft.text)]


def _add(number: int, day: str) -> dict[str, Any]:
    return {
        "add": {
            "path": f"{day}-{number}.parquet", "partitionValues": {"day": day}, "size": 500,
            "modificationTime": 0, "dataChange": True, "stats": '{"numRecords": 5}',
        }
    }  # fmt: skip


def _remove(number: int, day: str) -> dict[str, Any]:
    removed = {"partitionValues": {"day": day}, "size": 500, "deletionTimestamp": 0}
    return {"remove": {"path": f"{day}-{number}.parquet", "dataChange": True, **removed}}


@pytest.fixture
def log(tmp_path: Path) -> LogOnDisk:
    """A table with ten files a day, so that a job changes few of them."""
    log = LogOnDisk(tmp_path / "events")
    for number in range(10):
        log.commit("WRITE", *(_add(number, day) for day in DAYS))
    return log


def _merge(
    log: LogOnDisk, metrics: Mapping[str, Any] | None = None, **clauses: list[dict[str, str]]
) -> DraftedScenario:
    predicates = {f"{name}Predicates": json.dumps(given) for name, given in clauses.items()}
    for number in range(TIMES):
        log.commit(
            "MERGE", _remove(number, DAYS[0]), _add(100 + number, DAYS[0]), engineInfo=DATABRICKS,
            operationParameters={"predicate": '["(id#1L = id#2L)"]', **predicates},
            operationMetrics=dict(metrics or {}),
        )  # fmt: skip
    return _drafted(log)


UPDATE, INSERT, DELETE = ({"actionType": action} for action in ("update", "insert", "delete"))


def test_a_merge_that_only_inserts_stays_one(log: LogOnDisk) -> None:
    draft = _merge(log, matched=[], notMatched=[INSERT], notMatchedBySource=[])
    assert _statement(draft, "merge").endswith("ON t.id = s.id WHEN NOT MATCHED THEN INSERT *")
    assert "read: 5 of 5 MERGEs have no WHEN MATCHED" in draft.text


def test_a_merge_that_looks_at_what_no_source_row_matches_reads_the_whole_table(
    log: LogOnDisk,
) -> None:
    draft = _merge(log, matched=[UPDATE], notMatched=[INSERT], notMatchedBySource=[DELETE])
    assert "WHEN NOT MATCHED BY SOURCE AND t.id IS NULL THEN DELETE" in _statement(draft, "merge")
    assert "5 of 5 MERGEs have WHEN NOT MATCHED BY SOURCE" in " ".join(draft.text.split("\n    # "))


@pytest.mark.parametrize(
    ("clauses", "metrics", "drafted", "share"),
    [
        (
            {"matched": [DELETE], "notMatched": [INSERT]},
            {"numTargetRowsDeleted": "3", "numTargetRowsInserted": "1"},
            "WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT *",
            0.75,
        ),
        (
            {"matched": [{"predicate": "(s.gone)", **DELETE}], "notMatched": []},
            {"numTargetRowsMatchedDeleted": "4", "numTargetRowsDeleted": "9"},
            "WHEN MATCHED THEN DELETE",
            1.0,
        ),
        (
            {"matched": [DELETE, UPDATE], "notMatched": [INSERT]},
            {
                "numTargetRowsUpdated": "1",
                "numTargetRowsDeleted": "1",
                "numTargetRowsInserted": "2",
            },
            "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *",
            0.5,
        ),
        (
            {},
            {"num_target_rows_deleted": 3, "num_target_rows_inserted": 1},
            "WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT *",
            0.75,
        ),
    ],
)
def test_a_merge_that_deletes_what_it_matches_deletes_it(
    clauses: dict[str, list[dict[str, str]]],
    metrics: dict[str, Any],
    drafted: str,
    share: float,
    log: LogOnDisk,
) -> None:
    draft = _merge(log, metrics, **clauses)
    assert _statement(draft, "merge").endswith(f"ON t.id = s.id {drafted}")
    rows = parse_scenario(draft.text).writers["merge"].parameters["rows"].rows
    assert rows is not None
    assert rows.existing == share
    whitecap.run(draft.text, changes={"duration": "20 min"})


@pytest.mark.parametrize(
    "operation", ["CREATE OR REPLACE TABLE AS SELECT", "REPLACE TABLE AS SELECT"]
)
def test_a_model_that_is_replaced_each_time_is_drafted_as_that(
    operation: str, tmp_path: Path
) -> None:
    properties = {"delta.enableDeletionVectors": "true", "delta.isolationLevel": "Serializable"}
    log = LogOnDisk(tmp_path / "model", "id BIGINT, day DATE", properties=properties)
    made = json.loads((log.log / f"{0:020d}.json").read_text().splitlines()[2])
    for number in range(TIMES):
        log.commit(operation, made, _add(number, DAYS[2]))
    draft = _drafted(log)
    assert _statement(draft, "replace") == (
        "CREATE OR REPLACE TABLE model USING DELTA PARTITIONED BY (day) TBLPROPERTIES"
        " ('delta.enableDeletionVectors' = 'true', 'delta.isolationLevel' = 'Serializable') AS"
        " SELECT CAST(v.id AS BIGINT) AS id, CAST(v.day AS DATE) AS day,"
        " CAST(v.payload AS DOUBLE) AS payload FROM VALUES :rows AS v(id, day, payload)"
    )
    changes = {"duration": "20 min", "writers.replace.arrival": {"closed": {"think": "1 min"}}}
    run = whitecap.run(draft.text, changes=changes)
    assert set(run.transactions.outcome) == {"committed"}


def test_a_model_that_has_no_rows_is_replaced_too(tmp_path: Path) -> None:
    log = LogOnDisk(tmp_path / "model", "id BIGINT, day DATE")
    made = json.loads((log.log / f"{0:020d}.json").read_text().splitlines()[2])
    log.append(DAYS[0])
    log.commit("CREATE OR REPLACE TABLE AS SELECT", made, _remove(1, DAYS[0]))
    for _ in range(TIMES):
        log.commit("CREATE OR REPLACE TABLE AS SELECT", made)
    assert set(parse_scenario(_drafted(log).text).writers) == {"replace"}


def test_changes_of_metadata_refuse_others_in_the_draft_too(log: LogOnDisk) -> None:
    made = json.loads((log.log / f"{0:020d}.json").read_text().splitlines()[2])
    for _ in range(TIMES):
        log.commit("SET TBLPROPERTIES", made)
        log.append(DAYS[2])
    draft = _drafted(log)
    assert _statement(draft, "alter").startswith("ALTER TABLE events SET TBLPROPERTIES")
    assert "5 commits of SET TBLPROPERTIES" in draft.text
    assert not any("TBLPROPERTIES" in each for each in draft.left_out)
    changes = {
        "duration": "5 min",
        "writers.alter.arrival": {"schedule": {"every": "20 s"}},
        "writers.insert.arrival": {"schedule": {"every": "20 s"}},
        "writers.insert.compute": "30 s",
    }
    run = whitecap.run(draft.text, changes=changes)
    assert "MetadataChangedException" in set(run.transactions.exception)


def test_a_change_of_metadata_after_each_commit_is_a_step_of_the_same_job(log: LogOnDisk) -> None:
    made = json.loads((log.log / f"{0:020d}.json").read_text().splitlines()[2])
    for number in range(TIMES):
        log.commit("CREATE OR REPLACE TABLE AS SELECT", made, _add(400 + number, DAYS[2]))
        log.commit("SET TBLPROPERTIES", made)
        log.commit("CHANGE COLUMN", made)
    draft = _drafted(log)
    writers = parse_scenario(draft.text).writers
    assert set(writers) == {"insert", "replace"}
    assert len(writers["replace"].statements or ()) == 3
    assert any(path.startswith("writers.replace.statements") for path in _paths(draft))
    assert "each followed by SET TBLPROPERTIES and CHANGE COLUMN" in " ".join(draft.text.split())


def test_a_purge_is_a_writer(log: LogOnDisk) -> None:
    for number in range(TIMES):
        parameters = {"predicate": "[]", "applyPurge": "true"}
        moved = _remove(number, DAYS[0]), _add(200 + number, DAYS[0])
        log.commit("REORG", *moved, operationParameters=parameters)
    assert _statement(_drafted(log), "reorg") == "REORG TABLE events APPLY (PURGE)"


@pytest.mark.parametrize("logged", [{"isDynamicPartitionOverwrite": True}, {}])
def test_an_overwrite_that_leaves_other_partitions_replaces_those_it_writes(
    logged: dict[str, Any], log: LogOnDisk
) -> None:
    for number in range(TIMES):
        removed = [_remove(each, DAYS[2]) for each in range(10)] if not number else []
        parameters = {"mode": "Overwrite", "partitionBy": '["day"]', **logged}
        log.commit("WRITE", *removed, _add(300 + number, DAYS[2]), operationParameters=parameters)
    draft = _drafted(log)
    expected = "INSERT INTO events REPLACE WHERE day = :day VALUES :rows"
    assert _statement(draft, "overwrite") == expected


def test_an_overwrite_of_all_partitions_stays_one(log: LogOnDisk) -> None:
    for number in range(TIMES):
        before = range(10) if not number else [300 + number - 1]
        removed = [_remove(each, day) for each in before for day in DAYS]
        added = [_add(300 + number, day) for day in DAYS]
        log.commit("WRITE", *removed, *added, operationParameters={"mode": "Overwrite"})
    assert _statement(_drafted(log), "overwrite") == "INSERT OVERWRITE events VALUES :rows"


def test_an_overwrite_of_what_were_few_files_then_is_one_of_all(log: LogOnDisk) -> None:
    for number in range(TIMES):
        parameters = {"mode": "Overwrite"}
        log.commit(
            "WRITE", *(_add(300 + number, day) for day in DAYS), operationParameters=parameters
        )
    assert _statement(_drafted(log), "overwrite") == "INSERT OVERWRITE events VALUES :rows"


def test_an_overwrite_that_passed_an_append_by_is_still_one_of_all_partitions(
    log: LogOnDisk,
) -> None:
    for number in range(TIMES):
        read = log.version - 1
        log.append("2026-01-13", readVersion=read)
        removed = [_remove(each, day) for each in range(10) for day in DAYS] if not number else []
        parameters = {"mode": "Overwrite"}
        log.commit(
            "WRITE", *removed, *(_add(300 + number, day) for day in DAYS),
            operationParameters=parameters, readVersion=read,
        )  # fmt: skip
    assert _statement(_drafted(log), "overwrite") == "INSERT OVERWRITE events VALUES :rows"


def test_who_does_not_log_a_condition_changes_no_more_files_than_it_did(log: LogOnDisk) -> None:
    for number in range(TIMES):
        log.commit("DELETE", _remove(number, DAYS[0]), operationParameters={"queryId": "2026"})
    draft = _drafted(log)
    assert _statement(draft, "delete") == "DELETE FROM events WHERE id IN (:keys)"
    assert "5 of 5 commits do not say their condition: keys stand for them" in draft.text


def test_optimize_of_all_clusters_is_told_from_that_of_new_files(tmp_path: Path) -> None:
    log = LogOnDisk(tmp_path / "events", by=[])
    columns = json.dumps({"clusteringColumns": [["day"]], "domainName": "delta.clustering"})
    domain = {"domain": "delta.clustering", "configuration": columns, "removed": False}
    features = ["clustering", "domainMetadata"]
    protocol = {"minReaderVersion": 1, "minWriterVersion": 7, "writerFeatures": features}
    log.commit("CLUSTER BY", {"protocol": protocol}, {"domainMetadata": domain})
    for number in range(TIMES):
        add = {"add": _add(number, "")["add"] | {"partitionValues": {}}}
        for full in (False, True):
            parameters = {"predicate": [], "clusterBy": ["day"], "isFull": full}
            log.commit("OPTIMIZE", add, operationParameters=parameters)
    writers = parse_scenario(_drafted(log).text).writers
    assert {group.statement for group in writers.values()} == {
        "OPTIMIZE events", "OPTIMIZE events FULL",
    }  # fmt: skip


COLUMNS = "id BIGINT, region STRING, day DATE, score DOUBLE, tenant BIGINT"


def _clustered(folder: Path, by: list[str]) -> LogOnDisk:
    log = LogOnDisk(folder / "events", COLUMNS, [])
    columns = {"clusteringColumns": [[name] for name in by], "domainName": "delta.clustering"}
    domain = {"domain": "delta.clustering", "configuration": json.dumps(columns), "removed": False}
    features = ["clustering", "domainMetadata"]
    protocol = {"minReaderVersion": 1, "minWriterVersion": 7, "writerFeatures": features}
    log.commit("CLUSTER BY", {"protocol": protocol}, {"domainMetadata": domain})
    return log


def test_values_of_clustering_columns_in_conditions_stay_conditions(tmp_path: Path) -> None:
    log = _clustered(tmp_path, ["region", "day", "score"])
    for number in range(6):
        add = {"add": _add(number, "")["add"] | {"partitionValues": {}}}
        log.commit("WRITE", add)
        where = (
            f'["((region#1 = {"DE" if number % 2 else "FR"}) AND (day#2 = {DAYS[number % 3]}))"]'
        )
        log.commit("UPDATE", add, operationParameters={"predicate": where})
    draft = _drafted(log)
    scenario = parse_scenario(draft.text)
    assert scenario.table is not None
    assert scenario.table.cluster_by == ["region", "day", "score"]
    assert sorted(scenario.table.values["region"].among or ()) == ["DE", "FR"]
    assert scenario.table.values["day"].days == 3
    assert _statement(draft, "update").endswith("WHERE region = :region AND day = :day")
    assert set(scenario.writers["update"].parameters) == {"region", "day"}


@pytest.mark.parametrize(
    ("column", "condition", "values"),
    [
        ("tenant", "(tenant = {n}L)", [0, 1, 2]),
        ("score", "(score > {n}.5D)", [0.5, 1.5, 2.5]),
        ("region", "(region#1 = {n}L)", ["0L", "1L", "2L"]),
        ("region", "((region = 'a''b') OR (region = '{n}'))", ["0", "1", "2", "a'b"]),
    ],
)
def test_values_of_clustering_columns_are_read_as_their_types_are_logged(
    column: str, condition: str, values: list[Any], tmp_path: Path
) -> None:
    draft = _deleting(_clustered(tmp_path, [column]), condition)
    scenario = parse_scenario(draft.text)
    assert scenario.table is not None
    assert sorted(scenario.table.values[column].among or ()) == values
    assert f"{column} " in _statement(draft, "delete")


@pytest.mark.parametrize(
    ("column", "condition"),
    [("day", "(day = current_date())"), ("tenant", "(tenant = cast(current_user() as bigint))")],
)
def test_an_expression_is_no_value_of_a_clustering_column(
    column: str, condition: str, tmp_path: Path
) -> None:
    draft = _deleting(_clustered(tmp_path, [column]), condition)
    assert _statement(draft, "delete") == "DELETE FROM events WHERE id IN (:keys)"


def _deleting(log: LogOnDisk, condition: str) -> DraftedScenario:
    for number in range(6):
        add = {"add": _add(number, "")["add"] | {"partitionValues": {}}}
        predicate = json.dumps([condition.format(n=number % 3)])
        log.commit("DELETE", add, operationParameters={"predicate": predicate})
    return _drafted(log)


def test_from_which_day_on_a_clustered_table_is_overwritten_is_kept(tmp_path: Path) -> None:
    log = _clustered(tmp_path, ["day"])
    for number in range(6):
        add = {"add": _add(number, "")["add"] | {"partitionValues": {}}}
        parameters = {"mode": "Overwrite", "predicate": '["(day#2 >= 2026-01-12)"]'}
        log.commit("WRITE", add, operationParameters=parameters)
    draft = _drafted(log)
    expected = "INSERT INTO events REPLACE WHERE day >= :day VALUES :rows"
    assert _statement(draft, "overwrite") == expected
    assert "# counted: nine of ten of 6 commits begin with the day of their own" in draft.text


def test_a_notebook_is_not_called_a_job(log: LogOnDisk) -> None:
    for _ in range(TIMES):
        log.append(DAYS[2], notebook={"notebookId": "1234"}, userName="ann")
    draft = _drafted(log)
    assert "commits of WRITE by notebook 1234, user ann" in draft.text
    assert "insert-notebook-1234" in parse_scenario(draft.text).writers
