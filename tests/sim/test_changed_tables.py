"""What writers meet whose table another one has changed since the scenario was checked."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

from tests.sim.sim_worlds import INSERT, UPDATE, ran, rows
from whitecap.engine.errors import DeltaError, InvalidInput, Problem

NAMED = {"delta.columnMapping.mode": "name"}
STREAM = {"streaming": {"checkpoint": "c", "rows": {"count": 3}}, "arrival": INSERT["arrival"]}


def _ends(ddl: str, writer: dict[str, Any]) -> set[tuple[str, str | None]]:
    """How the writer's transactions end that begin after the change, at one minute."""
    definer = {"statement": ddl, "arrival": {"schedule": {"at": ["1 min"]}}}
    changes = {"table.properties": NAMED, "table.partition_by": []}
    run = ran(changes, writers={"definer": definer, "w": writer}, duration="3 min")
    (changed,) = [row for row in rows(run) if row["writer_group"] == "definer"]
    later = [
        row
        for row in rows(run)
        if row["writer_group"] == "w" and row["read_version"] >= changed["committed_version"]
    ]
    assert later
    return {(row["outcome"], row["exception"]) for row in later if row["outcome"] != "in_flight"}


def test_a_statement_on_a_column_that_is_gone_is_refused_as_spark_refuses_it() -> None:
    ends = _ends("ALTER TABLE events RENAME COLUMN amount TO price", UPDATE)
    assert ends == {("aborted", "ExtendedAnalysisException")}


@pytest.mark.parametrize(
    "ddl",
    [
        "ALTER TABLE events RENAME COLUMN amount TO price",
        "ALTER TABLE events DROP COLUMN country",
        "CREATE OR REPLACE TABLE events (event_id BIGINT) USING delta",
    ],
)
def test_a_batch_with_a_column_that_the_table_has_no_more_is_refused(ddl: str) -> None:
    assert _ends(ddl, STREAM) == {("aborted", "DeltaAnalysisExceptionWithSubErrors")}


def test_a_batch_lacks_columns_that_the_table_got_since() -> None:
    assert _ends("ALTER TABLE events ADD COLUMN extra INT", STREAM) == {("committed", None)}


def test_the_columns_of_a_batch_go_by_their_names() -> None:
    turned = "event_id BIGINT, country STRING, amount DOUBLE, date DATE, extra INT"
    replaced = f"CREATE OR REPLACE TABLE events ({turned}) USING delta"
    assert _ends(replaced, STREAM) == {("committed", None)}


@pytest.mark.parametrize(
    "error",
    [
        InvalidInput([Problem("here", "wrong"), Problem("there", "too", "nearest")]),
        DeltaError("DeltaAnalysisException", "DELTA_SOME_CLASS", "[DELTA_SOME_CLASS] text"),
    ],
)
def test_copies_of_an_error_say_the_same(error: Exception) -> None:
    """SimPy raises a copy of what a process raised, made of its arguments."""
    copied = type(error)(*error.args)
    assert str(copied) == str(error)
    assert vars(copied) == vars(error)
    assert str(pickle.loads(pickle.dumps(error))) == str(error)
