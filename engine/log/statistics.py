"""Statistics of a data file: the JSON text in an add action, to and from Python values.

Delta keeps counts, and per column the smallest and largest value; a reader may skip a file whose
range cannot match. Source: PROTOCOL.md "Per-file Statistics"; StatisticsCollection.scala.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from functools import lru_cache
from math import isfinite, isinf, isnan
from typing import Any, TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from whitecap.engine.errors import InvalidLog, Problem
from whitecap.engine.log.indexed_columns import UNORDERED, Indexed
from whitecap.engine.log.schema import Field
from whitecap.engine.row_store.rows import count_nulls, extent
from whitecap.engine.row_store.summaries import Extent, extent_of
from whitecap.engine.values.types import FRACTIONAL, INSTANT_TYPES

# Appended to a largest value that was cut, so that it stays an upper bound.
# Source: StatisticsCollection.scala `truncateMaxStringAgg`.
_TIE_BREAKERS = ("\x7f", "\U0010ffff")
# Instants are cut to milliseconds when written, so a reader adds one to the largest.
# Source: DataSkippingReader.scala, `StatsColumn` of a timestamp's maximum.
_ROUNDING = timedelta(milliseconds=1)


class FileStatistics(Struct, frozen=True, rename="camel", omit_defaults=True, gc=False):
    """What is known of a file without reading it; values are as in JSON, see `range_of`."""

    num_records: int | None = None
    min_values: dict[str, Any] = msgspec.field(default_factory=dict)
    max_values: dict[str, Any] = msgspec.field(default_factory=dict)
    null_count: dict[str, Any] = msgspec.field(default_factory=dict)
    tight_bounds: bool | None = None

    def range_of(self, column: Field) -> Range | None:
        """The smallest and largest value of a column; `None` where either is not known, or NaN."""
        least, most = least_of(column)(self), most_of(column)(self)
        is_range = None not in (least, most) and least == least and most == most
        return (least, most) if is_range else None

    def nulls_of(self, column: Field) -> int | None:
        """How many values of a column are null; `None` where it is not known."""
        count = self.null_count.get(column.physical_name)
        return count if isinstance(count, int) else None


class _RecordCount(Struct, frozen=True, rename="camel", gc=False):
    """The one figure of them that most readers want."""

    num_records: int | None = None


Range = tuple[Any, Any]
"""The smallest and largest value of a column."""


def least_of(column: Field) -> Callable[[FileStatistics], Any]:
    """What gives a column's smallest value in a file; `None` where it is not known."""
    name, convert = column.physical_name, _conversion(column)

    def least(statistics: FileStatistics) -> Any:
        value = statistics.min_values.get(name)
        return None if value is None else convert(value)

    return least


def most_of(column: Field) -> Callable[[FileStatistics], Any]:
    """What gives a column's largest value in a file; `None` where it is not known."""
    name, convert = column.physical_name, _conversion(column)
    is_rounded = column.type in INSTANT_TYPES

    def most(statistics: FileStatistics) -> Any:
        value = statistics.max_values.get(name)
        if value is None:
            return None
        return _rounded_up(convert(value)) if is_rounded else convert(value)

    return most


def _rounded_up(moment: datetime) -> datetime:
    """An instant that was cut when it was written; none comes after the year 9999."""
    latest = datetime.max.replace(tzinfo=moment.tzinfo)
    return latest if moment > latest - _ROUNDING else moment + _ROUNDING


S = TypeVar("S", FileStatistics, _RecordCount)

NO_STATISTICS = FileStatistics()

# Fractions become `Decimal`, so that decimal columns keep their digits.
_DECODER = msgspec.json.Decoder(FileStatistics, float_hook=Decimal)
_COUNT_DECODER = msgspec.json.Decoder(_RecordCount)
_ENCODER = msgspec.json.Encoder(decimal_format="number", order="deterministic")


# Room for every file of a large table: a scan of more files than fit would never hit.
@lru_cache(maxsize=1 << 18)
def parse_statistics(text: str | None) -> FileStatistics:
    """Read an add action's `stats`; nothing is known of a file without them.

    Raises `InvalidLog` for text that is not statistics.
    """
    return _read(_DECODER, text) if text else NO_STATISTICS


def record_count(text: str | None) -> int | None:
    """How many rows an add action's `stats` say that the file has; `None` without any.

    Nothing else is read, and nothing remembered: who counts rows asks once of each file.
    Raises `InvalidLog` for text that is not statistics.
    """
    return _read(_COUNT_DECODER, text).num_records if text else None


def _read(decoder: msgspec.json.Decoder[S], text: str) -> S:
    try:
        return decoder.decode(text)
    except msgspec.DecodeError as error:
        raise InvalidLog([Problem("stats", str(error))]) from error


