"""What the tests of commands share."""

from __future__ import annotations

import pytest

from tests.commands.sql_database import Database


@pytest.fixture
def db() -> Database:
    """A database with the table `t`, partitioned by x: three files in two partitions."""
    database = Database()
    database.create("t", "x INT, v BIGINT", "x")
    for rows in ("(1, 1), (1, 2)", "(1, 11), (1, 12)", "(2, 1), (2, 21)"):
        database.sql(f"INSERT INTO t VALUES {rows}")
    return database
