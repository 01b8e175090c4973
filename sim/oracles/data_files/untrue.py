"""What a file's action says of its rows, held against them: counts, bounds, its deletion vector.

A reader skips files by their statistics, so rows outside of bounds are lost to it. Legal statistics
are not exact: those of a file with a deletion vector may count what it hides, texts are cut, and
instants and fractions rounded. Source: PROTOCOL.md "Per-file Statistics", "Deletion Vectors".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import date, datetime, timedelta
from decimal import Decimal
from math import isclose
from typing import Any

from pyroaring import BitMap64

from whitecap.engine.errors import InvalidLog
from whitecap.engine.log.actions import AddFile
from whitecap.engine.log.indexed_columns import UNORDERED
from whitecap.engine.log.schema import Field, Schema
from whitecap.engine.log.statistics import FileStatistics, least_of, most_of, parse_statistics
from whitecap.engine.storage.requests import Row

_ROUNDED = {"float": 1e-6, "double": 1e-12, "decimal": 1e-12}
"""By type, how far a bound may be from its value: single precision has seven digits, and writers
that keep fractions as DOUBLE have fifteen."""

_CUT = timedelta(milliseconds=1)
"""Instants in statistics are cut to milliseconds; before 1970 some writers cut them upwards."""

_FIRST_SURE_YEAR = 1900
"""Before it, calendars and zones with odd seconds differ among writers."""

_OLD_TIE_BREAKER = "\ufffd"
"""Ends texts that Delta 2 cut, though letters beyond the first 65,536 come after it.

Source: StatisticsCollection.scala of Delta 2, `truncateMaxStringAgg`: it compares UTF-16.
"""


def untrue_of(
    file: AddFile, rows: Sequence[Row], hidden: BitMap64 | None, schema: Schema
) -> Iterator[str]:
    """What is said of a file and is not so; `hidden` are the rows that its vector deletes."""
    try:
        statistics = parse_statistics(file.stats)
    except InvalidLog:
        return  # a rule of the log says so
    if statistics.num_records is not None and statistics.num_records != len(rows):
        yield f"numRecords is {statistics.num_records}, and it has {len(rows)} rows"
    if hidden is not None:
        yield from _of_vector(file, len(rows), hidden)
    live = rows if not hidden else [row for at, row in enumerate(rows) if at not in hidden]
    is_wide = statistics.tight_bounds is False or hidden is not None
    columns = zip(schema, zip(*live, strict=True), strict=True) if live else ()
    for column, values in columns:
        if column.nested is None and column.type != "void":
            yield from _of_nulls(column, values, statistics, is_wide)
            yield from _of_bounds(column, values, statistics)


def _of_vector(file: AddFile, rows: int, hidden: BitMap64) -> Iterator[str]:
    assert file.deletion_vector is not None
    if file.deletion_vector.cardinality != len(hidden):
        said = file.deletion_vector.cardinality
        yield f"the cardinality of its deletion vector is {said}, and it deletes {len(hidden)} rows"
    if hidden and hidden.max() >= rows:
        yield f"its deletion vector deletes row {hidden.max()}, and it has {rows} rows"


def _of_nulls(
    column: Field, values: Sequence[Any], statistics: FileStatistics, is_wide: bool
) -> Iterator[str]:
    """Wide counts say only whether all, or none, of the live rows are null."""
    said = statistics.nulls_of(column)
    if said is None:
        return
    nulls = values.count(None)
    of_none = said == 0 and nulls > 0
    of_all = said == statistics.num_records and nulls < len(values)
    if of_none or of_all if is_wide else said != nulls:
        yield f"nullCount of {column.name!r} is {said}, and it has {nulls} in {len(values)} rows"


def _of_bounds(column: Field, values: Sequence[Any], statistics: FileStatistics) -> Iterator[str]:
    if column.type in UNORDERED:
        return
    there = [value for value in values if value is not None and value == value]
    if not there:
        return
    with_bound: tuple[tuple[str, Any, Any, Callable[..., bool]], ...] = (
        ("smallest", min(there), least_of, _is_below),
        ("largest", max(there), most_of, _is_above),
    )
    for name, value, bound_of, is_beyond in with_bound:
        try:
            bound = bound_of(column)(statistics)
            if bound is not None and is_beyond(value, bound, column.type.partition("(")[0]):
                yield f"the {name} {column.name!r} is said to be {bound!s}, and one is {value!s}"
        except (ValueError, TypeError, ArithmeticError):
            continue  # a rule of the log says so


def _is_below(value: Any, bound: Any, kind: str) -> bool:
    return bool(value < bound) and not _is_as_good_as(value, bound, kind)


def _is_above(value: Any, bound: Any, kind: str) -> bool:
    if kind == "string" and bound.endswith(_OLD_TIE_BREAKER):
        bound = bound[:-1]
        value = value[: len(bound)]
    return bool(value > bound) and not _is_as_good_as(value, bound, kind)


def _is_as_good_as(value: Any, bound: Any, kind: str) -> bool:
    """Whether a bound beside its value may come of rounding."""
    if isinstance(value, date) and value.year < _FIRST_SURE_YEAR:
        return True
    if isinstance(value, datetime):
        return bool(abs(value - bound) <= _CUT)
    if isinstance(value, float | Decimal) and kind in _ROUNDED:
        return isclose(value, bound, rel_tol=_ROUNDED[kind], abs_tol=1e-40)
    return False
