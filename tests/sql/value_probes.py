"""Every function and operator that the engine knows, on arguments of every type.

A probe is a form with arguments in its places: columns of one row, whose values are below, and
literals. `spark_answers.json` holds what Spark says to each; `make answers` asks it again.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any, NamedTuple


class Probe(NamedTuple):
    """A form, and what stands in its places."""

    form: str
    arguments: tuple[str, ...] = ()

    @property
    def sql(self) -> str:
        """The expression."""
        return self.form.format(*self.arguments)


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the probed row: its name, type and value, and the value in SQL."""

    name: str
    type: str
    value: Any
    sql: str


COLUMNS = (
    Column("b", "boolean", True, "true"),
    Column("i8", "tinyint", 3, "3Y"),
    Column("i16", "smallint", 4, "4S"),
    Column("i", "int", 2, "2"),
    Column("n", "bigint", 5, "5L"),
    Column("f", "float", 1.5, "CAST(1.5 AS FLOAT)"),
    Column("d", "double", 2.25, "2.25D"),
    Column("dec", "decimal(10,2)", Decimal("3.75"), "CAST(3.75 AS DECIMAL(10,2))"),
    Column("s", "string", "7", "'7'"),
    Column("w", "string", "word", "'word'"),
    Column("day", "date", date(2026, 1, 31), "DATE'2026-01-31'"),
    Column(
        "at",
        "timestamp",
        datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC),
        "TIMESTAMP'2026-03-04 05:06:07'",
    ),
    Column(
        "ntz", "timestamp_ntz", datetime(2026, 3, 4, 5, 6, 7), "TIMESTAMP_NTZ'2026-03-04 05:06:07'"
    ),
    Column("bin", "binary", b"xy", "X'7879'"),
    Column("none", "void", None, "NULL"),
)
ROW = tuple(column.value for column in COLUMNS)
NAMES = tuple(column.name for column in COLUMNS)
LITERALS = ("1", "2.5", "'5'", "'text'", "'2026-02-03'", "NULL")
NESTED = ("array(1)", "map('a', 1)", "struct(1)", "INTERVAL 1 DAY", "INTERVAL 1 MONTH")

ALL = (*NAMES, *LITERALS, *NESTED)
MANY = ("b", "i", "n", "d", "dec", "s", "w", "day", "at", "ntz", "bin", "none", "1", "'text'")
"""What stands for the others where two arguments are probed together."""

NO_ARGUMENT = ("current_date", "current_timestamp", "now", "rand", "unix_timestamp")
CHANGING = frozenset(f"{name}()" for name in NO_ARGUMENT) | {
    "rand({0})",
    *(f"CAST('{word}' AS {{0}})" for word in ("now", "today", "tomorrow", "yesterday", "03:04")),
    *(f"try_cast('{word}' AS {{0}})" for word in ("now", "today", "tomorrow", "yesterday")),
    "try_cast('03:04' AS {0})",
}
"""Forms whose values are others each time: only their types are compared."""

_ONE_ARGUMENT = """
abs ascii bround ceil coalesce concat concat_ws date day dayofmonth dayofweek dayofyear floor
from_unixtime greatest hour ifnull initcap isnan isnotnull isnull last_day least length lower
ltrim md5 minute month negative quarter rand reverse round rtrim second sign sqrt timestamp
timestamp_micros timestamp_millis timestamp_seconds to_date to_timestamp trim typeof unix_date
unix_timestamp upper weekday weekofyear year boolean double float int bigint string tinyint
smallint decimal binary
"""
_TWO_ARGUMENTS = """
add_months bround ceil coalesce concat concat_ws contains date_add date_diff date_format date_sub
datediff dateadd endswith floor from_unixtime greatest ifnull instr least left locate like lpad
ltrim mod months_between next_day nullif nvl pmod position power repeat replace right rlike round
rtrim sha2 startswith substr substring to_date to_timestamp trim trunc date_trunc unix_timestamp
"""
_THREE_ARGUMENTS = {
    "if": ("b", "i", "n"),
    "lpad": ("w", "i", "s"),
    "locate": ("w", "s", "i"),
    "make_date": ("n", "i", "i"),
    "replace": ("w", "s", "s"),
    "substring": ("w", "i", "i"),
    "translate": ("w", "s", "s"),
    "coalesce": ("i", "n", "d"),
    "greatest": ("i", "n", "d"),
    "concat": ("w", "i", "s"),
    "concat_ws": ("w", "i", "s"),
    "months_between": ("day", "at", "b"),
}
"""Functions of three arguments, with arguments of the right types: one at a time is another."""

