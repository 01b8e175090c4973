"""Statements of one shape are translated once, and each as if by itself."""

from __future__ import annotations

import pytest
from sqlglot import exp

from whitecap.engine.log.schema import parse_ddl
from whitecap.sim.oracles.statements import text as statement_text
from whitecap.sim.oracles.statements.columns import TableColumns
from whitecap.sim.oracles.statements.parsing import NotTranslated, parsed
from whitecap.sim.oracles.statements.shapes import shape_of
from whitecap.sim.oracles.statements.text import meaning_of

COLUMNS = TableColumns(("id", "kind", "day", "amount"), frozenset(), ())

FORMS = (
    "UPDATE t SET amount = amount * {0}.5 WHERE id = {0} AND kind = 'k{0}'",
    "DELETE FROM t WHERE id BETWEEN -{0} AND {0} OR day < DATE '2024-01-{0}'",
    "INSERT INTO t VALUES ({0}, 'it''s {0}', DATE '2024-01-{0}', {0}.25D), ({0}, 'b', NULL, 1D)",
    "MERGE INTO t USING (SELECT * FROM VALUES ({0}, 'a', DATE '2024-01-{0}', {0}D) AS v(id, kind, "
    "day, amount)) AS s ON t.id = s.id WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN "
    "INSERT *",
    "UPDATE `t` SET kind = CASE WHEN amount > 1e{0} THEN 'x\\'{0}' ELSE \"y{0}\" END",
    "DELETE FROM t WHERE day < TIMESTAMP '2024-01-{0} 00:00:00' - INTERVAL '{0}' DAY",
    "DELETE FROM t WHERE id = {0} -- the {0}th",
    "DELETE FROM t WHERE id = 9173000{0}05",
)


@pytest.mark.parametrize("form", FORMS)
def test_each_statement_of_a_shape_means_what_it_means_by_itself(form: str) -> None:
    for number in (11, 12, 28):
        statement = form.format(number)
        by_itself = statement_text._translated(statement, COLUMNS, False)
        assert meaning_of(statement, COLUMNS, False) == by_itself


def test_statements_that_differ_in_literals_alone_are_read_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    read: list[str] = []

    def noted(text: str) -> exp.Expr:
        read.append(text)
        return parsed(text)

    monkeypatch.setattr(statement_text, "parsed", noted)
    for number in range(100, 110):
        meaning_of(f"UPDATE t SET amount = {number}.0 WHERE id = {number}", COLUMNS, False)
    assert len(read) == 2


def test_names_and_parts_of_names_are_no_literals() -> None:
    shape = shape_of("UPDATE t1 SET `c 2` = 3 WHERE v4.x = '5'")
    assert shape is not None
    assert shape.literals == ("3", "'5'")
    assert shape.filled(shape.text) == "UPDATE t1 SET `c 2` = 3 WHERE v4.x = '5'"


def test_the_name_of_a_with_is_inside_of_it_still_that_of_a_table() -> None:
    meaning_of("INSERT INTO t WITH b AS (SELECT * FROM t) SELECT * FROM b", COLUMNS, False)
    with pytest.raises(NotTranslated, match="it reads b, whose rows are not known"):
        meaning_of("INSERT INTO t WITH b AS (SELECT * FROM b) SELECT * FROM b", COLUMNS, False)


FILLS_IN = TableColumns(("id", "kind"), frozenset({"kind"}), ())


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        ("(id) VALUES (1)", "a value of column kind"),
        ("BY NAME SELECT 1 AS id", "a value of column kind"),
        ("BY NAME SELECT * FROM VALUES (1) AS v(id)", "a value of column kind"),
        ("BY NAME SELECT * FROM (SELECT 1 AS id)", "all columns of a query"),
        ("BY NAME SELECT 1 AS id UNION ALL SELECT 2", "a query other than SELECT"),
        ("PARTITION (kind = 'a') VALUES (1)", "INSERT into a named partition"),
        ("PARTITION (kind = 'a') (id) VALUES (1)", "INSERT into a named partition"),
    ],
)
def test_what_an_insert_leaves_to_the_table_is_not_translated(query: str, reason: str) -> None:
    with pytest.raises(NotTranslated, match=reason):
        meaning_of(f"INSERT INTO t {query}", FILLS_IN, False)


def test_an_insert_of_all_columns_by_name_is_translated() -> None:
    for query in ("SELECT 'a' AS KIND, 1 AS id", "SELECT * FROM VALUES ('a', 1) AS v(kind, id)"):
        meaning_of(f"INSERT INTO t BY NAME {query}", FILLS_IN, False)


def test_comments_and_physical_names_do_not_fill_in_a_column() -> None:
    schema = parse_ddl("id BIGINT COMMENT 'a key', kind STRING DEFAULT 'a'")
    assert TableColumns.of(schema, ()).filled_in == {"kind"}
