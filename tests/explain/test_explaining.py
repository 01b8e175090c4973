"""`explain` from Python and the command line: real tables, suggestions, and wrong input."""

from __future__ import annotations

import json
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from click.testing import CliRunner
from deltalake import write_deltalake

import whitecap
from whitecap.cli import main
from whitecap.engine.commands import Table, run_statement
from whitecap.engine.dialects import dialect_named
from whitecap.engine.errors import InvalidInput
from whitecap.engine.races.explain.conditions import condition_of
from whitecap.engine.sql.parsing.parse import parse_statement
from whitecap.engine.storage.disk.directory import DirectoryStore
from whitecap.engine.storage.memory import run

TABLE = {
    "name": "t",
    "schema": "id BIGINT, day DATE, v INT",
    "files": [[{"id": 1, "day": "2026-01-01", "v": 1}, {"id": 2, "day": "2026-01-01"}]],
}
YAML = """
name: t
schema: "id BIGINT, day DATE, v INT"
partition_by: [day]
files:
  - - {id: 1, day: 2026-01-01, v: 1}
    - {id: 2, day: 2026-01-02, v: 2}
    - {id: 3, day: 2026-01-02, v: 3}
"""
UPDATE, DELETE = "UPDATE t SET v = 2 WHERE id = 1", "DELETE FROM t WHERE id = 2"


def keys(explanation: whitecap.Explained) -> list[str]:
    return [suggestion.change.key for suggestion in explanation.suggestions]


def test_a_table_may_be_a_dictionary_or_yaml_text() -> None:
    assert whitecap.explain(TABLE, UPDATE, DELETE).can_conflict
    assert keys(whitecap.explain(YAML, UPDATE, DELETE))[0] == "name_partitions"


def test_a_condition_on_the_time_sees_the_start_of_the_table_or_now() -> None:
    days = [date(2026, 3, 1), date(2026, 3, 2)]
    table: dict[str, Any] = {
        "schema": "id BIGINT, date DATE",
        "partition_by": ["date"],
        "files": [[{"id": id_, "date": day}] for id_, day in enumerate(days)],
    }
    older = "UPDATE events SET id = 0 WHERE date < current_date()"
    first = "UPDATE events SET id = 5 WHERE date = DATE'2026-03-01'"
    why = whitecap.explain({**table, "start": datetime(2026, 3, 1, 8)}, older, first)
    assert why.answer == "They cannot conflict on this table: A has nothing to commit."
    why = whitecap.explain({**table, "start": datetime(2026, 3, 2, 8)}, older, first)
    assert "whichever commits second is aborted" in why.answer
    assert why.explanation.facts.endswith("at 2026-03-02 08:00:00 UTC")
    assert whitecap.explain(table, older, first).can_conflict  # both days are in the past


def test_two_inserts_cannot_conflict_and_nothing_is_suggested() -> None:
    insert = "INSERT INTO t VALUES (3, DATE'2026-01-01', 3)"
    explanation = whitecap.explain(TABLE, insert, insert)
    assert explanation.answer == "They cannot conflict: both end well in every order."
    assert not explanation.conflicts
    assert not explanation.suggestions


def test_only_the_one_that_reads_is_aborted() -> None:
    explanation = whitecap.explain(TABLE, UPDATE, "INSERT INTO t VALUES (3, DATE'2026-01-01', 3)")
    assert explanation.answer == (
        "They conflict: A is aborted if B commits first (ConcurrentAppendException)."
    )


def test_a_metadata_conflict_is_explained_without_a_file() -> None:
    explanation = whitecap.explain(
        TABLE, UPDATE, "ALTER TABLE t SET TBLPROPERTIES ('team' = 'sea')"
    )
    assert [(c.loser, c.verdict.exception.value, c.file) for c in explanation.conflicts] == [
        ("A", "MetadataChangedException", "")
    ]
    assert not explanation.suggestions


def test_enabling_a_feature_is_harmless_on_a_newer_delta() -> None:
    enable = "ALTER TABLE t SET TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')"
    assert "newer_delta" in keys(whitecap.explain(TABLE, UPDATE, enable, dialect="delta-oss-3.3"))


