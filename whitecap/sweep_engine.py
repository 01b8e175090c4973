"""What runs sweeps and reads them: Spark or processes, started when it is first called for."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING

from whitecap.sim.sweeps.engines import (
    SweepEngine,
    SweepEngineName,
    engine_asked_for,
    engine_found,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DEFAULT_MASTER = "local[*]"

SETTINGS = {
    "spark.sql.execution.arrow.pyspark.enabled": "false",
    "spark.sql.catalogImplementation": "in-memory",
}


def sweep_engine(
    name: str | None,
    master: str | None = None,
    *,
    quiet: bool = False,
    makes_runs: bool = False,
) -> Callable[[], SweepEngine]:
    """The engine of this name, started when it is first called for; then it is always the same.

    Without a name it is Spark where Spark is there, else processes, and a line on stderr says so.
    An engine that does not make runs reads them.

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
                from whitecap.sim.sweeps.on_spark import OnSpark

                session = spark_session(master or DEFAULT_MASTER, makes_runs=makes_runs)
                return OnSpark(session)
            case SweepEngineName.PROCESSES:
                from whitecap.sim.sweeps.in_processes import InProcesses

                return InProcesses()

    return started


def spark_session(master: str, *, makes_runs: bool = False) -> SparkSession:
    """The process's session, started if need be: for one that makes runs, or reads them.

    Raises `EnvironmentMissing` without Java or pyspark.
    """
    from whitecap.sim.replay.real.session import sweep_session

    return sweep_session(master, SETTINGS, makes_runs=makes_runs)