def statistics_text(statistics: FileStatistics) -> str:
    """Write statistics as the text of an add action's `stats`."""
    return _ENCODER.encode(statistics).decode()


def quoted_length(value: Any) -> int:
    """The bytes that a value of statistics takes in a line of the log, where these are a text."""
    return len(_ENCODER.encode(_ENCODER.encode(value).decode())) - len('""')


def extents_of(
    rows: Sequence[Sequence[Any]],
    columns: Sequence[tuple[int, Field]],
    unordered: frozenset[str] = UNORDERED,
) -> list[Extent]:
    """NULLs and bounds of some columns; those of an `unordered` type have no bounds."""
    if rows and isinstance(rows, list):
        cells = list(zip(*rows, strict=True))
        return [_extent(cells[at], ordered=c.type not in unordered) for at, c in columns]
    return [
        Extent(count_nulls(rows, at), None, None) if c.type in unordered else extent(rows, at)
        for at, c in columns
    ]


def _extent(cells: Sequence[Any], ordered: bool) -> Extent:
    """NULLs and bounds of one column of some rows."""
    return extent_of(cells) if ordered else Extent(cells.count(None), None, None)


def statistics_of(
    count: int,
    columns: Sequence[tuple[int, Field]],
    extents: Sequence[Extent],
    indexed: Indexed,
    tight_bounds: bool | None = None,
    finite_only: bool = False,
) -> FileStatistics:
    """The statistics of a file of `count` rows, from the extents of its columns.

    `finite_only`: columns with another bound have none.
    """
    least: dict[str, Any] = {}
    most: dict[str, Any] = {}
    nulls: dict[str, Any] = {}
    for (_, column), column_extent in zip(columns, extents, strict=True):
        name = column.physical_name
        nulls[name] = column_extent.nulls
        bounds = bounds_of(column_extent, column.type, indexed.prefix_length, finite_only)
        if bounds is not None:
            least[name], most[name] = bounds
    return FileStatistics(count, least, most, nulls, tight_bounds)


def bounds_of(
    column_extent: Extent, type_name: str, prefix_length: int, finite_only: bool = False
) -> tuple[Any, Any] | None:
    """The JSON of the smallest and largest value, if there are any; each follows from its own."""
    least, most = column_extent.least, column_extent.most
    if least is None:
        return None
    if type_name in FRACTIONAL:
        if isfinite(least) and isfinite(most):
            return float(least), float(most)
        return None if finite_only else (_fraction(least), _fraction(most))
    if type_name == "string":
        cut = _upper_text(most, prefix_length)
        return None if cut is None else (least[:prefix_length], cut)
    if type_name in INSTANT_TYPES:
        return _instant_text(least), _instant_text(most)
    if type_name == "date":
        return least.isoformat(), most.isoformat()
    return least, most


def _fraction(value: float) -> float | str:
    """As Delta 4.4 writes it (observed): a number where JSON has it, else its name."""
    if isnan(value):
        return "NaN"
    if isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return float(value)


def _upper_text(text: str, prefix_length: int) -> str | None:
    """A string of bounded length that is not smaller, `None` if there is none."""
    if len(text) <= prefix_length:
        return text
    # A character above the tie breaker must be followed by a larger one: look a little further.
    for length in range(prefix_length, min(len(text), 2 * prefix_length)):
        for mark in _TIE_BREAKERS:
            if text[length] < mark:
                return text[:length] + mark
    return None


def _instant_text(moment: datetime) -> str:
    """An instant, cut to milliseconds: also the largest, see `_ROUNDING`."""
    zone = "" if moment.tzinfo is None else "Z"
    local = moment if moment.tzinfo is None else moment.astimezone(UTC)
    return local.replace(tzinfo=None).isoformat(timespec="milliseconds") + zone


def _conversion(column: Field) -> Callable[[Any], Any]:
    return _CONVERSIONS.get(column.type.partition("(")[0], _as_it_is)


def _as_it_is(value: Any) -> Any:
    return value


def _instant(text: str) -> datetime:
    moment = datetime.fromisoformat(text)
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def _local_instant(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=None)


_CONVERSIONS: Mapping[str, Callable[[Any], Any]] = {
    "double": float,
    "float": float,
    "decimal": lambda number: Decimal(str(number)),
    "date": lambda text: date.fromisoformat(text[:10]),
    "timestamp": _instant,
    "timestamp_ntz": _local_instant,
}


def wide_bounds(statistics: FileStatistics) -> FileStatistics:
    """The statistics of a file of which some rows are hidden: as they were, and so too wide.

    Counts of NULLs too, hidden rows included (observed on Delta Lake 4.4.0). Source:
    StatisticsCollection.scala: updateStatsToWideBounds.
    """
    return replace(statistics, tight_bounds=False)
