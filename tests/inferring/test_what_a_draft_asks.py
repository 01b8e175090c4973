"""What a log cannot tell for sure, a draft says or asks: keys, writers, changes of metadata."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.inferring.synthetic_logs import LogOnDisk
from whitecap.sim.inferring.drafting import DraftedScenario, draft_of
from whitecap.sim.inferring.log.observed import observe
from whitecap.sim.inferring.text import Options
from whitecap.sim.loading import parse_scenario

TIMES = 5
ON = '["((customer_id#1L = customer_id#2L) AND (order_id#3L = order_id#4L))"]'


def _drafted(log: LogOnDisk) -> DraftedScenario:
    return draft_of(observe(str(log.folder), 1000), Options())


def _said(draft: DraftedScenario) -> str:
    """The draft with its comments on one line."""
    return " ".join(draft.text.replace("#", "").split())


def _add(number: int, customers: int) -> dict[str, Any]:
    """A file of 100 rows, each an order of one of so many customers."""
    least = {"customer_id": 1, "order_id": 100 * number}
    most = {"customer_id": customers, "order_id": 100 * number + 99}
    statistics = {"numRecords": 100, "minValues": least, "maxValues": most}
    return {
        "add": {
            "path": f"{number}.parquet", "partitionValues": {}, "size": 500, "dataChange": True,
            "modificationTime": 0, "stats": json.dumps(statistics),
        }
    }  # fmt: skip


def _orders(folder: Path, ddl: str, customers: int) -> LogOnDisk:
    log = LogOnDisk(folder / "orders", ddl, [])
    for number in range(TIMES):
        log.commit("WRITE", _add(number, customers))
        parameters = {"predicate": ON}
        log.commit("MERGE", _add(100 + number, customers), operationParameters=parameters)
    return log


def test_a_column_whose_values_repeat_in_a_file_is_no_key(tmp_path: Path) -> None:
    log = _orders(tmp_path, "customer_id BIGINT, order_id BIGINT", customers=20)
    draft = _drafted(log)
    table = parse_scenario(draft.text).table
    assert table is not None
    assert table.key == "order_id"


def test_where_every_candidate_repeats_the_draft_says_that_its_key_is_made_up(
    tmp_path: Path,
) -> None:
    log = _orders(tmp_path, "customer_id BIGINT, order_id STRING", customers=20)
    draft = _drafted(log)
    table = parse_scenario(draft.text).table
    assert table is not None
    assert table.key == "row_key"
    assert "files have more rows than values of 1 column: this one is made up" in _said(draft)


def test_a_key_of_several_columns_is_asked_for(tmp_path: Path) -> None:
    log = _orders(tmp_path, "customer_id BIGINT, order_id BIGINT", customers=1000)
    said = "5 of 5 conditions of MERGE name it, with 1 other column: is it unique by itself?"
    assert said in _said(_drafted(log))


def test_a_key_is_not_asked_for_where_the_others_have_values(tmp_path: Path) -> None:
    log = LogOnDisk(tmp_path / "orders", "order_id BIGINT, region STRING", [])
    condition = '["((order_id#1L = order_id#2L) AND (region#3 = DE))"]'
    for number in range(TIMES):
        log.commit("MERGE", _add(number, 1), operationParameters={"predicate": condition})
    said = _said(_drafted(log))
    assert "5 of 5 conditions of MERGE name it" in said
    assert "unique by itself" not in said


def test_writers_that_refuse_each_other_may_be_more_than_committed_at_a_time(
    tmp_path: Path,
) -> None:
    log = LogOnDisk(tmp_path / "events")
    for number in range(TIMES):
        log.append("2026-01-12", readVersion=log.version - 1)
        changed = {"add": _add(number, 1)["add"] | {"partitionValues": {"day": "2026-01-12"}}}
        parameters = {"predicate": "[]"}
        log.commit("UPDATE", changed, operationParameters=parameters, readVersion=log.version - 1)
    said = _said(_drafted(log))
    assert said.count("no two of its jobs ran at a time and committed count: 1") == 1
    assert said.count("no two of its jobs ran at a time count: 1") == 1


def test_appends_that_change_the_metadata_too_are_told(tmp_path: Path) -> None:
    log = LogOnDisk(tmp_path / "events", "id BIGINT, v DOUBLE", [])
    made = json.loads((log.log / f"{0:020d}.json").read_text().splitlines()[2])
    for number in range(TIMES):
        log.commit("WRITE", made, _add(number, 1000))
    assert "5 of 5 commits change the table's metadata too" in _said(_drafted(log))
