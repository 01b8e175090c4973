"""Expressions drawn at random: every function, operator and form, on operands of every type."""

from __future__ import annotations

from hypothesis import strategies as st

from whitecap.engine.sql.functions.aggregates import AGGREGATES
from whitecap.engine.sql.functions.spark_names import SPARK_FUNCTIONS
from whitecap.engine.sql.functions.table import FUNCTIONS

COLUMNS = {
    "b": "BOOLEAN",
    "i8": "TINYINT",
    "i": "INT",
    "n": "BIGINT",
    "f": "FLOAT",
    "d": "DOUBLE",
    "p": "DECIMAL(10,2)",
    "s": "STRING",
    "day": "DATE",
    "at": "TIMESTAMP",
    "bin": "BINARY",
    "st": "STRUCT<a: INT, b: STRING>",
    "ar": "ARRAY<INT>",
    "m": "MAP<STRING, INT>",
}
"""The columns that expressions speak of."""

_TEXTS = ("", "a", "5", "-1.5", "true", "2026-01-02", "2026-01-02 03:04:05", "9" * 30, "NaN", "%_")
_PATTERNS = ("yyyy-MM-dd", "(", "a+", "\\\\d", "[", "$1", "YEAR", "month", "UTC", "MO", "today")
_NUMBERS = (
    *("0", "1", "-1", "2", "7", "128", "2147483647", "-2147483648", "9223372036854775807"),
    *("1.5", "0.001", "1e300", "1e-300", "99999999999999999999.5", "2D", "1Y", "3S", "4L", "2.5BD"),
)
_TYPED = (
    *("DATE'2026-01-31'", "DATE'0001-01-01'", "DATE'9999-12-31'", "X'00ff'", "X''", "NULL", "true"),
    *("TIMESTAMP'2026-01-02 03:04:05'", "TIMESTAMP_NTZ'2026-01-02 03:04:05'", "false", ":given"),
    *("CAST('NaN' AS DOUBLE)", "CAST('inf' AS DOUBLE)", "INTERVAL 1 DAY", "INTERVAL 400 YEARS"),
    *("INTERVAL '1' HOUR", "array(1)", "struct(1, 2)", "map('a', 1)", "st.a", "st.nosuch", "ar[0]"),
    *("m['a']", "nosuch", "other.i", "DATE'yesterday'", "DATE'x'", "current_date()", "now()"),
)
_LEAVES = st.one_of(
    st.sampled_from(list(COLUMNS)),
    st.sampled_from([f"'{text}'" for text in (*_TEXTS, *_PATTERNS)]),
    st.sampled_from(_NUMBERS),
    st.sampled_from(_TYPED),
)
_TYPES = (
    *("BOOLEAN", "TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "DECIMAL(4,1)"),
    *("DECIMAL(38,18)", "STRING", "DATE", "TIMESTAMP", "TIMESTAMP_NTZ", "BINARY", "ARRAY<INT>"),
    *("STRUCT<a: INT>", "FOO", "VARCHAR(2)", "INTERVAL DAY"),
)
_FUNCTION_NAMES = sorted(
    name for name in FUNCTIONS if name.isidentifier() and name not in ("case", "div")
)
_NAMES = st.one_of(
    st.sampled_from(_FUNCTION_NAMES),
    st.sampled_from(sorted(SPARK_FUNCTIONS)),
    st.sampled_from([*AGGREGATES, "nosuch", "row_number"]),
)
_BINARY = (
    *("+", "-", "*", "/", "%", "DIV", "&", "|", "^", "=", "<>", "<", "<=", ">", ">=", "<=>", "=="),
    *("AND", "OR", "LIKE", "ILIKE", "RLIKE", "||", "NOT LIKE", "IS DISTINCT FROM"),
)
_FORMS = (
    *("- ({0})", "~({0})", "NOT ({0})", "({0}) IS NULL", "({0}) IS NOT TRUE", "({0})"),
    *("({0}) BETWEEN ({1}) AND ({2})", "({0}) IN ({1}, {2})", "({0}) NOT IN ({1})"),
    *("CASE WHEN {0} THEN {1} ELSE {2} END", "CASE {0} WHEN {1} THEN {2} END", "if({0}, {1}, {2})"),
    *("({0}, {1}) = ({1}, {2})", "({0}, 1) IN (({1}, {2}))", "extract(YEAR FROM {0})"),
    *("extract(SECOND FROM {0})", "trim(BOTH {0} FROM {1})", "position({0} IN {1})"),
    *("substring({0} FROM {1})", "dateadd(MONTH, {0}, {1})", "datediff(HOUR, {0}, {1})"),
    *("({0}) LIKE ANY ({1}, {2})", "({0}) LIKE {1} ESCAPE '!'", "date_part({0}, {1})"),
    *("sum({0}) OVER (ORDER BY {1})", "lag({0}) OVER (ORDER BY {1})", "count(DISTINCT {0})"),
    *("({0}) IN (SELECT 1)", "(SELECT {0})", "EXISTS (SELECT {0})", "({0})[{1}]", "({0}).a"),
)


def _grown(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    calls = st.tuples(_NAMES, st.lists(inner, max_size=4)).map(
        lambda call: f"{call[0]}({', '.join(call[1])})"
    )
    binary = st.tuples(inner, st.sampled_from(_BINARY), inner).map(
        lambda parts: f"({parts[0]}) {parts[1]} ({parts[2]})"
    )
    casts = st.tuples(st.sampled_from(("CAST", "try_cast")), inner, st.sampled_from(_TYPES)).map(
        lambda parts: f"{parts[0]}({parts[1]} AS {parts[2]})"
    )
    forms = st.tuples(st.sampled_from(_FORMS), inner, inner, inner).map(
        lambda parts: parts[0].format(*parts[1:])
    )
    return st.one_of(calls, calls, binary, casts, forms)


def expressions() -> st.SearchStrategy[str]:
    """Expressions, most of which Spark would refuse for the types in them."""
    return st.recursive(_LEAVES, _grown, max_leaves=6)


def parameters() -> st.SearchStrategy[object]:
    """What may be given for `:given`."""
    return st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-(10**20), 10**20),
        st.floats(),
        st.text(max_size=5),
        st.dates(),
        st.datetimes(),
        st.datetimes(timezones=st.timezones()),
        st.decimals(allow_nan=False, allow_infinity=False, places=3),
        st.binary(max_size=3),
        st.lists(st.integers(0, 9), max_size=3),
    )
