"""What a statement's kind lets it do to rows, where no statement is run."""

from __future__ import annotations

import pytest

from tests.oracles.hand_made import HandMade
from whitecap.sim.oracles.finding import Anomaly, Oracle
from whitecap.sim.oracles.judging import judge_evidence

BEFORE = [(1, 10), (2, 20)]

WRONG = {
    "OPTIMIZE t": [(1, 10)],
    "INSERT INTO t VALUES (3, 30)": [(2, 20), (3, 30)],
    '{"rows": [{"id": 3, "v": 30}]}': [(3, 30)],
    "DELETE FROM t WHERE id = 1": [(2, 21)],
    "UPDATE t SET v = 11 WHERE id = 1": [(1, 11)],
    "CREATE OR REPLACE TABLE t (id BIGINT, v BIGINT)": [(3, 3)],
    "CREATE TABLE IF NOT EXISTS t (id BIGINT, v BIGINT)": [(1, 10)],
    "OPTIMIZE;": [(1, 10)],
}

RIGHT = {
    "OPTIMIZE t": BEFORE,
    "INSERT INTO t VALUES (3, 30)": [*BEFORE, (3, 30)],
    "DELETE FROM t WHERE id = 1": [(2, 20)],
    "UPDATE t SET v = 11 WHERE id = 1": [(1, 11), (2, 20)],
    "INSERT OVERWRITE t VALUES (9, 9)": [(9, 9)],
    "INSERT INTO t REPLACE WHERE id = 1 VALUES (1, 5)": [(1, 5), (2, 20)],
    "CREATE OR REPLACE TABLE t AS SELECT 3 id, 3 v": [(3, 3)],
    "CREATE TABLE IF NOT EXISTS t (id BIGINT, v BIGINT)": BEFORE,
}


def _after(statement: str, rows: list[tuple[int, int]]) -> HandMade:
    table = HandMade()
    table.rewrites("a", "b", rows)
    table.did("writer", statement, 0, 1)
    return table


def _findings(table: HandMade) -> list[tuple[Oracle, Anomaly]]:
    judgement = judge_evidence(table.evidence, replay=False)
    return [(finding.oracle, finding.anomaly) for finding in judgement.findings]


@pytest.mark.parametrize("statement", WRONG)
def test_rows_that_a_statement_of_this_kind_cannot_leave_are_found(statement: str) -> None:
    table = _after(statement, WRONG[statement])
    assert _findings(table) == [(Oracle.CONTENT, Anomaly.WRONG_ROWS)]


@pytest.mark.parametrize("statement", RIGHT)
def test_rows_that_it_may_leave_are_none(statement: str) -> None:
    assert not _findings(_after(statement, RIGHT[statement]))


def test_a_second_commit_of_one_transaction_keeps_all_rows() -> None:
    table = HandMade()
    table.appends("b", [(3, 30)])
    table.appends("c", [(3, 30)])
    table.did("twice", "INSERT INTO t VALUES (3, 30)", 0, 1, 2)
    assert (Oracle.CONTENT, Anomaly.WRONG_ROWS) in _findings(table)
