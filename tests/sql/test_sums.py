"""Sums and averages, as Spark 4.2 was seen to add."""

from __future__ import annotations

from typing import Any

import pytest

from whitecap.engine.sql.functions.aggregates import AGGREGATES


@pytest.mark.parametrize(
    ("name", "of_type", "values", "gives"),
    [
        ("avg", "bigint", [9007199254740993, 1], 4.503599627370496e15),
        ("sum", "bigint", [9223372036854775806, 1, -5], 9223372036854775802),
        ("sum", "double", [1e16, 1.0, 1.0, -1e16], 0.0),
        ("avg", "double", [1e16, 1.0, 1.0, -1e16], 0.0),
        ("sum", "float", [], None),
    ],
)
def test_numbers_are_added_one_after_the_other(
    name: str, of_type: str, values: list[Any], gives: Any
) -> None:
    fold = AGGREGATES[name]
    assert fold.value(values, fold.gives(of_type)) == gives
