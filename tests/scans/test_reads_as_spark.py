"""What SQL reads is what real Delta Lake reads for it: drawn queries, UPDATE, DELETE and MERGE.

Too little would let a transaction commit that Delta refuses; too much refuses one that commits.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from tests.scans import observe_queries, observe_statements
from tests.scans.scanned import (
    QUERIES,
    STATEMENTS,
    Observation,
    Scanned,
    kept,
    read_by_query,
    read_by_statement,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

OF_QUERIES, OF_STATEMENTS = kept(QUERIES), kept(STATEMENTS)
MOST_READ_MORE = 1
"""Of either that read more here than there, for what Spark infers is not all inferred here."""


def test_everything_drawn_has_been_observed() -> None:
    assert [each.sql for each in OF_QUERIES] == observe_queries.drawn()
    assert [each.sql for each in OF_STATEMENTS] == observe_statements.drawn()


@pytest.mark.parametrize("there", OF_QUERIES, ids=lambda there: there.sql)
def test_whatever_a_query_reads_there_is_read_here_and_hardly_ever_more(there: Observation) -> None:
    _require_read(read_by_query(there.sql), there)


@pytest.mark.parametrize("there", OF_STATEMENTS, ids=lambda there: there.sql)
def test_whatever_a_change_of_rows_reads_there_is_read_here_and_hardly_ever_more(
    there: Observation,
) -> None:
    _require_read(read_by_statement(there.sql), there)


def _require_read(here: Scanned, there: Observation) -> None:
    assert here.covers(there.scanned)
    assert (here == there.scanned) is there.is_same


@pytest.mark.parametrize("observations", [OF_QUERIES, OF_STATEMENTS], ids=["queries", "changes"])
def test_few_read_more_than_there(observations: list[Observation]) -> None:
    more = [each.sql for each in observations if not each.is_same]
    assert len(more) <= MOST_READ_MORE, more


@pytest.mark.spark
def test_delta_still_reads_what_was_written_down_for_queries(spark: SparkSession) -> None:
    sample = random.Random(1).sample(OF_QUERIES, 6)
    assert observe_queries.observed(spark, [each.sql for each in sample]) == {
        each.sql: each.scanned for each in sample
    }


@pytest.mark.spark
def test_delta_still_reads_what_was_written_down_for_statements(spark: SparkSession) -> None:
    sample = random.Random(1).sample(OF_STATEMENTS, 4)
    assert observe_statements.observed(spark, [each.sql for each in sample]) == {
        each.sql: each.scanned for each in sample
    }