_AGGREGATES = ("avg", "count", "count_if", "max", "min", "sum")
_WITH_ALL = ("+", "-", "*", "/", "%", "DIV", "=", "<", ">=", "<>", "<=>")
_WITH_MANY = ("AND", "OR", "LIKE", "RLIKE", "||")
_OF_ONE = (
    *("- {0}", "~ {0}", "NOT {0}", "{0} IS NULL", "{0} IS TRUE", "{0} IS NOT FALSE"),
    *("{0} LIKE ANY ('7%', '2%')", "CASE WHEN {0} THEN 1 END", "extract(YEAR FROM {0})"),
    *("extract(HOUR FROM {0})", "extract(SECOND FROM {0})", "date_part('month', {0})"),
    *("date_part({0}, day)", "{0} + INTERVAL 1 DAY", "{0} - INTERVAL 1 MONTH"),
    *("INTERVAL 1 HOUR + {0}", "date_trunc('MONTH', {0})", "trunc({0}, 'YEAR')", "round({0}, 1)"),
    *("bround({0}, -1)", "lag({0}) OVER (ORDER BY i)", "sum({0}) OVER (ORDER BY i)", "WHERE {0}"),
    *("round(d, {0})", "next_day(day, {0})", "substring(w FROM {0})", "WHERE {0} OR true"),
)
_OF_TWO = (
    *("{0} IS DISTINCT FROM {1}", "{0} IN ({1})", "{0} IN (1, {1})", "{0} BETWEEN {1} AND 10"),
    *("i BETWEEN {0} AND {1}", "CASE WHEN b THEN {0} ELSE {1} END", "({0}, 1) = ({1}, 1)"),
    *("CASE {0} WHEN {1} THEN 1 ELSE 0 END", "trim(BOTH {0} FROM {1})", "position({0} IN {1})"),
    *("substring({0} FROM {1})", "dateadd(MONTH, {0}, {1})", "timestampadd(HOUR, {0}, {1})"),
    *("datediff(DAY, {0}, {1})", "timestampdiff(HOUR, {0}, {1})", "({0}, 1) IN (({1}, 1))"),
)
_TYPES = (
    *("BOOLEAN", "TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "DECIMAL(3,1)"),
    *("STRING", "DATE", "TIMESTAMP", "TIMESTAMP_NTZ", "BINARY"),
)
_TEXTS = (
    *("1", " 1 ", "-1", "+1", "1.5", "1e2", "1.", ".5", "", " ", "abc", "NaN", "inf", "Infinity"),
    *("true", " T ", "yes", "n", "0", "128", "32768", "2147483648", "9223372036854775808"),
    *("2026", "2026-1", "2026-01-02", "2026-1-2", "2026-01-02 03:04:05", "2026-01-02T03:04:05Z"),
    *("2026-02-30", "2026-13-01", "10000-01-01", "0000-01-01", "-0001-01-01", "today", "yesterday"),
    *("now", "epoch", "tomorrow", "2026-01-02 25:00:00", "2026-01-02 03:04:05.123456789", "1d"),
    *("2026-01-02 03:04:05 Europe/Berlin", "2026-01-02 03:04:05+01:00", "03:04", "1_000", "0x10"),
    *("99.94", "99.95", "-0.0", "1e400", "1f", "1.5e-3", "+2026-01-02", "2026-01-02 03:04 Nowhere"),
)
_NUMBERS = (
    *("-1", "127", "128", "-129", "32768", "2147483647", "2147483648L", "9223372036854775807L"),
    *("1.5", "-1.5", "99.95", "99.94", "100", "1e10", "1e20", "1e40", "CAST('NaN' AS DOUBLE)"),
    *("CAST('Infinity' AS DOUBLE)", "CAST('-Infinity' AS FLOAT)", "0.0", "-0.0", "1e-5", "0.001"),
    *("1e7", "123456789.123", "CAST(0.1 AS FLOAT)", "CAST(16777217 AS FLOAT)", "1e300"),
    "TIMESTAMP'1969-12-31 23:59:58.5'",
)
_LITERAL_TYPES = ("DATE", "TIMESTAMP", "TIMESTAMP_NTZ", "TIMESTAMP_LTZ")
_EDGES = (
    *("2147483647 + 1", "127Y + 1Y", "9223372036854775807L * 2", "-9223372036854775808L - 1"),
    *("abs(-2147483648)", "- (-128Y)", "1 / 0", "1 % 0", "1.5 / 0", "1.5 % 0", "1D / 0", "1D % 0"),
    *("1 DIV 0", "mod(1, 0)", "pmod(1, 0)", "pmod(1.5D, 0)", "1.5 DIV 0"),
    *("pmod(-7, 3)", "pmod(-7, -3)", "pmod(7, -3)", "-7 % 3", "-7 DIV 2", "-7.5 % 2", "-7.5D % 2"),
    *("99999999999999999999.99 * 99999999999999999999.99", "dec + -1", "1 + dec", "-1 - dec"),
    *("2147483647 + 1L", "dec * 2", "dec / 3", "dec * dec", "n / 0", "i * 2147483647", "i - NULL"),
    *("round(2.5)", "round(-2.5)", "round(2.5D)", "bround(2.5)", "bround(3.5D)", "round(25, -1)"),
    *("round(127Y, -1)", "round(2147483647, -1)", "round(CAST('NaN' AS DOUBLE))", "round(1e300)"),
    *("round(9.99, 1)", "round(dec, -1)", "round(dec, 5)", "round(d, 400)", "round(1.5, NULL)"),
    *("ceil(-1.5)", "floor(-1.5)", "ceil(1e300)", "floor(CAST('NaN' AS DOUBLE))", "ceil(1.5, 0)"),
    "sqrt(-1)",
    *("power(0, -1)", "power(-1, 0.5)", "power(-10, 401)", "power(10, 400)", "power(0, 0)"),
    *("greatest(1D, CAST('NaN' AS DOUBLE))", "least(1D, CAST('NaN' AS DOUBLE))"),
    *("CAST('NaN' AS DOUBLE) = CAST('NaN' AS FLOAT)", "CAST('NaN' AS DOUBLE) > 1e300"),
    *("CAST('NaN' AS DOUBLE) <=> CAST('NaN' AS DOUBLE)", "CAST('NaN' AS DOUBLE) IN (1D, d / 0.0D)"),
    *("CAST('NaN' AS DOUBLE) IN (CAST('NaN' AS DOUBLE))", "-0.0D = 0.0D"),
    *("left('abc', -1)", "right('abc', 0)", "substring('abc', -5, 3)", "substring('abc', 0, 2)"),
    *("substring('abc', 2, -1)", "substring('abc', -2)", "lpad('abc', 2)", "lpad('abc', -1)"),
    *("lpad('abc', 5, '')", "lpad(X'01', 3)"),
    *("repeat('ab', -1)", "ascii('')", "ascii('é')"),
    *("translate('abcba', 'ab', 'x')", "replace('abc', '', 'x')", "initcap('aB  cD-eF')"),
    *("sha2('a', 1)", "sha2('a', 0)", "concat_ws('-', 'a', NULL, 'b')", "concat_ws(NULL, 'a')"),
    *("locate('b', 'abc', 0)", "locate('b', 'abc', -1)", "locate('', 'abc')", "instr('abc', '')"),
    *("'a' RLIKE '('", "'a' RLIKE '\\\\p{L}'", "'ab' RLIKE '^a.$'", "'é' RLIKE '\\\\w'"),
    *("'a_b' LIKE 'a\\\\_b'", "'ab' LIKE 'a\\\\b'", "'a' LIKE 'a\\\\'"),
    *("'a' LIKE NULL", "'ab' LIKE ALL ('a%', '%b')", "'ab' NOT LIKE 'a%'"),
    *("date_add(DATE'9999-12-31', 1)", "date_sub(DATE'0001-01-01', 1)", "day + 4000000"),
    *("add_months(DATE'2026-01-31', 1)", "add_months(DATE'9999-12-31', 1)", "day - 31"),
    *(
        "next_day(day, 'MO')",
        "next_day(day, 'Monday')",
        "next_day(day, 'mon')",
        "next_day(day, 'M')",
    ),
    *("trunc(day, 'DAY')", "trunc(day, 'mm')", "trunc(day, 'QUARTER')", "trunc(day, 'week')"),
    *("date_trunc('DD', at)", "date_trunc('hour', at)", "date_trunc('millisecond', at)"),
    *("date_trunc('quarter', at)", "date_trunc('week', at)", "date_trunc('yyyy', ntz)"),
    *("make_date(2026, 2, 30)", "make_date(0, 1, 1)", "make_date(2026, 13, 1)", "last_day(day)"),
    *("months_between(DATE'2026-03-31', DATE'2026-02-28')", "datediff(day, DATE'2026-01-01')"),
    *("timestamp_seconds(1e20)", "timestamp_micros(-1)", "timestamp_millis(9223372036854775807L)"),
    *("timestamp_seconds(CAST('NaN' AS DOUBLE))", "timestamp_seconds(-1.5)"),
    *("from_unixtime(0)", "from_unixtime(1, 'yyyy-MM-dd')", "from_unixtime(1e15)"),
    *("to_date('02/01/2026', 'dd/MM/yyyy')", "to_date('2026', 'dd/MM/yyyy')", "to_date('x')"),
    "date_format(at, 'yyyy-MM-dd HH:mm:ss')",
    *("unix_timestamp('2026-01-02 03:04:05')", "to_timestamp('2026', 'yyyy')"),
    *("extract(DOW FROM day)", "extract(WEEK FROM day)", "extract(DOY FROM day)"),
    *("extract(DAYOFWEEK_ISO FROM day)", "extract(QUARTER FROM day)", "extract(FOO FROM day)"),
    *("extract(YEAROFWEEK FROM day)", "extract(MONTHS FROM day)", "extract(MINUTE FROM at)"),
    *("date_part('second', at)", "date_part('foo', at)", "date_part(NULL, at)"),
    *("dateadd(HOUR, 1, day)", "dateadd(QUARTER, 1, day)", "dateadd(FOO, 1, day)"),
    *("datediff(MONTH, day, at)", "datediff(YEAR, day, at)", "timestampdiff(WEEK, day, at)"),
    *("day + INTERVAL 1 HOUR", "day - INTERVAL 1 YEAR", "at + INTERVAL -1 DAY", "day + 1Y"),
    *("at - INTERVAL 36 HOUR", "INTERVAL 2 WEEKS + day", "day + INTERVAL '2' DAY"),
    *("coalesce(1, 1 / 0)", "coalesce(i, 1 / 0)", "if(i = 2, 1, 1 / 0)", "if(i = 3, 1, 1 / 0)"),
    *("CASE WHEN i = 2 THEN 'a' ELSE CAST('x' AS INT) END", "i = 3 AND 1 / 0 > 1"),
    *("false AND 1 / 0 > 1", "true OR 1 / 0 > 1", "i = 2 OR 1 / 0 > 1", "nullif(1, 1.0)"),
    *("CAST('x' AS INT) + NULL", "NULL + CAST('x' AS INT)", "CAST('x' AS INT) = none"),
    *("1 IN (1, NULL)", "2 IN (1, NULL)", "NULL IN (1)", "2 NOT IN (1, NULL)", "i IN (2.0, 3)"),
    *("count(*)", "count(DISTINCT i)", "sum(DISTINCT dec)", "count()", "sum()", "max(i, n)"),
    *("count(i, n)", "count(DISTINCT i, n)", "sum(9223372036854775807L + 0 * n)"),
    *("avg(dec)", "sum(dec)", "max(CAST('NaN' AS DOUBLE))", "mean(i)", "std(i)"),
    *("row_number() OVER (ORDER BY i)", "rank() OVER (ORDER BY i)", "rank(i) OVER (ORDER BY i)"),
    *("lag(i, 1, 0) OVER (ORDER BY i)", "lead(i) OVER (ORDER BY i)", "lag() OVER (ORDER BY i)"),
    *("99999999999999999999999999999999999999", "999999999999999999999999999999999999999", "1e400"),
    *("9223372036854775808", "-9223372036854775808", "1.0BD", "1.5F", "X'1'", "''"),
    *("CAST(1 AS VARCHAR(3))", "CAST('abc' AS CHAR(2))", "CAST(i AS FOO)", "CAST(i AS ARRAY<INT>)"),
    *(
        "i = 2 = true",
        "(i, n) = (2, 5L)",
        "(i, n) = (1, 2, 3)",
        "(i, n) <> (2, 5L)",
        "(i, n) < (3, 4)",
    ),
    *("i == 2", "i != 2", "!b", "b IS UNKNOWN", "i <=> NULL", "w = 'word' COLLATE UTF8_LCASE"),
    *("foo(1)", "sequence(1, 2)", "spark_catalog.foo(1)", "year(day => 1)", "abs(DISTINCT i)"),
    *("w.a", "day.a", "i.a", "i[0]", "nosuch", "nosuch.a", "probed.i", "probed.nosuch"),
)


def probes() -> list[Probe]:
    """Every probe, each once."""
    return list(dict.fromkeys(_all_probes()))


def _all_probes() -> Iterator[Probe]:
    yield from (Probe(f"{name}()") for name in NO_ARGUMENT)
    for name in (*_ONE_ARGUMENT.split(), *_AGGREGATES):
        yield from (Probe(f"{name}({{0}})", (argument,)) for argument in ALL)
    for name in _TWO_ARGUMENTS.split():
        yield from _of(f"{name}({{0}}, {{1}})", MANY, 2)
    for name, right in _THREE_ARGUMENTS.items():
        for place, other in itertools.product(range(3), ALL):
            given = (*right[:place], other, *right[place + 1 :])
            yield Probe(f"{name}({{0}}, {{1}}, {{2}})", given)
    yield from _operators()
    yield from _counts()
    yield from _casts()
    yield from (Probe(edge.replace("{", "{{").replace("}", "}}")) for edge in _EDGES)


def _of(form: str, pool: tuple[str, ...], count: int) -> Iterator[Probe]:
    return (Probe(form, given) for given in itertools.product(pool, repeat=count))


def _operators() -> Iterator[Probe]:
    for sign in _WITH_ALL:
        yield from _of(f"{{0}} {sign} {{1}}", ALL, 2)
    for sign in _WITH_MANY:
        yield from _of(f"{{0}} {sign} {{1}}", MANY, 2)
    for form in _OF_ONE:
        yield from _of(form, ALL, 1)
    for form in _OF_TWO:
        yield from _of(form, MANY, 2)


def _counts() -> Iterator[Probe]:
    """Too few arguments and too many."""
    for name in dict.fromkeys((*_ONE_ARGUMENT.split(), *_TWO_ARGUMENTS.split(), *_THREE_ARGUMENTS)):
        for count in range(6):
            places = ", ".join(f"{{{at}}}" for at in range(count))
            yield Probe(f"{name}({places})", ("s",) * count)


def _casts() -> Iterator[Probe]:
    for cast in ("CAST", "try_cast"):
        for text in _TEXTS:
            yield from (Probe(f"{cast}('{text}' AS {{0}})", (kind,)) for kind in _TYPES)
        for number in (*ALL, *_NUMBERS):
            yield from (Probe(f"{cast}({number} AS {{0}})", (kind,)) for kind in _TYPES)
    for text in _TEXTS:
        yield from (Probe(f"{{0}} '{text}'", (kind,)) for kind in _LITERAL_TYPES)
