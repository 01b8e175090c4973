"""Statements: parsed into their parts once, bound to values, and written out again as Spark SQL."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pytest

from whitecap.engine.errors import InvalidInput, UnsupportedFeature
from whitecap.engine.sql.expressions.rendering import sql_literal
from whitecap.engine.sql.expressions.spark_text import DIALECT
from whitecap.engine.sql.expressions.syntax_trees import parse_node
from whitecap.engine.sql.parsing.parse import parse_statement
from whitecap.engine.sql.parsing.statements import (
    Act,
    Delete,
    Insert,
    Match,
    Merge,
    Optimize,
    Select,
    Values,
)


def test_a_statement_is_parsed_once_and_its_bindings_share_its_plans() -> None:
    text = "DELETE FROM t WHERE date = :date AND k IN (:keys)"
    statement = parse_statement(text)
    assert parse_statement(text) is statement
    bound = statement.with_parameters({"date": date(2026, 1, 1), "keys": [1, 2]})
    assert bound.plans is statement.plans
    assert bound.sql() == "DELETE FROM t WHERE date = DATE '2026-01-01' AND k IN (1, 2)"


@pytest.mark.parametrize(
    "text",
    [
        "d = DATE '2026-01-14' AND e = CAST('2026-01-15' AS DATE)",
        "a > TIMESTAMP '2026-01-01 10:00:00'",
        "n > TIMESTAMP_NTZ '2026-01-01 10:00:00'",
    ],
)
def test_a_typed_literal_is_written_as_delta_writes_it(text: str) -> None:
    """Seen in the history of INSERT ... REPLACE WHERE d = DATE '2026-01-14' (Delta 4.4)."""
    assert parse_node(f"SELECT {text}").sql(DIALECT) == f"SELECT {text}"


def test_rows_are_written_out_as_values() -> None:
    bound = parse_statement("INSERT INTO t VALUES :rows").with_parameters(
        {"rows": [(1, "it's", None), (2, "b\\c", True)]}
    )
    assert bound.sql() == r"INSERT INTO t VALUES (1, 'it\'s', NULL), (2, 'b\\c', TRUE)"


def test_colons_inside_texts_and_casts_are_no_parameters() -> None:
    statement = parse_statement("DELETE FROM t WHERE a = ':x' AND b = v::INT AND c = :c")
    assert statement.template.parameter_names == {"c"}


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (-5, "-5"),
        (1.5, "1.5D"),
        (float("nan"), "CAST('NaN' AS DOUBLE)"),
        (Decimal("1E+3"), "1000"),
        (datetime(2026, 1, 1, 10, tzinfo=UTC), "TIMESTAMP_LTZ '2026-01-01 10:00:00Z'"),
        (datetime(2026, 1, 1, 10, 0, 0, 500), "TIMESTAMP_NTZ '2026-01-01 10:00:00.0005'"),
    ],
)
def test_values_are_literals_of_their_type(value: Any, text: str) -> None:
    assert sql_literal(value) == text


def test_missing_and_unknown_parameters_are_named_together() -> None:
    statement = parse_statement("DELETE FROM t WHERE date = :date AND k = :key")
    with pytest.raises(InvalidInput) as wrong:
        statement.with_parameters({"date": 1, "keyy": 2})
    assert [str(problem) for problem in wrong.value.problems] == [
        ":keyy: no such parameter (did you mean 'key'?)",
        ":key: has no value",
    ]


def test_a_merge_has_its_clauses_in_order() -> None:
    statement = parse_statement(
        "MERGE INTO t USING (SELECT * FROM VALUES :rows AS v(k, a)) AS s ON t.k = s.k"
        " WHEN MATCHED AND s.a > 1 THEN UPDATE SET * WHEN MATCHED THEN DELETE"
        " WHEN NOT MATCHED BY TARGET THEN INSERT (k) VALUES (s.k)"
        " WHEN NOT MATCHED BY SOURCE THEN UPDATE SET a = 0"
    )
    assert isinstance(statement, Merge)
    assert [(c.match, c.act) for c in statement.clauses] == [
        (Match.MATCHED, Act.UPDATE),
        (Match.MATCHED, Act.DELETE),
        (Match.NOT_MATCHED, Act.INSERT),
        (Match.NOT_MATCHED_BY_SOURCE, Act.UPDATE),
    ]
    assert statement.source == Values((), "rows", "s", ("k", "a"))
    assert statement.clauses[0].assignments is None


def test_an_insert_has_its_partition_columns_and_query() -> None:
    statement = parse_statement(
        "INSERT OVERWRITE t PARTITION (x = 1, y) SELECT v, y FROM s LIMIT 3"
    )
    assert isinstance(statement, Insert)
    assert statement.overwrite
    assert [(name, value is None) for name, value in statement.partition] == [
        ("x", False),
        ("y", True),
    ]
    assert isinstance(statement.query, Select)
    assert statement.query.plain is not None
    assert statement.query.plain.limit == 3


@pytest.mark.parametrize(
    "constant", ["1", "-1", "2L", "1.5BD", "'a'", "NULL", "true", "DATE '2026-01-01'", ":day"]
)
def test_a_partition_is_named_by_a_constant(constant: str) -> None:
    statement = parse_statement(f"INSERT INTO t PARTITION (x = {constant}) VALUES (1)")
    assert isinstance(statement, Insert)
    assert [name for name, _ in statement.partition] == ["x"]


@pytest.mark.parametrize(
    ("text", "where", "columns"),
    [
        ("OPTIMIZE t", None, ()),
        (
            "optimize t where day = '2026-01-01' zorder by (a, `b`)",
            "day = '2026-01-01'",
            ("a", "b"),
        ),
        ("OPTIMIZE db.t ZORDER BY a;", None, ("a",)),
    ],
)
def test_optimize_is_read_with_its_condition_and_columns(
    text: str, where: str | None, columns: tuple[str, ...]
) -> None:
    statement = parse_statement(text)
    assert isinstance(statement, Optimize)
    assert (statement.condition and statement.condition.sql) == where
    assert statement.zorder_by == columns


@pytest.mark.parametrize(
    "text",
    [
        "SELECT 1",
        "ANALYZE TABLE t COMPUTE STATISTICS",
        "FROM s INSERT INTO t SELECT k, v",
        "DELETE FROM t, u",
    ],
)
def test_sql_that_is_not_modelled_is_refused_by_its_text(text: str) -> None:
    with pytest.raises(UnsupportedFeature):
        parse_statement(text)


@pytest.mark.parametrize(
    "change",
    [
        "ADD COLUMN st.c INT",
        "ADD COLUMNS (x INT, st.c INT AFTER a)",
        "DROP COLUMN st.a",
        "DROP COLUMNS (k, st.a)",
        "RENAME COLUMN st.a TO b",
        "ALTER COLUMN `st`.`a` TYPE BIGINT",
        "ALTER COLUMN tags.element TYPE BIGINT",
        "CHANGE COLUMN st.a st.a BIGINT",
    ],
)
def test_changes_inside_of_columns_are_refused_by_the_field(change: str) -> None:
    with pytest.raises(UnsupportedFeature, match=r"a field inside of a column"):
        parse_statement(f"ALTER TABLE t {change}")


@pytest.mark.parametrize(
    "change",
    [
        "ADD COLUMN c DOUBLE DEFAULT 1.5",
        "DROP COLUMN `st.a`",
        "ADD COLUMNS (c STRING COMMENT 'a part, i.e. a slice', d INT)",
    ],
)
def test_points_that_part_no_names_are_no_fields(change: str) -> None:
    parse_statement(f"ALTER TABLE t {change}")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("DELETE FORM t", "line 1"),
        ("MERGE INTO t USING s ON t.k = s.k WHEN MATCHED THEN", "line 1|something"),
        ("ALTER TABLE t SET TBLPROPERTIES (a b)", "not a table property"),
        (
            "MERGE INTO t USING s ON t.k = s.k WHEN NOT MATCHED THEN INSERT (a, b) VALUES (1)",
            "2 col",
        ),
        ("", "No expression"),
        ("DELETE FROM", "table name is missing"),
        ("OPTIMIZE t WHERE", r"cannot be read as OPTIMIZE table \[FULL"),
        ("RESTORE TABLE t TO VERSION AS OF x", "cannot be read as RESTORE"),
        ("DELET FROM t", "no such statement.*'DELETE'"),
        ("UPDATE t SET", "sets no column"),
        ("INSERT INTO t", "neither VALUES nor a query"),
        ("INSERT INTO t SELECT FROM s", "selects no column"),
        ("ALTER TABLE t ADD COLUMN w FOO", "FOO|foo"),
    ],
)
def test_statements_that_do_not_parse_are_refused_with_their_place(text: str, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        parse_statement(text)


@pytest.mark.parametrize(
    "text",
    [
        "/* why */ DELETE FROM t WHERE v = '-- no' -- comment",
        "DELETE FROM t /* all\nof them */ WHERE v = '-- no'",
    ],
)
def test_comments_count_for_nothing_outside_of_quotes(text: str) -> None:
    statement = parse_statement(text)
    assert isinstance(statement, Delete)
    assert statement.condition is not None
    assert statement.condition.sql == "v = '-- no'"


@pytest.mark.parametrize(
    ("query", "part"),
    [
        ("SELECT * FROM s TABLESAMPLE (10 PERCENT)", "SAMPLE"),
        ("SELECT * FROM s NATURAL JOIN u", "METHOD"),
        ("SELECT x, count(*) FROM s GROUP BY ALL", "ALL"),
        ("SELECT x FROM s UNION ALL SELECT x FROM u LIMIT 3", "LIMIT"),
        ("SELECT x FROM s UNION BY NAME SELECT x FROM u", "BY_NAME"),
        ("SELECT count(DISTINCT a, b) FROM s", "several columns"),
        ("SELECT DISTINCT ON (x) x FROM s", "ON in DISTINCT"),
        ("SELECT x FROM s ORDER BY x NULLS LAST LIMIT 1", "place of NULLs"),
        ("SELECT x FROM s LATERAL VIEW explode(array(1)) e AS y", "LATERALS"),
        ("SELECT x FROM s LIMIT 3 OFFSET 1", "OFFSET"),
        ("SELECT sum(x) OVER (ORDER BY x ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM s", "SPEC"),
        ("SELECT * FROM s TIMESTAMP AS OF '2026-01-01'", "timestamp"),
    ],
)
def test_a_part_of_a_query_that_nothing_reads_is_refused(query: str, part: str) -> None:
    with pytest.raises(UnsupportedFeature, match=part):
        parse_statement(f"INSERT INTO t {query}")


@pytest.mark.parametrize(
    ("row", "text"),
    [
        ((1, -2.5, date(2026, 1, 5)), "(1, -2.5D, DATE '2026-01-05')"),
        ((0.1, 1e15), "(0.1D, CAST('1.0E15' AS DOUBLE))"),
        ((float("nan"), 1.0), "(CAST('NaN' AS DOUBLE), 1.0D)"),
        ((True, 1, None), "(TRUE, 1, NULL)"),
        ((1, "100 %d", 2.0), "(1, '100 %d', 2.0D)"),
        ((1, "it's %d"), "(1, 'it\\'s %d')"),
        ((1, "a\\b"), "(1, 'a\\\\b')"),
        ((datetime(2026, 1, 5), 1), "(TIMESTAMP_NTZ '2026-01-05 00:00:00', 1)"),
        ((), "()"),
    ],
)
def test_rows_are_written_as_their_values_are_one_by_one(row: tuple[Any, ...], text: str) -> None:
    insert = parse_statement("INSERT INTO events VALUES :rows")
    assert insert.with_parameters({"rows": [row]}).sql() == f"INSERT INTO events VALUES {text}"
