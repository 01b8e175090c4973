"""The Spark session behind sweeps and reports, which know nothing of each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SMALL = {
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.execution.arrow.pyspark.enabled": "false",
    "spark.sql.catalogImplementation": "in-memory",
}
"""Recordings are small: the defaults would cut them into 200 tasks and plan each twice."""


def aggregation_session(master: str = "local[*]") -> SparkSession:
    """The process's session, started if need be.

    Raises `EnvironmentMissing` without Java or pyspark.
    """
    from whitecap.sim.replay.real.session import sweep_session

    return sweep_session(master, SMALL)
