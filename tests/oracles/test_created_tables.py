"""What CREATE does to the rows of a table that is there."""

from __future__ import annotations

import pytest

from tests.oracles.hand_made import HandMade, metadata, remove
from whitecap.sim.oracles.finding import Anomaly
from whitecap.sim.oracles.statements.columns import TableColumns
from whitecap.sim.oracles.statements.parsing import NotTranslated
from whitecap.sim.oracles.statements.text import NOTHING_TRANSLATED, Translated, meaning_of

COLUMNS = TableColumns(("id", "v"), frozenset(), ())

REPLACED = "CREATE OR REPLACE TABLE t (id BIGINT, v BIGINT) USING delta"

KEEPING = (
    "CREATE TABLE t (id BIGINT, v BIGINT) USING delta",
    "CREATE TABLE IF NOT EXISTS t (id BIGINT, v BIGINT) COMMENT 'made as\nselect'",
    "CREATE TABLE t (id BIGINT, v BIGINT GENERATED ALWAYS AS (id + 1)) CLUSTER BY AUTO",
    "CREATE TABLE t (`as` BIGINT, v BIGINT) -- AS SELECT",
)

EMPTYING = (
    REPLACED,
    "create or\nreplace table t (id BIGINT, v BIGINT GENERATED ALWAYS AS (id + 1))",
    "REPLACE TABLE t (id BIGINT, v BIGINT) USING delta",
)

BRINGING = (
    "CREATE OR REPLACE TABLE t AS\nSELECT 1 id, 2 v",
    "CREATE OR REPLACE TABLE t USING delta SELECT 1 id, 2 v",
    "CREATE TABLE t AS VALUES (1, 2)",
    "CREATE TABLE t VALUES (1, 2)",
    "CREATE TABLE t AS (SELECT 1 id, 2 v)",
    "CREATE OR REPLACE TABLE t SHALLOW CLONE s",
    "CREATE TABLE IF NOT EXISTS t CLONE s",
    "REPLACE TABLE t AS SELECT 1 id, 2 v",
)


def _replaced(*rows: tuple[int, int]) -> HandMade:
    table = HandMade()
    if rows:
        table.rewrites("a", "b", list(rows))
    else:
        table.commit(metadata(), remove("a"))
    table.did("writer", REPLACED, 0, 1)
    return table


def test_a_table_that_is_replaced_without_a_query_is_rightly_empty() -> None:
    assert not _replaced().findings()


def test_rows_that_are_left_in_a_replaced_table_are_wrong() -> None:
    assert _replaced((1, 10)).anomalies() == {Anomaly.WRONG_ROWS}


@pytest.mark.parametrize("statement", KEEPING)
def test_create_without_replace_keeps_the_rows_of_a_table_that_is_there(statement: str) -> None:
    assert meaning_of(statement, COLUMNS, False) == NOTHING_TRANSLATED


@pytest.mark.parametrize("statement", EMPTYING)
def test_create_or_replace_without_a_query_takes_all_rows(statement: str) -> None:
    meaning = meaning_of(statement, COLUMNS, False)
    assert isinstance(meaning, Translated)
    assert meaning == meaning_of("TRUNCATE TABLE t", COLUMNS, False)


@pytest.mark.parametrize("statement", BRINGING)
def test_rows_of_a_query_or_clone_that_makes_a_table_are_not_worked_out(statement: str) -> None:
    with pytest.raises(NotTranslated, match="CREATE with the rows of a query or of a clone"):
        meaning_of(statement, COLUMNS, False)
