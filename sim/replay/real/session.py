"""The Spark sessions of this project: one with Delta Lake for replays, one without for sweeps.

A process has one JVM, whose classpath is fixed when it starts. A session with Delta can do
everything that one without can, never the other way round.
"""

from __future__ import annotations

import atexit
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from subprocess import Popen
from typing import TYPE_CHECKING, Any

from whitecap.sim.replay.real.environment import (
    EnvironmentMissing,
    MissingPrerequisite,
    require_delta,
    require_spark,
)
from whitecap.sim.replay.real.jars import delta_jars
from whitecap.sim.replay.real.jvm import Jvm

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DELTA_EXTENSION = "io.delta.sql.DeltaSparkSessionExtension"
DELTA_CATALOG = "org.apache.spark.sql.delta.catalog.DeltaCatalog"

PLAIN_NAME = "whitecap"
"""The application name of a session without Delta; by it we know our own."""

JVM_ENDS_WITHIN_S = 60
"""How long a JVM may take to end on a loaded machine. Ours."""

QUERY_CONTEXTS = ("SQLQueryContextLogger", "DataFrameQueryContextLogger")
"""Loggers of PySpark's exceptions (pyspark/errors/exceptions/base.py: _log_exception)."""

QUIET = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.sql.session.timeZone": "UTC",
}
"""No web page, no progress bar, no open port; instants are UTC as in our recordings."""

ONLY_HERE = ("spark.driver.host", "spark.driver.bindAddress")
"""Settings of `QUIET` that would hide the driver from the machines of a cluster."""

SMALL_TABLES = {
    "spark.sql.shuffle.partitions": "1",
    "spark.databricks.delta.snapshotPartitions": "1",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.sources.parallelPartitionDiscovery.parallelism": "2",
    "spark.sql.catalogImplementation": "in-memory",
}
"""A replayed table is small: with Delta's 50 tasks per snapshot each commit takes seconds more."""

SOON_DONE = "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m"
"""Of a JVM of some dozen statements, which ends before it is repaid what its optimizing compiler
takes: one table written and read takes 34 s of CPU with it and 14 s without, the replay of the
demo's 40 transactions 114 s and 96 s, four fuzzed tests of minutes 165 s and 156 s (2 cores).

Code that is compiled has the room that it has with that compiler (240 MB; JDK 17,
compilerDefinitions.cpp): in the 48 MB without it Spark's is full after 40 s, and nothing is
compiled from then on (a free run of 40 statements: 230 s of CPU, 186 with the room).
"""

FEEDS_PYTHON = f"{SOON_DONE} -XX:+UseSerialGC"
"""Of a JVM on this machine that takes rows from the Python that makes them: its optimizing compiler
and its collector's threads would have the cores that the runs need (the demo's sweep on two cores:
97 s with them, 86 s without). Tables of millions of rows are worth compiling for (24 s, 36 s)."""

LOGGING = """\
rootLogger.level = error
rootLogger.appenderRef.console.ref = console
appender.console.type = Console
appender.console.name = console
appender.console.target = SYSTEM_ERR
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = spark: %p %c{1}: %m%n
logger.delta.name = org.apache.spark.sql.delta
logger.delta.level = off
logger.tasks.name = org.apache.spark.util.Utils
logger.tasks.level = off
logger.gateway.name = org.apache.spark.api.python.PythonGatewayServer
logger.gateway.level = error
logger.ends.name = org.apache.spark.TaskContextImpl
logger.ends.level = off
"""
"""Spark's own log4j settings greet every start with ten lines; only errors are news. Those of
Delta, and of the tasks that they abort, reach us as exceptions, and are most often the conflicts
that we came for. So do errors at the end of a task; one of an interrupted sweep has its data taken
away. PySpark counts as a shell, whose own logger must have the others' level or Spark says so
(Logging.scala).
"""

NO_TASKS = """\
logger.executor.name = org.apache.spark.executor.Executor
logger.executor.level = off
logger.attempts.name = org.apache.spark.scheduler.TaskSetManager
logger.attempts.level = off
"""
"""With Delta, where a task that fails is a refusal that is compared: an exception tells of it."""


