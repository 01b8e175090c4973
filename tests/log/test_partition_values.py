"""Partition values as the log writes them, as Delta Lake 4.4 was seen to write each."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest

from tests.commands.sql_database import Database
from whitecap.engine.writing.file_layout import logged_partition


@pytest.mark.parametrize(
    ("value", "logged"),
    [
        (Decimal("0.00000001"), "0.00000001"),
        (Decimal("0E-8"), "0.00000000"),
        (datetime(1, 1, 2, tzinfo=UTC), "0001-01-02T00:00:00.000000Z"),
        (datetime(999, 1, 2, tzinfo=UTC), "0999-01-02T00:00:00.000000Z"),
        (-0.0, "-0.0"),
    ],
)
def test_a_partition_value_is_logged_as_delta_logs_it(value: Any, logged: str) -> None:
    assert logged_partition(value) == logged


def test_the_two_zeros_are_two_partitions_and_nan_is_one() -> None:
    database = Database()
    database.create("t", "id INT, d DOUBLE", "d")
    zeros, others = "(1, double('-0.0')), (2, 0.0D)", "(3, double('NaN')), (4, sqrt(-1D))"
    database.commit(f"INSERT INTO t SELECT * FROM VALUES {zeros}, {others} AS q(id, d)")
    assert _logged(database, "d") == ["-0.0", "0.0", "NaN"]


def test_a_float_names_its_partition_in_its_own_digits() -> None:
    database = Database()
    database.create("t", "id INT, f FLOAT", "f")
    database.commit("INSERT INTO t VALUES (1, 0.1), (2, NULL)")
    assert _logged(database, "f") == ["0.1", "None"]


def _logged(database: Database, column: str) -> list[str]:
    files = database.snapshot("t").all_files()
    return sorted(str((file.partition_values or {}).get(column)) for file in files)
