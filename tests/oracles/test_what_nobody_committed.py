"""Who is told that there was nothing to commit had nothing to do; who reads all misses nothing."""

from __future__ import annotations

from tests.oracles.hand_made import HandMade, add, remove
from tests.oracles.planted import ANY_ORDER, ROW_3
from whitecap.engine.log.actions import SetTransaction
from whitecap.sim.oracles.finding import Anomaly
from whitecap.sim.oracles.history import Promise
from whitecap.sim.oracles.judging import judge_evidence

BATCH_3 = '{"app_id": "s", "batch_id": 3, "rows": [{"id": 3, "v": 30}]}'


def test_an_insert_that_was_told_that_there_is_nothing_to_commit_is_lost() -> None:
    table = HandMade()
    table.did("loader", ROW_3, 0)
    (finding,) = table.findings()
    assert finding.anomaly is Anomaly.WRONG_ROWS
    assert finding.sentence == (
        "loader was told that there was nothing to commit, and its statement changes 1 row of "
        "version 0, which it read"
    )
    assert finding.rows == ("id=3, v=30",)


def test_statements_that_find_no_row_and_maintenance_commit_nothing_rightly() -> None:
    table = HandMade()
    table.did("eraser", "DELETE FROM t WHERE id = 9", 0)
    table.did("same", "UPDATE t SET v = 10 WHERE id = 1", 0)
    table.did("compactor", "OPTIMIZE t", 0)
    assert not table.findings()


def test_what_was_to_do_is_asked_of_the_version_that_was_read() -> None:
    table = HandMade()
    table.appends("b", [(3, 30)])
    table.did("loader", ROW_3, 0, 1)
    table.did("too early", "DELETE FROM t WHERE id = 3", 0)
    assert not table.findings()
    table.did("late", "DELETE FROM t WHERE id = 3", 1)
    assert [finding.transactions for finding in table.findings()] == [("late",)]


def test_a_batch_that_no_version_holds_is_lost_and_one_that_is_there_may_be_passed_over() -> None:
    table = HandMade()
    table.rows("b", [(3, 30)])
    table.commit(add("b"), SetTransaction("s", 3))
    table.did("first", BATCH_3, 0, 1, app_id="s", batch_id=3)
    table.did("second", BATCH_3, 1, app_id="s", batch_id=3)
    assert not table.findings()
    table.did("other", BATCH_3.replace('"s"', '"o"'), 1, app_id="o", batch_id=3)
    (finding,) = table.findings()
    assert "no version up to 1, which it read, records batch 3" in finding.sentence


def test_a_batch_that_is_passed_over_for_one_with_other_rows_is_lost() -> None:
    table = HandMade()
    table.rows("b", [(3, 30)])
    table.commit(add("b"), SetTransaction("s", 3))
    table.did("first", BATCH_3, 0, 1, app_id="s", batch_id=3)
    table.did("second", BATCH_3.replace("30", "31"), 1, app_id="s", batch_id=3)
    (finding,) = table.findings()
    assert "and version 1 holds other rows as its batch 3" in finding.sentence


def test_a_batch_records_itself_and_no_other() -> None:
    for progress, said in (([], "no batch"), ([SetTransaction("s", 4)], "4")):
        table = HandMade()
        table.rows("b", [(3, 30)])
        table.commit(add("b"), *progress)
        table.did("first", BATCH_3, 0, 1, app_id="s", batch_id=3)
        (finding,) = table.findings()
        assert finding.anomaly is Anomaly.PROGRESS
        assert f"is batch 3 and records {said} of its application" in finding.sentence


def test_what_cannot_be_run_is_named() -> None:
    table = HandMade()
    table.did("dice", "DELETE FROM t WHERE rand() < 0.5", 0)
    (gap,) = judge_evidence(table.evidence).not_checked
    assert gap.what == "what ended without a commit, having read one of 1 versions (0)"


def test_versions_whose_data_files_are_gone_are_named_together() -> None:
    table = HandMade()
    for version, path in enumerate("bc", start=1):
        table.commit(add(path))
        table.did(f"loader {path}", ROW_3, version - 1, version)
    gaps = judge_evidence(table.evidence).not_checked
    assert {gap.why for gap in gaps} == {"a data file is gone"}
    assert [gap.what for gap in gaps if gap.what.startswith("rows by statements")] == [
        "rows by statements of 2 versions (1, 2)"
    ]


def test_a_write_with_an_identity_may_have_been_there() -> None:
    table = HandMade(Promise(settings={"spark.databricks.delta.write.txnAppId": "s"}))
    table.did("loader", ROW_3, 0)
    (gap,) = judge_evidence(table.evidence).not_checked
    assert gap.why == "a write with an identity, which the table may have had"


def _missed_removal(table: HandMade, reads_table: bool) -> HandMade:
    """A batch is appended as of version 1; version 2 took a row away before it."""
    text = BATCH_3[:-1] + (', "reads_table": true}' if reads_table else "}")
    table.appends("b", [(4, 40)])
    table.commit(remove("b"))
    table.rows("c", [(3, 30)])
    table.commit(add("c"), SetTransaction("s", 3))
    table.did("loader", "INSERT INTO t VALUES (4, 40)", 0, 1)
    table.did("eraser", "DELETE FROM t WHERE id = 4", 1, 2)
    table.did("stream", text, 1, 3, app_id="s", batch_id=3)
    return table


def test_a_query_that_reads_the_table_may_miss_nothing_at_serializable() -> None:
    (finding,) = _missed_removal(HandMade(), reads_table=True).findings()
    assert finding.anomaly is Anomaly.G_SINGLE
    assert finding.transactions == ("stream", "eraser")
    assert not _missed_removal(HandMade(), reads_table=False).findings()
    assert not _missed_removal(HandMade(ANY_ORDER), reads_table=True).findings()
