"""Expressions with `spark.sql.ansi.enabled` false: what Spark makes of them, or a refusal by name.

The first answers were observed on Delta 4.4 and 3.3.2, the exponents of decimals on Spark 4.2; that
numbers wrap and decimals become NULL is said by Spark's arithmetic.scala and Decimal.toPrecision.
"""

from __future__ import annotations

import ctypes
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.commands.sql_database import Database
from whitecap.engine.errors import DeltaError, UnsupportedFeature
from whitecap.engine.log.schema import Schema, parse_ddl
from whitecap.engine.settings import Settings
from whitecap.engine.sql.expressions.scope import Relation, Scope
from whitecap.engine.sql.expressions.syntax_trees import parse_node
from whitecap.engine.sql.expressions.terms import Bound
from whitecap.engine.sql.predicates.compiler import compile_term
from whitecap.engine.values.types import Session

LENIENT = Session(ansi=False)
NO_COLUMNS = Schema(())


def _bound(sql: str, schema: Schema = NO_COLUMNS, session: Session = LENIENT) -> Bound:
    node = parse_node(f"SELECT {sql}").expressions[0].unalias()
    return compile_term(node, Scope((Relation.of(schema),), session)).bind({})


def _value(sql: str, session: Session = LENIENT) -> Any:
    return _bound(sql, session=session).evaluate(())


ANSWERS = {
    "10 / 0": None,
    "10 / CAST(0 AS DOUBLE)": None,
    "CAST(10 AS DECIMAL(4,1)) / 0": None,
    "10 % 0": None,
    "mod(10, 0)": None,
    "pmod(10, 0)": None,
    "10.5D % 0": None,
    "10 div 0": None,
    "1 + 2147483647": -2147483648,
    "-2147483648 - 1": 2147483647,
    "2147483647 * 2": -2,
    "9223372036854775807 + 1": -9223372036854775808,
    "100Y + 100Y": -56,
    "30000S + 30000S": -5536,
    "(-9223372036854775807 - 1) div -1": -9223372036854775808,
    "-(-2147483647 - 1)": -2147483648,
    "CAST(99999999999999999999999999999999999999 AS DECIMAL(38,0)) * 10": None,
    "CAST(99999999999999999999999999999999999999 AS DECIMAL(38,0)) + 1": None,
    "CAST(0.00000001 AS STRING)": "1E-8",
    "concat('v', 0.10)": "v0.10",
    "CAST('x' AS INT)": None,
    "to_date('x')": None,
    "7 / 2": 3.5,
    "-7 % 4": -3,
    "-7 div 4": -1,
    "1.5 + 1": Decimal("2.5"),
}


@pytest.mark.parametrize("sql", ANSWERS)
def test_what_is_an_error_in_ansi_mode_is_null_or_wraps_outside_it(sql: str) -> None:
    assert _value(sql) == ANSWERS[sql]


FAILING = (
    "abs(-2147483647 - 1)",
    "round(2147483647, -1)",
    "to_date('x', 'yyyy-MM-dd')",
    "to_timestamp('x', 'yyyy-MM-dd')",
    "make_date(2026, 13, 1)",
    "CAST(3000000000 AS INT)",
    "CAST(1e10 AS INT)",
    "CAST(1000 AS DECIMAL(2,0))",
)


@pytest.mark.parametrize("sql", FAILING)
def test_another_error_of_ansi_mode_is_refused_by_name_outside_it(sql: str) -> None:
    with pytest.raises(DeltaError):
        _value(sql, Session())
    with pytest.raises(UnsupportedFeature, match="without ANSI mode"):
        _value(sql)


def test_a_text_with_a_fraction_is_refused_as_a_whole_number() -> None:
    """Spark cuts it outside of ANSI mode: UTF8String.toInt allows a decimal there."""
    for text in ("1.5", " -2. ", "."):
        with pytest.raises(UnsupportedFeature, match="without ANSI mode"):
            _value(f"CAST('{text}' AS INT)")
    assert _value("CAST('1.5' AS DOUBLE)") == 1.5
    assert _value("CAST('1.5x' AS INT)") is None


MIXING = (
    "'1' IN (1, 2)",
    "1 NOT IN ('1', '2')",
    "coalesce(1, 'x')",
    "CASE WHEN true THEN 1 ELSE 'x' END",
    "if(true, DATE '2026-01-01', 'x')",
    "greatest(1, 'x')",
    "'0.1' = CAST(0.1 AS FLOAT)",
    "true = 1",
    "'5' + 1",
)


@pytest.mark.parametrize("sql", MIXING)
def test_types_that_mix_otherwise_outside_of_ansi_mode_are_refused_by_name(sql: str) -> None:
    with pytest.raises(UnsupportedFeature, match="without ANSI mode"):
        _value(sql)


