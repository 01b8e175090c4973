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


def settings_of(scenario: Scenario) -> dict[str, str]:
    """The scenario's settings of Spark, and how many tasks make rows and read files here.

    A session makes the rows of VALUES in as many tasks as it has cores, and writes a file for each.
    """
    settings = dialect_named(scenario.dialect).settings_of(scenario.settings)
    given = {key: value for key, value in scenario.settings.items() if key.startswith("spark.")}
    return {
        "spark.sql.leafNodeDefaultParallelism": str(settings.values_tasks),
        "spark.sql.files.minPartitionNum": str(TASKS),
        **given,
    }
