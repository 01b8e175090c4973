"""Spark settings of a scenario; settings for the length of one case, put back as they were."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from whitecap.engine.dialects import dialect_named
from whitecap.engine.query.scan_tasks import TASKS
from whitecap.sim.scenario.model import Scenario

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


FEW_ROWS = 50_000
"""Over more rows compiled plans are the faster ones: INSERT, UPDATE and MERGE of 100,000 rows took
2.5, 2.1 and 2.5 s with them and 3.5, 2.9 and 3.4 s without; of a million 2, 5 and 8 s, and 14, 20
and 31 s (2 cores, a JVM without its optimizing compiler)."""

INTERPRETED = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}
"""To compile a plan takes longer than to run it over few rows: 24 statements on such tables took
70 s of CPU with compiled plans and 49 s with interpreted ones. What Delta decides is the same, and
so are values. Source: Spark, CodeGeneratorWithInterpretedFallback.scala."""


def _evaluation_of(rows: int) -> Mapping[str, str]:
    """How Spark is to compute statements on a table of so many rows."""
    return INTERPRETED if rows <= FEW_ROWS else {}


@contextmanager
def session_settings(spark: SparkSession, settings: Mapping[str, str]) -> Iterator[None]:
    """Set what `settings` says, and on leaving restore what was there before."""
    before = {key: spark.conf.get(key, None) for key in settings}
    try:
        for key, value in settings.items():
            spark.conf.set(key, value)
        yield
    finally:
        for key, old in before.items():
            if old is None:
                spark.conf.unset(key)
            else:
                spark.conf.set(key, old)


def playing_settings_of(scenario: Scenario) -> dict[str, str]:
    """Those of a session that plays the scenario: what decides, and how it computes rows."""
    rows = max(table.initial.rows for table in scenario.all_tables)
    return {**_evaluation_of(rows), **settings_of(scenario)}


def settings_of(scenario: Scenario) -> dict[str, str]:
    """The scenario's settings of Spark, and how many tasks make rows and read files here.

    A session makes the rows of VALUES in as many tasks as it has cores, and writes a file for each.
    """
    dialect = dialect_named(scenario.dialect)
    settings = dialect.adjusted(dialect.settings_of(scenario.settings))
    given = {key: value for key, value in scenario.settings.items() if key.startswith("spark.")}
    return {
        "spark.sql.leafNodeDefaultParallelism": str(settings.values_tasks),
        "spark.sql.files.minPartitionNum": str(TASKS),
        **({} if settings.ansi else {"spark.sql.ansi.enabled": "false"}),
        **given,
    }
