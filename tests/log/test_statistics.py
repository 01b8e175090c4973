"""File statistics: bounds that hold, counts that add up."""

from datetime import UTC, date, datetime
from decimal import Decimal
from math import inf, nan
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.collected_statistics import collect_statistics
from whitecap.engine.errors import InvalidLog
from whitecap.engine.log.indexed_columns import Indexed
from whitecap.engine.log.schema import parse_ddl
from whitecap.engine.log.statistics import (
    NO_STATISTICS,
    least_of,
    most_of,
    parse_statistics,
    statistics_text,
)


def written_and_read(kind: str, values: list[Any]) -> tuple[Any, Any] | None:
    schema = parse_ddl(f"c {kind}")
    text = statistics_text(collect_statistics([(value,) for value in values], schema))
    return parse_statistics(text).range_of(schema.fields[0])


@pytest.mark.parametrize(
    ("kind", "values", "expected"),
    [
        ("BIGINT", [3, None, -1], (-1, 3)),
        ("DOUBLE", [1.5, 2], (1.5, 2.0)),
        ("DOUBLE", [1.5, float("nan")], None),
        ("DECIMAL(20,2)", [Decimal("1234567890123456.78")], (Decimal("1234567890123456.78"),) * 2),
        ("DATE", [date(2026, 1, 2), date(2025, 1, 2)], (date(2025, 1, 2), date(2026, 1, 2))),
        (
            "TIMESTAMP",
            [datetime(9999, 12, 31, 23, 59, 59, 999999, UTC)],
            (
                datetime(9999, 12, 31, 23, 59, 59, 999000, UTC),
                datetime(9999, 12, 31, 23, 59, 59, 999999, UTC),
            ),
        ),
        (
            "TIMESTAMP",
            [datetime(2026, 1, 1, 0, 0, 0, 1500, UTC)],
            (datetime(2026, 1, 1, 0, 0, 0, 1000, UTC), datetime(2026, 1, 1, 0, 0, 0, 2000, UTC)),
        ),
        ("BOOLEAN", [True, False], None),
        ("STRING", [None], None),
    ],
)  # fmt: skip
def test_the_range_of_a_column_is_kept(kind: str, values: list[Any], expected: Any) -> None:
    assert written_and_read(kind, values) == expected


@given(st.lists(st.text(max_size=80), min_size=1))
def test_long_strings_are_cut_to_bounds_that_still_hold(values: list[str]) -> None:
    bounds = written_and_read("STRING", values)
    if bounds is not None:
        least, most = bounds
        assert all(least <= value <= most for value in values)
        assert len(least) <= 32


def test_counts_cover_all_rows_and_leave_out_partition_columns() -> None:
    schema = parse_ddl("x INT, v BIGINT")
    statistics = collect_statistics([(1, None), (1, 5)], schema, ["X"])
    assert (statistics.num_records, statistics.null_count) == (2, {"v": 1})
    assert statistics.nulls_of(schema.fields[1]) == 1
    assert statistics.nulls_of(schema.fields[0]) is None


def test_only_the_first_columns_are_indexed() -> None:
    schema = parse_ddl("a INT, b INT")
    assert list(collect_statistics([(1, 2)], schema, indexed=Indexed(1)).min_values) == ["a"]
    assert list(collect_statistics([(1, 2)], schema, indexed=Indexed(-1)).min_values) == ["a", "b"]
    assert collect_statistics([(1, 2)], schema, indexed=Indexed(0)).num_records == 1


def test_a_file_without_statistics_has_no_ranges() -> None:
    assert parse_statistics(None) is NO_STATISTICS
    assert NO_STATISTICS.range_of(parse_ddl("x INT").fields[0]) is None


@pytest.mark.parametrize("kind", ["DOUBLE", "FLOAT"])
@pytest.mark.parametrize(
    ("values", "least", "most"),
    [
        ([nan], "NaN", "NaN"),
        ([nan, 2.0, None], 2.0, "NaN"),
        ([-inf, nan], "-Infinity", "NaN"),
        ([2.0, inf], 2.0, "Infinity"),
    ],
)
def test_bounds_that_are_no_numbers_are_written_as_delta_does_and_read_again(
    kind: str, values: list[float | None], least: Any, most: Any
) -> None:
    """Observed on Delta Lake 4.4.0."""
    schema = parse_ddl(f"x {kind}")
    statistics = collect_statistics([(value,) for value in values], schema)
    assert (statistics.min_values["x"], statistics.max_values["x"]) == (least, most)
    read, column = parse_statistics(statistics_text(statistics)), schema.fields[0]
    assert (str(least_of(column)(read)), str(most_of(column)(read))) == (
        str(float(least)),
        str(float(most)),
    )


def test_text_that_is_no_statistics_is_an_invalid_log() -> None:
    with pytest.raises(InvalidLog):
        parse_statistics('{"numRecords":"one"}')
