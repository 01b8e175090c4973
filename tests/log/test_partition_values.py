"""Partition values as the log writes them, as Delta Lake 4.4 was seen to write each."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest

from whitecap.engine.writing.file_layout import logged_partition


@pytest.mark.parametrize(
    ("value", "logged"),
    [
        (Decimal("0.00000001"), "0.00000001"),
        (Decimal("0E-8"), "0.00000000"),
        (datetime(1, 1, 2, tzinfo=UTC), "0001-01-02T00:00:00.000000Z"),
        (datetime(999, 1, 2, tzinfo=UTC), "0999-01-02T00:00:00.000000Z"),
    ],
)
def test_a_partition_value_is_logged_as_delta_logs_it(value: Any, logged: str) -> None:
    assert logged_partition(value) == logged