ALIKE = {
    "'a' = 1": None,
    "'1' = 1": True,
    "DATE '2026-01-01' = '2026-01-01'": True,
    "DATE '2026-01-01' >= 'x'": None,
    "'a' IN ('a', NULL)": True,
    "3 IN (1, 2.5)": False,
    "coalesce(NULL, 'x')": "x",
    "CASE WHEN true THEN 1 ELSE 2.5 END": Decimal("1.0"),
    "concat('a', 1)": "a1",
}


@pytest.mark.parametrize("sql", ALIKE)
def test_what_mixes_alike_goes_on_outside_of_ansi_mode(sql: str) -> None:
    assert _value(sql) == ALIKE[sql]


QUERIES = (
    "INSERT INTO t SELECT 1 UNION SELECT 'x'",
    "INSERT INTO t SELECT 1 WHERE 1 IN (SELECT '1')",
    "INSERT INTO t SELECT v FROM VALUES (1), ('x') AS q(v)",
    "INSERT INTO t SELECT sum(v) FROM VALUES (9223372036854775807), (1) AS q(v)",
)


@pytest.mark.parametrize("sql", QUERIES)
def test_queries_that_differ_outside_of_ansi_mode_are_refused_by_name(sql: str) -> None:
    db = Database()
    db.create("t", "v BIGINT")
    db.settings = Settings(ansi=False)
    with pytest.raises(UnsupportedFeature, match="without ANSI mode"):
        db.sql(sql)


WHOLE = {"INT": ctypes.c_int32, "BIGINT": ctypes.c_int64, "TINYINT": ctypes.c_int8}
SIGNS = st.sampled_from(["+", "-", "*", "/", "%", "div"])
WIDTHS = st.sampled_from(list(WHOLE))


def _expected(left: int | None, sign: str, right: int | None, kind: str) -> int | float | None:
    """By C's own integers, which wrap as Java's do."""
    if left is None or right is None or (sign in ("/", "%", "div") and right == 0):
        return None
    rest = abs(left) % abs(right or 1) * (1 if left >= 0 else -1)
    match sign:
        case "/":
            return float(left) / float(right)
        case "%":
            return rest
        case "div":
            return ctypes.c_int64((left - rest) // right).value
    exact = {"+": left + right, "-": left - right, "*": left * right}[sign]
    return int(WHOLE[kind](exact).value)


@given(st.data(), SIGNS, WIDTHS)
def test_whole_numbers_wrap_and_division_by_zero_is_null_in_every_shape(
    data: st.DataObject, sign: str, kind: str
) -> None:
    """Columns and constants on either side are run by code of their own, and give the same."""
    bits = ctypes.sizeof(WHOLE[kind]) * 8
    least, most = -(1 << (bits - 1)), (1 << (bits - 1)) - 1
    corners = st.sampled_from([None, 0, 1, -1, least, most])
    numbers = st.one_of(corners, st.integers(least, most))
    left, right = data.draw(numbers), data.draw(numbers)
    schema = parse_ddl(f"a {kind}, b {kind}")
    expected = _expected(left, sign, right, kind)
    for first in ("a", _constant(left, kind)):
        for second in ("b", _constant(right, kind)):
            value = _bound(f"{first} {sign} {second}", schema).evaluate((left, right))
            assert (value, type(value)) == (expected, type(expected))


def _constant(value: int | None, kind: str) -> str:
    """As a decimal first: the least BIGINT is no literal."""
    return f"CAST({'NULL' if value is None else value} AS {kind})"


FRACTIONS = st.floats(width=64)


@given(st.lists(st.tuples(FRACTIONS, FRACTIONS), min_size=1, max_size=8), st.booleans())
def test_arrays_give_what_rows_give_in_either_mode(
    rows: list[tuple[float, float]], ansi: bool
) -> None:
    bound = _bound("(a + b) * a - 2.5D", parse_ddl("a DOUBLE, b DOUBLE"), Session(ansi=ansi))
    assert bound.of_arrays is not None
    arrays = [np.array(values, dtype=np.float64) for values in zip(*rows, strict=True)]
    with np.errstate(all="ignore"):
        of_arrays = bound.of_arrays(lambda at: arrays[at])
    np.testing.assert_array_equal(of_arrays, [bound.evaluate(row) for row in rows])


@given(st.lists(st.tuples(FRACTIONS, FRACTIONS), min_size=1, max_size=4))
def test_division_is_left_to_rows_where_it_may_be_null(rows: list[tuple[float, float]]) -> None:
    bound = _bound("a / b", parse_ddl("a DOUBLE, b DOUBLE"))
    assert bound.of_arrays is None
    assert [bound.evaluate(row) is None for row in rows] == [right == 0 for _, right in rows]