def test_changes_of_one_row_are_not_said_to_be_avoidable() -> None:
    explanation = whitecap.explain(TABLE, UPDATE, "DELETE FROM t WHERE id = 1")
    assert explanation.can_conflict
    assert "row_level_concurrency" not in keys(explanation)


def table_on_disk(path: Path) -> None:
    store = DirectoryStore(path)
    for sql in (
        "CREATE TABLE t (id BIGINT, day DATE, v INT) USING delta PARTITIONED BY (day)",
        "INSERT INTO t VALUES (1, DATE'2026-01-01', 1), (2, DATE'2026-01-02', 2),"
        " (3, DATE'2026-01-02', 3)",
    ):
        run(run_statement(parse_statement(sql), {"t": Table("t")}), store)


def everything_in(path: Path) -> dict[str, bytes]:
    return {str(file): file.read_bytes() for file in path.rglob("*") if file.is_file()}


def test_a_real_table_is_explained_and_left_as_it_is(tmp_path: Path) -> None:
    table_on_disk(tmp_path)
    before = everything_in(tmp_path)
    explanation = whitecap.explain(tmp_path, UPDATE, DELETE)
    assert everything_in(tmp_path) == before
    assert explanation.can_conflict
    assert explanation.conflicts[0].partition == "[day=2026-01-01]"
    assert keys(explanation)[0] == "name_partitions"


def test_a_real_table_gives_the_same_answer_as_its_rows_in_yaml(tmp_path: Path) -> None:
    table_on_disk(tmp_path)
    real, small = whitecap.explain(tmp_path, UPDATE, DELETE), whitecap.explain(YAML, UPDATE, DELETE)
    assert [order.endings for order in real.orders] == [order.endings for order in small.orders]
    assert keys(real) == keys(small)


def test_a_real_table_of_another_writer_is_copied_whatever_its_types(tmp_path: Path) -> None:
    rows = pa.table(
        {
            "id": pa.array([1, 2], pa.int64()),
            "at": pa.array([datetime(2026, 1, 1, 3), None], pa.timestamp("us", "UTC")),
            "price": pa.array([Decimal("1.50"), None], pa.decimal128(10, 2)),
            "name": ["it's", None],
            "ok": [True, None],
        }
    )
    write_deltalake(tmp_path, rows)
    explanation = whitecap.explain(tmp_path, UPDATE.replace("v = 2", "ok = FALSE"), DELETE)
    assert explanation.can_conflict
    assert explanation.as_dict()["untried"] == ""
    assert "row_level_concurrency" in keys(explanation)


def test_a_notebook_shows_the_answer_and_the_suggestions() -> None:
    html = whitecap.explain(YAML, UPDATE, DELETE)._repr_html_()
    assert "whichever commits second is aborted" in html
    assert "day = DATE &#39;2026-01-01&#39;" in html
    assert "<script" not in html


def test_every_problem_of_a_table_is_told_with_its_line_and_the_nearest_name() -> None:
    wrong = """
name: t
schema: "id BIGINT, day DATE"
partition_by: [dya]
isolaton: Serializable
"""
    with pytest.raises(InvalidInput, match="table:5 isolaton: unknown key") as unknown:
        whitecap.explain(wrong, UPDATE, DELETE)
    assert unknown.value.problems[0].nearest == "isolation"
    rows = wrong.replace("isolaton: Serializable", "files:\n  - - {id: one, dy: 2026-01-01}")
    with pytest.raises(InvalidInput) as raised:
        whitecap.explain(rows + "dialect: delta-oss-4\n", UPDATE, DELETE)
    assert [str(problem) for problem in raised.value.problems] == [
        "table:4 partition_by.0: there is no column 'dya' (did you mean 'day'?)",
        "table:6 files.0.0.id: 'one' is no BIGINT",
        "table:6 files.0.0.dy: there is no such column (did you mean 'day'?)",
        "table:7 dialect: there is no dialect 'delta-oss-4' (did you mean 'delta-oss-4.4'?)",
        "statement A: v: no such column",
    ]


def test_statements_must_write_the_table_in_question() -> None:
    with pytest.raises(InvalidInput, match="statement B: writes u, not t"):
        whitecap.explain(TABLE, UPDATE, "DELETE FROM u WHERE id = 1")
    with pytest.raises(InvalidInput, match="two are needed"):
        whitecap.explain(TABLE, UPDATE)


