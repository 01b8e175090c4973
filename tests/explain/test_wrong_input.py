"""Wrong statements and tables: every problem at once, with its place and the nearest name."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner

import whitecap
from tests.scenario.wrong_values import PYDANTIC, WRONG
from whitecap.cli import main
from whitecap.engine.errors import InvalidInput
from whitecap.sim.rehearsal.small_table import case_in, text_of

ORDERS = """
name: orders
schema: "order_id BIGINT, status STRING, country STRING, amount DOUBLE"
files:
  - - {order_id: 1, status: open, country: DE, amount: 1.0}
other_tables:
  - name: updates
    schema: "order_id BIGINT, status STRING"
    files: [[{order_id: 1, status: paid}]]
"""
FINE = "DELETE FROM orders WHERE order_id = 1"


def problems(a: str, b: str = FINE, table: str = ORDERS) -> list[str]:
    with pytest.raises(InvalidInput) as refused:
        whitecap.explain(table, a, b)
    return [str(problem) for problem in refused.value.problems]


def test_every_misspelt_column_of_both_statements_is_named() -> None:
    assert problems(
        "UPDATE orders SET statu = 'x' WHERE contry = 'DE'",
        "DELETE FROM orders WHERE order_idd = 1 AND ammount > 2",
    ) == [
        "statement A: statu: no such column (did you mean 'status'?)",
        "statement A: contry: no such column (did you mean 'country'?)",
        "statement B: order_idd: no such column (did you mean 'order_id'?)",
        "statement B: ammount: no such column (did you mean 'amount'?)",
    ]


def test_columns_of_a_merge_are_looked_up_in_the_table_that_they_are_qualified_by() -> None:
    merge = (
        "MERGE INTO orders t USING updates s ON t.orderid = s.order_id AND t.country = s.country"
        " WHEN MATCHED AND s.amout > 1 THEN UPDATE SET t.stats = s.status"
    )
    assert problems(merge) == [
        "statement A: t.orderid: no such column (did you mean 'order_id'?)",
        "statement A: s.country: no such column",
        "statement A: s.amout: no such column",
        "statement A: stats: no such column (did you mean 'status'?)",
    ]


@pytest.mark.parametrize(
    ("statement", "problem"),
    [
        ("OPTIMIZE orders ZORDER BY (contry)", "contry: no such column (did you mean 'country'?)"),
        (
            "INSERT INTO orders (order_id, amont) VALUES (1, 2)",
            "amont: no such column (did you mean 'amount'?)",
        ),
        ("DELETE FROM orders o WHERE x.amount = 1", "x.amount: no such table here"),
        ("UPDAT orders SET amount = 1", "'UPDAT': no such statement (did you mean 'UPDATE'?)"),
        ("DELETE FROM order WHERE amount = 1", "writes order, not orders"),
        ("DELETE FROM orders WHERE amount = :x", ":x: has no value"),
        ("", "is empty"),
        (
            "SELECT * FROM orders",
            "SELECT writes nothing: whoever only reads sees one version and conflicts with nobody",
        ),
    ],
)
def test_a_problem_says_which_statement_has_it(statement: str, problem: str) -> None:
    assert problems(FINE, statement) == [f"statement B: {problem}"]


def test_broken_sql_in_one_and_a_missing_table_in_the_other_are_told_together() -> None:
    merge = "MERGE INTO orders t USING update s ON t.order_id = s.order_id WHEN MATCHED THEN DELETE"
    first, second = problems("UPDATE orders SET status = 'x' WHERE country =", merge)
    assert first.startswith("statement A: line 1, column ")
    assert second == "statement B: update: no such table (did you mean 'updates'?)"


def test_problems_of_keys_and_of_columns_are_told_together() -> None:
    table = """
