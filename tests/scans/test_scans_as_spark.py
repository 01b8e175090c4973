"""What queries read is what real Delta Lake prepares to read for them, in drawn queries.

Too little would let a transaction commit that Delta refuses; too much refuses one that commits.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from tests.scans.observe_scans import drawn, observed
from tests.scans.scanned import Observation, engine_scan, kept

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

KEPT = kept()
MOST_READ_MORE = 1
"""Queries that read more here than there, for what Spark infers is not all inferred here."""


def test_every_drawn_query_has_been_observed() -> None:
    assert [each.query for each in KEPT] == drawn()


@pytest.mark.parametrize("there", KEPT, ids=lambda there: there.query)
def test_whatever_delta_reads_is_read_and_hardly_ever_more(there: Observation) -> None:
    here = engine_scan(there.query)
    assert here.covers(there.scanned)
    assert (here == there.scanned) is there.is_same


def test_few_queries_read_more_than_there() -> None:
    more = [each.query for each in KEPT if not each.is_same]
    assert len(more) <= MOST_READ_MORE, more


@pytest.mark.spark
def test_delta_still_reads_what_was_written_down(spark: SparkSession) -> None:
    sample = random.Random(1).sample(KEPT, 6)
    scans = observed(spark, [each.query for each in sample])
    assert scans == {each.query: each.scanned for each in sample}
