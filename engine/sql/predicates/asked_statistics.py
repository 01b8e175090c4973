"""What a condition asks of a file's statistics, and what it makes of them.

Delta leaves a file out only where it has every statistic that the whole condition asks for. One
that is missing, for instance of a column that came later, keeps the file, whatever the others say.
Source: DataSkippingReader.scala: getDataSkippedFiles, verifyStatsForFilter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from enum import Enum
from typing import Any

from msgspec import Struct

from whitecap.engine.log.schema import Field
from whitecap.engine.log.statistics import FileStatistics, least_of, most_of
from whitecap.engine.values.types import FRACTIONAL


class Statistic(Enum):
    """One of the figures that a file may have: of a column, or of all its rows."""

    LEAST = "minValues"
    MOST = "maxValues"
    NULLS = "nullCount"
    RECORDS = "numRecords"


AskedStatistic = tuple[Statistic, str]
"""A statistic and the column's name in the log, which is empty for the number of rows."""

RECORDS: AskedStatistic = (Statistic.RECORDS, "")
NOTHING: frozenset[AskedStatistic] = frozenset()
BOTH_BOUNDS = (Statistic.LEAST, Statistic.MOST)

Holds = Callable[[FileStatistics], bool]


class StatisticsTest(Struct, frozen=True):
    """A test of files: `holds` says whether a row may match, where there is all it asks for."""

    holds: Holds
    asks_for: frozenset[AskedStatistic] = NOTHING

    def keeps(self, statistics: FileStatistics) -> bool:
        """False where no row of a file with these statistics can match."""
        return self.holds(statistics) or not all(
            _is_there(statistic, name, statistics) for statistic, name in self.asks_for
        )


NEVER = StatisticsTest(lambda _statistics: False)
ALWAYS = StatisticsTest(lambda _statistics: True)


def both(left: StatisticsTest, right: StatisticsTest) -> StatisticsTest:
    """What must hold of two conditions that are joined by AND."""
    first, second = left.holds, right.holds
    return StatisticsTest(lambda file: first(file) and second(file), left.asks_for | right.asks_for)


def either(left: StatisticsTest, right: StatisticsTest) -> StatisticsTest:
    """What must hold of two conditions that are joined by OR: also the one asks for the other's."""
    first, second = left.holds, right.holds
    return StatisticsTest(lambda file: first(file) or second(file), left.asks_for | right.asks_for)


def every(tests: Sequence[StatisticsTest]) -> StatisticsTest:
    """What must hold of all conditions of one read."""
    if len(tests) == 1:
        return tests[0]
    asks_for = NOTHING.union(*(test.asks_for for test in tests))
    return StatisticsTest(lambda file: all(test.holds(file) for test in tests), asks_for)


def asked_of(field: Field, bounds: Iterable[Statistic]) -> frozenset[AskedStatistic]:
    """What a comparison asks for: bounds, and whether a missing one means that all are NULL."""
    statistics = (Statistic.NULLS, *bounds)
    return frozenset({*((each, field.physical_name) for each in statistics), RECORDS})


def bounds_test(
    field: Field,
    bounds: Sequence[Statistic],
    seen_as: Callable[[Any], Any] | None,
) -> Callable[[Callable[..., bool]], StatisticsTest]:
    """Makes tests that compare some bounds of a column; no value lies between those of NULLs."""
    reads = [_read_by(bound, field) for bound in bounds]
    asks_for = asked_of(field, bounds)

    def test_of(compare: Callable[..., bool]) -> StatisticsTest:
        def holds(statistics: FileStatistics) -> bool:
            values = [read(statistics) for read in reads]
            if None in values:
                return False
            return compare(*(values if seen_as is None else map(seen_as, values)))

        return StatisticsTest(holds, asks_for)

    return test_of


def nulls_test(field: Field, wanted: bool) -> StatisticsTest:
    """Whether a file may have a NULL in a column, or something else."""
    name = field.physical_name
    nulls: AskedStatistic = (Statistic.NULLS, name)
    if wanted:
        return StatisticsTest(lambda file: bool(file.null_count.get(name)), frozenset({nulls}))
    return StatisticsTest(lambda file: _has_values(file, name), frozenset({nulls, RECORDS}))


def _has_values(statistics: FileStatistics, name: str) -> bool:
    nulls, records = statistics.null_count.get(name), statistics.num_records
    return nulls is not None and records is not None and bool(nulls < records)


def _is_there(statistic: Statistic, name: str, statistics: FileStatistics) -> bool:
    match statistic:
        case Statistic.RECORDS:
            return statistics.num_records is not None
        case Statistic.NULLS:
            return statistics.null_count.get(name) is not None
        case Statistic.LEAST:
            bound = statistics.min_values.get(name)
        case Statistic.MOST:
            bound = statistics.max_values.get(name)
    return bound is not None or statistics.null_count.get(name) == statistics.num_records


def _read_by(bound: Statistic, field: Field) -> Callable[[FileStatistics], Any]:
    """What gives a bound of a column in a file."""
    read = least_of(field) if bound is Statistic.LEAST else most_of(field)
    return (lambda file: ordered(read(file))) if field.type in FRACTIONAL else read


class _NotANumber:
    """NaN as Spark orders it: above all numbers, and as large as itself."""

    def __lt__(self, other: object) -> bool:
        return False

    def __le__(self, other: object) -> bool:
        return other is self

    def __gt__(self, other: object) -> bool:
        return other is not self

    def __ge__(self, other: object) -> bool:
        return True


_NAN = _NotANumber()


def ordered(value: Any) -> Any:
    """A constant or a bound, to be compared in Spark's order: Python has NaN nowhere."""
    return _NAN if value != value else value
