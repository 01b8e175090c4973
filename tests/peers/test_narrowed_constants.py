"""Conditions that delta-rs computes otherwise than they are written, which are refused for it."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from whitecap.engine.races.conformance.case import CaseResult, CaseStatus, StatementCase
from whitecap.engine.races.conformance.run import run_cases
from whitecap.engine.races.row_tables import DataFile, TableOf
from whitecap.sim.replay.delta_rs.cases import run_cases as run_on_delta_rs

MERGE = "MERGE INTO target t USING (SELECT 1 AS id) s ON t.id = s.id"
ROWS: list[dict[str, Any]] = [{"id": 1, "q": 1}, {"id": 2, "q": 2}]
APPENDED = {"id": 9, "q": 9}
TARGET = TableOf(
    schema="id BIGINT, q INT",
    partition_columns=[],
    properties={},
    files=[DataFile(partition_values={}, rows=ROWS)],
    versions=2,
)


def race(current: str, left: list[dict[str, Any]]) -> StatementCase:
    """A statement beside an append that its condition does not hold of, and the rows in the end."""
    return StatementCase(
        id="narrowed",
        dialect="delta-rs-1.6.3",
        tables={"target": TARGET},
        winner="INSERT INTO target VALUES (9, 9)",
        current=current,
        expect={"current": "committed", "rows": [*left, APPENDED]},
    )


def ended(case: StatementCase) -> CaseResult:
    """How it ended here."""
    (result,) = run_cases([case])
    return result


@pytest.mark.parametrize(
    ("current", "constant"),
    [
        ("DELETE FROM target WHERE q = 1.5", "1.5"),
        ("DELETE FROM target WHERE id = 3 OR NOT q < 1.5", "1.5"),
        ("DELETE FROM target WHERE q IN (1, 2.5)", "2.5"),
        ("DELETE FROM target WHERE q BETWEEN 0 AND 2.5", "2.5"),
        ("DELETE FROM target WHERE 3000000000 > q", "3000000000"),
        ("DELETE FROM target WHERE q < CAST('NaN' AS DOUBLE)", "CAST('NaN' AS DOUBLE)"),
        ("DELETE FROM target WHERE CAST(q AS DECIMAL(10,2)) < 99999999999", "99999999999"),
        ("UPDATE target SET q = 5 WHERE q = NULL", "NULL"),
        (f"{MERGE} AND t.q = 1.5 WHEN MATCHED THEN DELETE", "1.5"),
        (f"{MERGE} WHEN MATCHED AND t.q < 1.5 THEN DELETE", "1.5"),
        ("INSERT INTO target REPLACE WHERE q < 1.5 VALUES (1, 1)", "1.5"),
    ],
)
def test_a_constant_that_the_column_does_not_hold_is_refused_by_name(
    current: str, constant: str
) -> None:
    result = ended(race(current, []))
    assert result.status is CaseStatus.SKIPPED
    assert result.reason.startswith(f"{constant} in ")
    assert "delta-rs casts a constant" in result.reason


@pytest.mark.parametrize("constant", ["1", "1.0", "'1'"])
def test_a_constant_of_another_type_that_the_column_holds_is_not(constant: str) -> None:
    case = race(f"DELETE FROM target WHERE q = {constant}", ROWS[1:])
    (real,) = run_on_delta_rs([case])
    assert (real.status, ended(case).status) == (CaseStatus.PASSED, CaseStatus.PASSED)


def test_the_package_does_delete_the_rows_of_another_constant() -> None:
    (real,) = run_on_delta_rs([race("DELETE FROM target WHERE q = 1.5", ROWS[1:])])
    assert real.status is CaseStatus.PASSED


def test_the_package_does_remove_every_file_beside_null() -> None:
    case = race("INSERT INTO target VALUES (9, 9)", [])
    expected = {"winner": "committed", "current": "ConcurrentDeleteReadException", "rows": []}
    by_null = "DELETE FROM target WHERE q = NULL"
    (real,) = run_on_delta_rs([replace(case, winner=by_null, expect=expected)])
    assert real.status is CaseStatus.PASSED
