"""Where sweeps are run and measured, which know nothing of each other: Spark or processes."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING

from whitecap.sim.sweeps.engines import (
    InProcesses,
    OnSpark,
    SweepEngine,
    SweepEngineName,
    engine_asked_for,
    engine_found,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from whitecap.reports.aggregate import MeasureEach

DEFAULT_MASTER = "local[*]"

SMALL = {
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.execution.arrow.pyspark.enabled": "false",
    "spark.sql.catalogImplementation": "in-memory",
}
"""Recordings are small: the defaults would cut them into 200 tasks and plan each twice."""


def sweep_engine(
    name: str | None = None, master: str | None = None, *, quiet: bool = False
) -> Callable[[], SweepEngine]:
    """The engine of this name, started when it is first called for; then it is always the same.

    Without a name it is Spark where Spark is there, else processes, and a line on stderr says so.

    Raises `InvalidInput`: there is no such engine, or it has no master; the engine, when called
    for, `EnvironmentMissing`: it is Spark, and Java or pyspark is missing.
    """
    asked_for = engine_asked_for(name, master)

    @cache
    def started() -> SweepEngine:
        chosen, reason = (asked_for, "") if asked_for else engine_found()
        if reason and not quiet:
            print(reason, file=sys.stderr, flush=True)
        match chosen:
            case SweepEngineName.SPARK:
                return OnSpark(aggregation_session(master or DEFAULT_MASTER))
            case SweepEngineName.PROCESSES:
                return InProcesses()

    return started


def measuring(engine: Callable[[], SweepEngine]) -> MeasureEach:
    """How reports have runs measured, on this engine."""
    return lambda measure, runs: engine().map(measure, runs)


def aggregation_session(master: str = DEFAULT_MASTER) -> SparkSession:
    """The process's session, started if need be.

    Raises `EnvironmentMissing` without Java or pyspark.
    """
    from whitecap.sim.replay.real.session import sweep_session

    return sweep_session(master, SMALL)
