"""Rows by statements, judged by a real Spark: what DuckDB and the engine get wrong alike shows.

A statement takes Spark half a second and more, where DuckDB takes some milliseconds.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from whitecap.sim.oracles.duck_table import duckdb_is_there
from whitecap.sim.oracles.effects import StatementEffects
from whitecap.sim.oracles.evidence import Evidence
from whitecap.sim.oracles.finding import Judgement, NotChecked
from whitecap.sim.oracles.graph import graph_of
from whitecap.sim.oracles.judging import (
    NO_DUCKDB,
    ROWS_BY_STATEMENTS,
    Judge,
    judge_evidence,
    serial_findings,
)
from whitecap.sim.oracles.on_spark.effects import SparkEffects
from whitecap.sim.oracles.on_spark.spark_table import spark_table
from whitecap.sim.oracles.statements.text import DYNAMIC
from whitecap.sim.replay.real.session import delta_session
from whitecap.sim.replay.real.session_settings import INTERPRETED, session_settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ON_SPARK = f"{ROWS_BY_STATEMENTS} on Spark"

SPARKS_OWN = "STATIC"
"""What INSERT OVERWRITE replaces where no session says it: everything (SQLConf.scala)."""


def judge_with_spark() -> Judge:
    """All oracles, and the statements on a Spark as well.

    Raises EnvironmentMissing: Java or Delta Lake is missing.
    """
    return partial(_judge_twice, delta_session())


def _judge_twice(spark: SparkSession, evidence: Evidence) -> Judgement:
    first, second = judge_evidence(evidence), judge_rows_on_spark(spark, evidence)
    findings = dict.fromkeys((*first.findings, *second.findings))
    return Judgement(tuple(findings), (*first.not_checked, *second.not_checked))


def judge_rows_on_spark(spark: SparkSession, evidence: Evidence) -> Judgement:
    """The serial replay alone, in the order that the level promises, which DuckDB helps to find."""
    if evidence.history is None:
        return Judgement((), ())
    if not duckdb_is_there():
        return Judgement((), (NotChecked(ON_SPARK, NO_DUCKDB),))
    not_checked: list[NotChecked] = []
    dynamic = evidence.history.promise.settings.get(DYNAMIC, SPARKS_OWN)
    settings = {**INTERPRETED, DYNAMIC: dynamic}
    whose = StatementEffects(evidence)
    graph = graph_of(evidence, whose)
    with session_settings(spark, settings), spark_table(spark) as table:
        effects = SparkEffects(whose, table)
        findings = tuple(serial_findings(evidence, effects, graph, not_checked, ON_SPARK))
    return Judgement(findings, tuple(not_checked))
