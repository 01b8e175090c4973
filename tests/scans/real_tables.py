"""The tables of the observations, made by real Delta Lake."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from tests.scans.scanned import BATCH, BATCH_ROWS, TARGET, target_rows

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class RealTarget(Struct, frozen=True):
    """Where the target lies, and the ids in its files, by their paths."""

    place: Path
    ids: dict[str, int]


@contextmanager
def real_tables(spark: SparkSession) -> Iterator[RealTarget]:
    """`target` and `batch`, for as long as they are asked about."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            yield _made(spark, Path(folder))
        finally:
            for name in ("target", "batch"):
                spark.sql(f"DROP TABLE IF EXISTS {name}")


def _made(spark: SparkSession, folder: Path) -> RealTarget:
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
    ids = {add["path"]: json.loads(add["stats"])["minValues"]["id"] for add in adds}
    return RealTarget(folder / "target", ids)
