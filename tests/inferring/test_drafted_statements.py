"""Each kind of commit becomes a statement that the simulator takes, and the rest is told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.inferring.synthetic_logs import LogOnDisk
from whitecap.engine.errors import InvalidInput
from whitecap.sim.inferring.drafting import DraftedScenario, draft_of
from whitecap.sim.inferring.log.observed import observe
from whitecap.sim.inferring.text import Options
from whitecap.sim.loading import parse_scenario
from whitecap.sim.scenario.writers import WriterGroup

DAYS = ("2026-01-10", "2026-01-11", "2026-01-12")
PINNED = '["(day#12 = 2026-01-1{})"]'


def _add(number: int, day: str) -> dict[str, Any]:
    return {
        "add": {
            "path": f"{number}.parquet", "partitionValues": {"day": day}, "size": 500,
            "modificationTime": 0, "dataChange": True, "stats": '{"numRecords": 5}',
        }
    }  # fmt: skip


def _drafted(log: LogOnDisk) -> DraftedScenario:
    return draft_of(observe(str(log.folder), 1000), Options())


def _group(draft: DraftedScenario, name: str) -> WriterGroup:
    return parse_scenario(draft.text).writers[name]


@pytest.fixture
def log(tmp_path: Path) -> LogOnDisk:
    log = LogOnDisk(tmp_path / "events")
    for number in range(6):
        log.append(DAYS[number % 3])
    return log


CASES = [
    (
        "WRITE",
        {"mode": "Overwrite", "predicate": PINNED},
        "INSERT INTO events REPLACE WHERE day = :day VALUES :rows",
    ),
    (
        "WRITE",
        {"mode": "Overwrite", "predicate": '["(id#1L = 7)"]'},
        "INSERT INTO events REPLACE WHERE id IN (:keys) SELECT * FROM events WHERE id IN (:keys)",
    ),
    ("COPY INTO", {}, "INSERT INTO events VALUES :rows"),
    ("Manual Update", {}, "INSERT INTO events VALUES :rows"),
    ("OPTIMIZE", {"predicate": "[]", "zOrderBy": "[]"}, "OPTIMIZE events"),
    ("OPTIMIZE", {"predicate": PINNED}, "OPTIMIZE events WHERE day = :day"),
    ("OPTIMIZE", {"zOrderBy": '["id"]'}, "OPTIMIZE events ZORDER BY (id)"),
    ("DELETE", {"predicate": PINNED}, "DELETE FROM events WHERE day = :day"),
    ("DELETE", {"predicate": '["true"]'}, "DELETE FROM events"),
    ("DELETE", {"predicate": '["(id#1L = 7)"]'}, "DELETE FROM events WHERE id IN (:keys)"),
    ("UPDATE", {"predicate": "[\"(day#1 >= 2026-01-11)\"]"},
     "UPDATE events SET payload = payload + 1.0 WHERE day >= :day - 1"),
]  # fmt: skip


@pytest.mark.parametrize(("operation", "parameters", "statement"), CASES)
def test_a_kind_of_commit_becomes_its_statement(
    operation: str, parameters: dict[str, str], statement: str, log: LogOnDisk
) -> None:
    for number in range(5):
        filled = {key: text.replace("{}", str(number % 3)) for key, text in parameters.items()}
        log.commit(
            operation, _add(log.version, DAYS[number % 3]), operationParameters=filled,
            readVersion=log.version - 1,
        )  # fmt: skip
    draft = _drafted(log)
    writers = parse_scenario(draft.text).writers
    assert statement in {group.statement for group in writers.values()}
    assert not any(each.endswith(f" of {operation}") for each in draft.left_out)


def test_a_stream_is_told_by_its_application(log: LogOnDisk) -> None:
    for number in range(20):
        for query in ("q1", "q2"):
            progress = {"txn": {"appId": query, "version": number, "lastUpdated": 0}}
            log.commit("STREAMING UPDATE", progress, _add(log.version, DAYS[2]))
    draft = _drafted(log)
    first, second = _group(draft, "stream").streaming, _group(draft, "stream-2").streaming
    assert first is not None
    assert second is not None
    assert first.checkpoint != second.checkpoint
    assert first.rows.count == 5


def test_auto_compaction_has_a_writer_that_is_called_so(log: LogOnDisk) -> None:
    for number in range(4):
        for auto in ("true", "false"):
            parameters = {"predicate": "[]", "zOrderBy": "[]", "auto": auto}
            log.commit(
                "OPTIMIZE", _add(log.version, DAYS[number % 3]), operationParameters=parameters
            )
    draft = _drafted(log)
    assert "# 4 commits of OPTIMIZE, auto compaction" in draft.text
    assert {"optimize", "optimize-auto"} <= set(parse_scenario(draft.text).writers)


def test_operations_that_are_not_drafted_are_told_with_their_number(log: LogOnDisk) -> None:
    for _ in range(4):
        log.commit("VACUUM END")
    log.commit("ADD COLUMNS")
    draft = _drafted(log)
    assert list(draft.left_out) == [
        "1 commit of ADD COLUMNS", "1 commit of CREATE TABLE", "4 commits of VACUUM END",
    ]  # fmt: skip
    assert "# - 4 commits of VACUUM END" in draft.text


def test_a_group_that_its_engine_could_not_write_here_is_left_out_with_the_reason(
    tmp_path: Path,
) -> None:
    log = LogOnDisk(tmp_path / "events", properties={"delta.enableInCommitTimestamps": "true"})
    for number in range(5):
        log.append(DAYS[number % 3], engineInfo="Apache-Spark/4.2.0 Delta-Lake/4.4.0")
    for number in range(4):
        log.append(DAYS[number % 3], engineInfo="delta-rs:py-1.6.3")
    draft = _drafted(log)
    assert [writer.group.name for writer in draft.writers] == ["insert"]
    assert any("nCommitTimestamp" in each for each in draft.left_out), draft.left_out


def test_two_engines_on_one_table_have_a_dialect_each(log: LogOnDisk) -> None:
    for number in range(4):
        log.append(DAYS[number % 3], engineInfo="delta-rs:py-1.6.3")
    draft = _drafted(log)
    scenario = parse_scenario(draft.text)
    assert scenario.dialect == "delta-oss-4.4"
    assert scenario.writers["insert-2"].dialect == "delta-rs-1.6.3"


def test_a_single_commit_tells_no_rate_and_becomes_a_scenario_all_the_same(tmp_path: Path) -> None:
    log = LogOnDisk(tmp_path / "events")
    log.append(DAYS[0])
    draft = _drafted(log)
    assert "# assumed: 1 commit in" in draft.text
    assert _group(draft, "insert").arrival.open is not None


def test_a_single_batch_of_a_stream_becomes_a_query_of_one_batch_at_a_time(
    tmp_path: Path,
) -> None:
    log = LogOnDisk(tmp_path / "events")
    log.commit(
        "STREAMING UPDATE", {"txn": {"appId": "q", "version": 0, "lastUpdated": 0}},
        _add(log.version, DAYS[2]),
    )  # fmt: skip
    arrival = _group(_drafted(log), "stream").arrival.open
    assert arrival is not None
    assert arrival.concurrency == 1


def test_columns_named_as_words_of_sql_are_called_otherwise(tmp_path: Path) -> None:
    log = LogOnDisk(
        tmp_path / "events", "`order` STRING, id BIGINT, `my key` INT", ["order", "my key"]
    )
    for number in range(5):
        values = {"order": "a", "my key": str(number % 2)}
        add = {"add": _add(number, "")["add"] | {"partitionValues": values}}
        log.commit("WRITE", add)
    draft = _drafted(log)
    assert "order_column is the table's `order`; my_key is the table's `my key`" in draft.text
    scenario = parse_scenario(draft.text)
    assert scenario.table is not None
    assert scenario.table.partition_by == ["order_column", "my_key"]
    assert scenario.table.values["my_key"].among == [0, 1]


def test_a_run_on_the_tables_own_files_quotes_names_as_sql_does(tmp_path: Path) -> None:
    log = LogOnDisk(tmp_path / "events", "`order id` BIGINT, `my day` DATE", ["my day"])
    for number in range(5):
        values = {"my day": DAYS[number % 3]}
        add = {"add": _add(number, "")["add"] | {"partitionValues": values}}
        condition = f'["((my day#2 = {DAYS[number % 3]}) AND (order id#1L = 7))"]'
        log.commit("DELETE", add, operationParameters={"predicate": condition})
    draft = draft_of(observe(str(log.folder), 1000), Options(from_files=True))
    group, table = _group(draft, "delete"), parse_scenario(draft.text).table
    where = "`my day` = :`my day` AND `order id` IN (:keys)"
    assert group.statement == f"DELETE FROM events WHERE {where}"
    assert list(group.parameters) == ["my day", "keys"]
    assert table is not None
    assert table.key == "order id"


def test_rows_of_a_table_itself_need_a_key_that_it_has(tmp_path: Path) -> None:
    log = LogOnDisk(tmp_path / "events", "name STRING, v DOUBLE", [])
    for number in range(5):
        log.commit("WRITE", {"add": _add(number, "")["add"] | {"partitionValues": {}}})
    with pytest.raises(InvalidInput, match="need a key, and no BIGINT column"):
        draft_of(observe(str(log.folder), 1000), Options(from_files=True))
    for number in range(5):
        add = {"add": _add(number, "")["add"] | {"partitionValues": {}}}
        log.commit("OPTIMIZE", add, operationParameters={"zOrderBy": "[]"})
    draft = draft_of(observe(str(log.folder), 1000), Options(from_files=True))
    assert list(parse_scenario(draft.text).writers) == ["optimize"]
    assert any("insert, 5 commits: its rows need a key" in each for each in draft.left_out)


def _clustered(folder: Path, ddl: str, column: str) -> LogOnDisk:
    log = LogOnDisk(folder / "clustered", ddl, [])
    columns = json.dumps({"clusteringColumns": [[column]], "domainName": "delta.clustering"})
    domain = {"domain": "delta.clustering", "configuration": columns, "removed": False}
    features = ["clustering", "domainMetadata"]
    protocol = {"minReaderVersion": 1, "minWriterVersion": 7, "writerFeatures": features}
    log.commit("CLUSTER BY", {"protocol": protocol}, {"domainMetadata": domain})
    return log


def test_a_clustered_table_stays_one(tmp_path: Path) -> None:
    log = _clustered(tmp_path, "id BIGINT, score DOUBLE", "score")
    for number in range(5):
        log.commit("WRITE", {"add": _add(number, "")["add"] | {"partitionValues": {}}})
    scenario = parse_scenario(_drafted(log).text)
    assert scenario.table is not None
    assert (scenario.table.cluster_by, scenario.table.partition_by) == (["score"], [])


def test_a_table_may_be_clustered_by_its_key(tmp_path: Path) -> None:
    log = _clustered(tmp_path, "order_id BIGINT, score DOUBLE", "order_id")
    for number in range(10):
        add = {"add": _add(number, "")["add"] | {"partitionValues": {}}}
        condition = '["(order_id#1L = 7)"]'
        log.commit("UPDATE", add, operationParameters={"predicate": condition})
    draft = _drafted(log)
    table = parse_scenario(draft.text).table
    assert table is not None
    assert (table.cluster_by, table.key) == (["order_id"], "order_id")
    statement = str(_group(draft, "update").statement)
    assert statement.endswith("SET payload = payload + 1.0 WHERE order_id IN (:keys)")


@pytest.mark.parametrize("kind", ["DATE", "STRING", "INT", "BOOLEAN", "TIMESTAMP", "SMALLINT"])
def test_a_partition_column_without_a_value_becomes_a_scenario(kind: str, tmp_path: Path) -> None:
    log = LogOnDisk(tmp_path / "events", f"id BIGINT, p {kind}", ["p"])
    for number in range(4):
        log.commit("WRITE", {"add": _add(number, "")["add"] | {"partitionValues": {"p": None}}})
    assert parse_scenario(_drafted(log).text).table is not None
