"""Tables on disk: what they have is kept when changes are tried, and others may be read beside."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pytest
from click.testing import CliRunner
from deltalake import write_deltalake

import whitecap
from whitecap import explaining
from whitecap.cli import main
from whitecap.engine.commands import Table, run_statement
from whitecap.engine.dialects import DATABRICKS_14_3
from whitecap.engine.errors import InvalidInput
from whitecap.engine.sql.parsing.parse import parse_statement
from whitecap.engine.storage.disk.directory import DirectoryStore
from whitecap.engine.storage.memory import run

MERGE = (
    "MERGE INTO orders t USING updates s ON t.id = s.id"
    " WHEN MATCHED THEN UPDATE SET t.amount = s.amount"
)
DELETE = "DELETE FROM orders WHERE id = 3"


def make(path: Path, *statements: str) -> Path:
    store, table = DirectoryStore(path), Table("made", dialect=DATABRICKS_14_3)
    for sql in statements:
        run(run_statement(parse_statement(sql), {"made": table}), store)
    return path


@pytest.fixture
def orders(tmp_path: Path) -> Path:
    return make(
        tmp_path / "orders",
        "CREATE TABLE made (id BIGINT, day DATE, amount DOUBLE) PARTITIONED BY (day)",
        "INSERT INTO made VALUES (1, DATE'2026-03-01', 1), (3, DATE'2026-03-02', 3)",
    )


@pytest.fixture
def updates(tmp_path: Path) -> Path:
    return make(
        tmp_path / "updates",
        "CREATE TABLE made (id BIGINT, amount DOUBLE)",
        "INSERT INTO made VALUES (1, 10)",
    )


def test_a_merge_may_read_another_table_on_disk(orders: Path, updates: Path) -> None:
    explanation = whitecap.explain(orders, MERGE, DELETE, others={"updates": updates})
    assert explanation.can_conflict
    assert explanation.suggestions[0].change.key == "name_partitions"
    with pytest.raises(InvalidInput, match="statement A: updates: no such table"):
        whitecap.explain(orders, MERGE, DELETE)


def test_the_command_line_takes_other_tables_and_settings(orders: Path, updates: Path) -> None:
    arguments = ["explain", "--table", str(orders), MERGE, DELETE]
    shown = CliRunner().invoke(main, [*arguments, "--other", f"updates={updates}"])
    assert shown.exit_code == 0
    assert "Name the partitions" in shown.output
    wrong = CliRunner().invoke(main, [*arguments, "--other", str(updates)])
    assert wrong.exit_code == 2
    assert "NAME=PATH" in wrong.output
    missing = CliRunner().invoke(main, [*arguments, "--other", f"updates={updates}/nowhere"])
    assert missing.exit_code == 2
    assert "is no Delta table" in missing.output


def test_a_table_of_which_only_the_log_was_copied_is_bad_input_and_no_defect(orders: Path) -> None:
    for file in orders.rglob("*.parquet"):
        file.unlink()
    result = CliRunner().invoke(main, ["explain", "--table", str(orders), DELETE, DELETE])
    assert result.exit_code == 2, result.output
    assert result.stderr.startswith(f"error: {orders}: ")
    assert "File does not exist" in result.stderr
    assert "the log alone was copied" in result.stderr


def test_no_mistake_about_a_real_table_hides_another(orders: Path) -> None:
    words = ["explain", "--table", str(orders), "--conf", "spark.foo=1"]
    statements = ["UPDATE orders SET amont = 1", "DELETE FROM orders WHERE dya = '2026-03-01'"]
    names = CliRunner().invoke(main, [*words, *statements])
    assert names.exit_code == 2
    for said in ("spark.foo is not modelled", "did you mean 'amount'?", "did you mean 'day'?"):
        assert said in names.stderr
    texts = CliRunner().invoke(main, [*words, "--other", f"x={orders}/nowhere", "UPDAT x", DELETE])
    assert texts.exit_code == 2
    for said in ("spark.foo is not modelled", "nowhere: is no Delta table", "no such statement"):
        assert said in texts.stderr


def test_settings_of_the_session_count(orders: Path) -> None:
    setting = {"whitecap.rowLevelConcurrency.enabled": "false"}
    with pytest.raises(InvalidInput, match="Delta Lake has no row-level concurrency"):
        whitecap.explain(orders, DELETE, DELETE, settings=setting)
    plain = make(
        orders.parent / "plain",
        "CREATE TABLE made (id BIGINT) TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')",
        "INSERT INTO made VALUES (1), (2), (3)",
    )
    first, second = "DELETE FROM t WHERE id = 1", "DELETE FROM t WHERE id = 2"
    on = whitecap.explain(plain, first, second, dialect="databricks-14.3")
    off = whitecap.explain(plain, first, second, dialect="databricks-14.3", settings=setting)
    assert not on.can_conflict
    assert off.can_conflict
    arguments = ["explain", "--table", str(plain), first, second, "--dialect", "databricks-14.3"]
    shown = CliRunner().invoke(
        main, [*arguments, "--conf", "whitecap.rowLevelConcurrency.enabled=false"]
    )
    assert shown.output.startswith("They conflict")


def test_clustering_and_row_tracking_are_kept_where_changes_are_tried(tmp_path: Path) -> None:
    path = make(
        tmp_path / "t",
        "CREATE TABLE made (id BIGINT, v INT) CLUSTER BY (id)"
        " TBLPROPERTIES ('delta.enableRowTracking' = 'true')",
        "INSERT INTO made VALUES (1, 1), (2, 2)",
    )
    explanation = whitecap.explain(
        path, "UPDATE t SET v = 0 WHERE id = 1", "DELETE FROM t WHERE id = 2"
    )
    assert "clustered by id" in explanation.as_dict()["facts"]
    assert "row tracking" in explanation.as_dict()["facts"]
    (rows,) = (suggestion.change.case for suggestion in explanation.suggestions)
    assert rows.cluster_by == ("id",)
    assert rows.table.properties["delta.enableRowTracking"] == "true"


def test_a_clustered_table_is_not_told_to_be_partitioned_too() -> None:
    table = {
        "name": "t",
        "schema": "id BIGINT, day DATE, v INT",
        "cluster_by": ["day"],
        "files": [[{"id": 1, "day": "2026-01-01"}, {"id": 2, "day": "2026-01-02"}]],
    }
    explanation = whitecap.explain(
        table,
        "UPDATE t SET v = 0 WHERE day = '2026-01-01'",
        "DELETE FROM t WHERE day > '2026-01-01'",
    )
    partitioned = next(o.change for o in explanation.suggestions if o.change.key == "partition_by")
    assert partitioned.case.cluster_by == ()
    assert "instead of clustering it" in partitioned.title
    assert "CREATE OR REPLACE" not in partitioned.how[0]  # which Delta refuses


@pytest.fixture
def large(tmp_path: Path) -> Path:
    rows = pa.table({"id": pa.array(range(12_000), pa.int64()), "day": ["a", "b"] * 6_000})
    for half in (rows.slice(0, 6_000), rows.slice(6_000)):
        write_deltalake(tmp_path / "large", half, partition_by=["day"], mode="append")
    return tmp_path / "large"


def test_of_a_large_table_all_but_its_layout_is_tried(large: Path) -> None:
    explanation = whitecap.explain(
        large, "UPDATE t SET id = -1 WHERE id = 2", "DELETE FROM t WHERE id = 3"
    )
    assert [suggestion.change.key for suggestion in explanation.suggestions] == ["name_partitions"]
    document = explanation.as_dict()
    assert document["untried"] == "Other layouts were not tried: it has more than 10,000 rows."
    assert document["tried"] == ["Enable deletion vectors"]


def test_a_large_table_gets_row_level_concurrency_if_its_layout_allows_it(tmp_path: Path) -> None:
    rows = pa.table({"id": pa.array(range(12_000), pa.int64())})
    write_deltalake(tmp_path, rows)
    explanation = whitecap.explain(
        tmp_path, "DELETE FROM t WHERE id = 2", "DELETE FROM t WHERE id = 3"
    )
    assert [suggestion.change.key for suggestion in explanation.suggestions] == [
        "row_level_concurrency"
    ]


def test_a_table_that_databricks_wrote_is_told_so_where_deltas_rules_are_asked(
    orders: Path,
) -> None:
    def facts(dialect: str) -> str:
        explanation = whitecap.explain(orders, DELETE, DELETE, dialect=dialect)
        return str(explanation.as_dict()["facts"])

    assert "last written by Databricks-Runtime/14.3" in facts("delta-oss-4.4")
    assert "last written" not in facts("databricks-13.3")


def test_a_condition_on_the_time_sees_the_day_that_it_is(
    orders: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    later = "UPDATE orders SET amount = 0 WHERE day > current_date()"
    last = "DELETE FROM orders WHERE day = DATE'2026-03-02'"
    assert whitecap.explain(orders, later, last).explanation.idle == ("A",)
    instant = datetime(2026, 3, 1, 12, tzinfo=UTC)
    monkeypatch.setattr(explaining, "wall_clock_ms", lambda: int(instant.timestamp() * 1000))
    assert whitecap.explain(orders, later, last).can_conflict