def delta_session(
    memory: str = "3g", master: str = "local[2]", *, jvm_options: str = ""
) -> SparkSession:
    """The process's session with Delta Lake; starts it if there is none.

    A session of ours without Delta is stopped for it, JVM and all. `jvm_options` are those of a
    JVM that is started, such as `SOON_DONE`.

    Raises EnvironmentMissing: Java, a package or the jar is missing, or somebody else's session
    without Delta is running in this process.
    """
    require_delta()
    running = _running_session()
    if running is not None:
        if DELTA_EXTENSION in (running.conf.get("spark.sql.extensions", "") or ""):
            return running
        _stop_ours(running)
    jars = ":".join(str(jar) for jar in delta_jars())
    session = _start(
        "whitecap replay",
        master,
        {
            **QUIET,
            **SMALL_TABLES,
            "spark.driver.memory": memory,
            "spark.driver.extraClassPath": jars,
            "spark.sql.extensions": DELTA_EXTENSION,
            "spark.sql.catalog.spark_catalog": DELTA_CATALOG,
        },
        LOGGING + NO_TASKS,
        jvm_options,
    )
    Jvm(session).silence_console()
    _silence_query_contexts()
    return session


def _silence_query_contexts() -> None:
    """PySpark writes every refused statement to the error output; refusals are what is compared.

    Loggers of PySpark's own class: its `exception` takes more than that of others.
    """
    if find_spec("pyspark.logger") is None:
        return  # Spark 3.5 writes nothing of its own.
    from pyspark.logger import PySparkLogger

    for name in QUERY_CONTEXTS:
        PySparkLogger.getLogger(name).disabled = True


def sweep_session(
    master: str = "local[*]",
    settings: Mapping[str, str] | None = None,
    *,
    makes_runs: bool = False,
) -> SparkSession:
    """The process's session for sweeps and aggregation, without Delta unless it already runs.

    With `makes_runs` its JVM leaves this machine's cores to Python (`FEEDS_PYTHON`).

    Raises EnvironmentMissing: Java or pyspark is missing.
    """
    require_spark()
    running = _running_session()
    if running is not None:
        return running
    options = FEEDS_PYTHON if makes_runs and master.startswith("local") else ""
    return _start(PLAIN_NAME, master, {**QUIET, **(settings or {})}, jvm_options=options)


def _running_session() -> SparkSession | None:
    from pyspark.sql import SparkSession

    session: SparkSession | None = SparkSession.getActiveSession()
    return session


def _stop_ours(session: SparkSession) -> None:
    """Stop a plain session and its JVM, whose classpath lacks Delta; the next start makes both."""
    from pyspark import SparkContext

    if session.sparkContext.appName != PLAIN_NAME:
        what = "A Spark session without Delta Lake is already running in this process"
        remedy = "Stop it and restart the process, or call delta_session() before anything else."
        raise EnvironmentMissing([MissingPrerequisite(what, remedy)])
    session.stop()
    gateway = SparkContext._gateway
    if gateway is not None:
        gateway.shutdown()
        gateway.proc.stdin.close()
        gateway.proc.wait(JVM_ENDS_WITHIN_S)
    SparkContext._gateway = SparkContext._jvm = None


def _start(
    name: str,
    master: str,
    settings: Mapping[str, str],
    logging: str = LOGGING,
    jvm_options: str = "",
) -> SparkSession:
    from pyspark.sql import SparkSession

    if master.startswith("local"):
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
        # Spark's own default is the first `python3` on the PATH, which may lack our packages.
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.appName(name).master(master)
    left_out = () if master.startswith("local") else ONLY_HERE
    for key, value in {**_scratch_settings(logging, jvm_options), **settings}.items():
        if key in left_out:
            continue
        builder = builder.config(key, value)
    with ended_if_interrupted():
        return builder.getOrCreate()


@contextmanager
def ended_if_interrupted() -> Iterator[None]:
    """End a JVM whose start is interrupted: not yet connected, it would outlive this process.

    PySpark keeps the process to itself until it is connected, so we look over its shoulder.
    """
    java_gateway: Any = import_module("pyspark.java_gateway")
    launch = java_gateway.Popen
    launched: list[Popen[bytes]] = []

    def remembered(*arguments: Any, **options: Any) -> Popen[bytes]:
        launched.append(launch(*arguments, **options))
        return launched[-1]

    java_gateway.Popen = remembered
    try:
        yield
    except BaseException:
        for jvm in launched:
            jvm.kill()
        raise
    finally:
        java_gateway.Popen = launch


def _scratch_settings(logging: str, jvm_options: str) -> dict[str, str]:
    """Files that live as long as the process: the warehouse, and the JVM's logging settings."""
    scratch = Path(tempfile.mkdtemp(prefix="whitecap-spark-"))
    atexit.register(shutil.rmtree, scratch, ignore_errors=True)
    log4j = scratch / "log4j2.properties"
    log4j.write_text(logging)
    logs_there = f"-Dlog4j2.configurationFile={log4j.as_uri()}"
    return {
        "spark.sql.warehouse.dir": str(scratch / "warehouse"),
        "spark.driver.extraJavaOptions": f"{logs_there} {jvm_options}",
    }