def test_a_folder_without_a_log_is_no_table(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="is no Delta table"):
        whitecap.explain(tmp_path, UPDATE, DELETE)


def test_a_condition_is_extended_where_it_ends_and_nowhere_else() -> None:
    merge = condition_of(
        "MERGE INTO t USING (SELECT * FROM u WHERE id = 1) AS s ON t.id = s.id OR t.v = 1"
        " WHEN MATCHED THEN DELETE"
    )
    assert merge is not None
    assert merge.with_conjunct("t.day = 1") == (
        "MERGE INTO t USING (SELECT * FROM u WHERE id = 1) AS s ON (t.id = s.id OR t.v = 1)"
        " AND t.day = 1 WHEN MATCHED THEN DELETE"
    )
    everything = condition_of("DELETE FROM t;")
    assert everything is not None
    assert everything.with_conjunct("day = 1") == "DELETE FROM t WHERE day = 1"
    assert condition_of("OPTIMIZE t") is None


def test_the_command_answers_first_and_writes_json_and_html(tmp_path: Path) -> None:
    path = tmp_path / "t.yaml"
    path.write_text(YAML)
    shown = CliRunner().invoke(main, ["explain", "--table", str(path), UPDATE, DELETE])
    assert shown.exit_code == 0
    assert shown.output.startswith("They conflict: whichever commits second is aborted")
    assert "What avoids it" in shown.output
    arguments = ["explain", "--table", str(path), UPDATE, DELETE, "--format"]
    written = CliRunner().invoke(main, [*arguments, "json"])
    assert json.loads(written.output)["conflicts"][0]["rule"] == "added_files"
    page = tmp_path / "page.html"
    assert CliRunner().invoke(main, [*arguments, "html", "--out", str(page)]).exit_code == 0
    assert page.read_text().startswith("<!DOCTYPE html>")


def test_the_ending_of_out_names_the_format_and_a_bad_one_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.yaml"
    path.write_text(YAML)
    arguments = ["explain", "--table", str(path), UPDATE, DELETE, "--out"]
    document = tmp_path / "found.json"
    assert CliRunner().invoke(main, [*arguments, str(document)]).exit_code == 0
    assert json.loads(document.read_text())["conflicts"]
    page = tmp_path / "found.htm"
    assert CliRunner().invoke(main, [*arguments, str(page)]).exit_code == 0
    assert page.read_text().startswith("<!DOCTYPE html>")
    refused = CliRunner().invoke(main, [*arguments, str(tmp_path / "found.txt")])
    assert refused.exit_code == 2
    assert "one of json, html" in refused.output


def test_the_command_refuses_a_table_that_is_not_there() -> None:
    result = CliRunner().invoke(main, ["explain", "--table", "nowhere.yaml", UPDATE, DELETE])
    assert result.exit_code == 2
    assert "cannot be read" in result.output


def test_databricks_levels_can_be_chosen_for_the_table() -> None:
    table = {**TABLE, "isolation": "Serializable", "dialect": "databricks-13.3"}
    insert = "INSERT INTO t VALUES (3, DATE'2026-01-01', 3)"
    assert dialect_named("databricks-13.3").default_isolation == "WriteSerializable"
    assert "write_serializable" in keys(whitecap.explain(table, UPDATE, insert))


APPEND = "INSERT INTO t VALUES (9, DATE'2026-01-02', 1)"


@pytest.mark.parametrize(
    ("first", "options", "code"),
    [
        (UPDATE, [], 0),
        (UPDATE, ["--fail-on-conflict"], 1),
        (UPDATE, ["--fail-on-conflict", "--format", "json"], 1),
        (APPEND, ["--fail-on-conflict"], 0),
    ],
)
def test_a_conflict_is_an_exit_code_where_that_is_asked_for(
    tmp_path: Path, first: str, options: list[str], code: int
) -> None:
    path = tmp_path / "t.yaml"
    path.write_text(YAML)
    second = APPEND if first == APPEND else DELETE
    command = ["explain", "--table", str(path), first, second, *options]
    assert CliRunner().invoke(main, command).exit_code == code
