"""Asks real Delta Lake what it reads for drawn queries, and writes it down (`make answers`)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from tests.scans.drawn_queries import QueryDrawing
from tests.scans.real_tables import real_tables
from tests.scans.scanned import QUERIES, Scanned, days_of, read_by_query, written

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DRAWS, SEED = 600, 1


def drawn() -> list[str]:
    """The queries that are asked about, each once."""
    drawing = QueryDrawing(SEED)
    return list(dict.fromkeys(drawing.query() for _ in range(DRAWS)))


def observed(spark: SparkSession, queries: Iterable[str]) -> dict[str, Scanned]:
    """What is read for each query, as its optimized plan says."""
    with real_tables(spark) as target:
        return {query: _scanned(spark, query, target.ids) for query in queries}


def _scanned(spark: SparkSession, query: str, ids: Mapping[str, int]) -> Scanned:
    read: set[int] = set()
    days: set[str | None] = set()
    plan = spark.sql(query)._jdf.queryExecution().optimizedPlan()
    for scan in _scans_of_target(plan):
        read |= {ids[file.path()] for file in _items(scan.files())}
        days |= days_of(scan.partition().files().get())
    return Scanned.of(read, days)


def _scans_of_target(plan: Any) -> Iterator[Any]:
    """What Delta prepared for each time that the target is read. Source: PrepareDeltaScan.scala."""
    for part in (plan, *_items(plan.subqueriesAll())):
        for leaf in _items(part.collectLeaves()):
            if leaf.getClass().getSimpleName() != "LogicalRelation":
                continue
            index = leaf.relation().location()
            if index.path().getName() == "target":
                yield index.preparedScan()


def _items(several: Any) -> Iterator[Any]:
    return (several.apply(at) for at in range(several.size()))


def main() -> None:
    """Ask for all of them."""
    from whitecap.sim.replay.real.session import delta_session

    scans = observed(delta_session(), drawn())
    QUERIES.write_bytes(written(scans, read_by_query))
    print(json.dumps({"queries": len(scans)}))


if __name__ == "__main__":
    main()