nam: orders
schema: "order_id BIGIN, day DATE"
isolation: Serialisable
"""
    texts = problems(FINE, FINE, table)
    assert "table:2 nam: unknown key (did you mean 'name'?)" in texts
    assert any("schema" in text and "BIGIN" in text for text in texts)
    assert any("'Serialisable' is none of" in text for text in texts)


STATEMENTS_WITH_MISTAKES = """
statements:
- UPDATE orders SET amout = 1.0
- DELET FROM orders
"""


@pytest.mark.parametrize(
    "mistake",
    [
        "foo: 1",
        "partition_by: [countr]",
        "isolation: Serialisable",
        "dialect: delta-oss-4",
        "properties: {delta.enableDeletionVector: true}",
        "settings: {spark.sql.ansi.enable: true}",
        "properties: {delta.columnMapping.mode: oops}",
        "name: orders",
    ],
)
def test_mistakes_of_the_table_hide_none_of_the_statements_beside_it(mistake: str) -> None:
    table = f"{ORDERS}{mistake}{STATEMENTS_WITH_MISTAKES}"
    with pytest.raises(InvalidInput) as refused:
        whitecap.explain(table)
    texts = [str(problem) for problem in refused.value.problems]
    key = mistake.partition(":")[0]
    assert key in texts[0] or "Delta refuses to make it" in texts[0]
    assert texts[1:] == [
        "statement A: amout: no such column (did you mean 'amount'?)",
        "statement B: 'DELET': no such statement (did you mean 'DELETE'?)",
    ]


def test_mistakes_of_the_table_hide_none_of_the_statements_that_are_given() -> None:
    assert problems("UPDATE orders SET amout = 1.0", FINE, f"{ORDERS}foo: 1\n")[1:] == [
        "statement A: amout: no such column (did you mean 'amount'?)"
    ]


@pytest.mark.parametrize("key", ["name", "schema", "other_tables"])
def test_nothing_is_missed_of_tables_that_cannot_be_read(key: str) -> None:
    merge = (
        "MERGE INTO orders t USING updates s ON t.order_id = s.order_id WHEN MATCHED THEN DELETE"
    )
    table = yaml.safe_dump({**yaml.safe_load(ORDERS), key: 1})
    with pytest.raises(InvalidInput) as refused:
        whitecap.explain(table, merge, FINE)
    assert len(refused.value.problems) == 1
    assert f" {key}" in str(refused.value)


def test_a_table_with_mistakes_and_without_statements_says_both() -> None:
    with pytest.raises(InvalidInput) as refused:
        whitecap.explain(f"{ORDERS}foo: 1\n")
    assert [problem.place for problem in refused.value.problems][1:] == ["statements"]


def test_statements_that_are_no_two_are_told_once() -> None:
    with pytest.raises(InvalidInput) as refused:
        whitecap.explain(f"{ORDERS}statements: [DELETE FROM orders]\n")
    assert len(refused.value.problems) == 1


def test_a_property_that_delta_does_not_know_is_refused_with_the_nearest() -> None:
    table = ORDERS + "properties: {delta.enableDeletionVector: true, team: sea}\n"
    (problem,) = problems(FINE, FINE, table)
    assert problem.endswith(
        "delta.enableDeletionVector: Delta has no such property"
        " (did you mean 'delta.enableDeletionVectors'?)"
    )


@pytest.mark.parametrize("text", ["", "- 1\n- 2\n", "orders\n"])
def test_a_file_that_is_no_mapping_is_told_in_words(text: str, tmp_path: Path) -> None:
    path = tmp_path / "table.yaml"
    path.write_text(text)
    result = CliRunner().invoke(main, ["explain", "--table", str(path), FINE, FINE])
    assert result.exit_code == 2
    assert "table.yaml:1: must be keys with values, such as name and schema" in result.output


def test_a_scenario_in_the_place_of_a_table_is_called_one(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text("format_version: 1\nname: a\nwriters: {}\ntable: {schema: id BIGINT}\n")
    result = CliRunner().invoke(main, ["explain", "--table", str(path), FINE, FINE])
    assert result.exit_code == 2
    said = "is a scenario: --table takes one table with its rows (name, schema, files)"
    in_python = "so does the first argument in Python"
    whole = f"{said}, or a Delta table's directory; {in_python}"
    assert result.stderr == f"error: {path}:1: {whole}\n"


def test_an_expectation_that_nobody_would_check_is_no_key_of_a_table() -> None:
    (problem,) = problems(FINE, table=ORDERS + "expected: {exceptions: []}")
    assert "expected" in problem


EVERY_KEY = {
    "name": "events",
    "schema": "id BIGINT, date DATE",
    "partition_by": ["date"],
    "cluster_by": [],
    "isolation": "Serializable",
    "properties": {"delta.enableDeletionVectors": "true"},
    "files": [[{"id": 1, "date": "2026-01-14"}]],
    "dialect": "delta-oss-4.4",
    "settings": {"spark.sql.ansi.enabled": "true"},
    "other_tables": [{"name": "updates", "schema": "id BIGINT"}],
    "statements": ["DELETE FROM events", "DELETE FROM events"],
}


@pytest.mark.parametrize("key", sorted(EVERY_KEY))
@pytest.mark.parametrize("kind", sorted(WRONG))
def test_a_wrong_value_is_told_plainly_and_at_its_line(key: str, kind: str) -> None:
    value = WRONG[kind]
    text = yaml.safe_dump({**EVERY_KEY, key: "MARK"}, sort_keys=False, width=1000)
    line = next(at for at, shown in enumerate(text.splitlines(), 1) if "MARK" in shown)
    flow = yaml.safe_dump(value, default_flow_style=True).removesuffix("\n").removesuffix("\n...")
    try:
        problems = case_in(text_of(text.replace("MARK", flow))).problems
    except InvalidInput as error:
        problems = error.problems
    if texts := [str(problem) for problem in problems]:
        for words in PYDANTIC:
            assert not any(words in problem for problem in texts), texts
        assert any(problem.startswith(f"table:{line}") for problem in texts), texts


def test_a_table_that_never_was_a_text_has_places_and_no_lines() -> None:
    table = {
        "name": "orders", "schema": "order_id BIGINT, status STRNG", "files": [[1]], "isolaton": 1,
    }  # fmt: skip
    with pytest.raises(InvalidInput) as refused:
        whitecap.explain(table, FINE, FINE)
    places = {problem.place for problem in refused.value.problems}
    assert places == {"table isolaton", "table schema", "table files.0.0"}
