"""A BOOLEAN column as a condition, whose files delta-rs tells apart by partition."""

from __future__ import annotations

import pytest

from whitecap.engine.races.conformance.case import CaseStatus, StatementCase
from whitecap.engine.races.conformance.run import run_cases
from whitecap.engine.races.row_tables import DataFile, TableOf
from whitecap.sim.replay.delta_rs.cases import run_cases as run_on_delta_rs

FILES = [
    DataFile(partition_values={}, rows=[{"id": number, "done": done}])
    for number, done in enumerate((True, False, None))
]
TARGET = TableOf(
    schema="id BIGINT, done BOOLEAN",
    partition_columns=["done"],
    properties={},
    files=FILES,
    versions=len(FILES) + 1,
)


@pytest.mark.parametrize(
    ("condition", "value", "ended"),
    [
        ("done", "false", "committed"),
        ("done", "true", "ConcurrentAppendException"),
        ("done", "NULL", "ConcurrentAppendException"),
        ("done = true", "false", "committed"),
        ("done <> false", "false", "committed"),
        ("done <> true", "true", "committed"),
        ("done <> true", "NULL", "ConcurrentAppendException"),
        ("NOT done", "true", "committed"),
        ("NOT done", "NULL", "ConcurrentAppendException"),
    ],
)
def test_a_truth_as_condition_is_read_in_partitions_that_may_have_it_and_in_that_of_null(
    condition: str, value: str, ended: str
) -> None:
    case = StatementCase(
        id="truth",
        dialect="delta-rs-1.6.3",
        tables={"target": TARGET},
        winner=f"INSERT INTO target VALUES (9, {value})",
        current=f"UPDATE target SET id = 20 WHERE {condition}",
        expect={"current": ended},
    )
    (real,), (ours,) = run_on_delta_rs([case]), run_cases([case])
    assert (real.status, ours.status) == (CaseStatus.PASSED, CaseStatus.PASSED)
