"""Asks real Delta Lake what it reads for drawn queries, and writes it down (`make answers`)."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.scans.drawn_queries import QueryDrawing
from tests.scans.scanned import (
    BATCH,
    BATCH_ROWS,
    SCANS,
    TARGET,
    Scanned,
    days_of,
    target_rows,
    written,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

QUERIES, SEED = 600, 1


def drawn() -> list[str]:
    """The queries that are asked about, each once."""
    drawing = QueryDrawing(SEED)
    return list(dict.fromkeys(drawing.query() for _ in range(QUERIES)))


def observed(spark: SparkSession, queries: Iterable[str]) -> dict[str, Scanned]:
    """What is read for each query, as its optimized plan says."""
    with tempfile.TemporaryDirectory() as folder:
        ids = _make_tables(spark, Path(folder))
        try:
            return {query: _scanned(spark, query, ids) for query in queries}
        finally:
            for name in ("target", "batch"):
                spark.sql(f"DROP TABLE {name}")


def _make_tables(spark: SparkSession, folder: Path) -> dict[str, int]:
    """The two tables; the ids in the target's files, by their paths."""
    for name, columns, end in (("target", TARGET, "PARTITIONED BY (day)"), ("batch", BATCH, "")):
        place = f"USING delta {end} LOCATION '{folder / name}'"
        spark.sql(f"CREATE TABLE {name} ({columns}) {place}")
    rows = target_rows()
    given = spark.sql(f"SELECT * FROM VALUES {', '.join(rows)} AS v(id, n, day)")
    given.repartitionByRange(len(rows), "id").writeTo("target").append()
    spark.sql(f"INSERT INTO batch VALUES {BATCH_ROWS}")
    log = folder / "target" / "_delta_log"
    lines = (json.loads(line) for line in (log / f"{1:020}.json").read_text().splitlines())
    adds = [line["add"] for line in lines if "add" in line]
    assert len(adds) == len(rows), "a file for each row"
    return {add["path"]: json.loads(add["stats"])["minValues"]["id"] for add in adds}


def _scanned(spark: SparkSession, query: str, ids: dict[str, int]) -> Scanned:
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
    SCANS.write_bytes(written(scans))
    print(json.dumps({"scans": len(scans)}))


if __name__ == "__main__":
    main()
