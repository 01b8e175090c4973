"""Asks real Spark what it says to every probe, and writes it down (`make answers`)."""

from __future__ import annotations

import json
import logging
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from tests.sql.value_answers import ANSWERS, shown, written
from tests.sql.value_probes import CHANGING, COLUMNS, Probe, probes

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from whitecap.sim.replay.real.failures import Failure

_BY_TEXT = ("date", "timestamp", "timestamp_ntz")
"""Types of which Python has not all values: their text is asked for."""


def make_probed(spark: SparkSession, folder: str) -> None:
    """The probed row under two names: `stored` in a table, `probed` as it is.

    What is wrong with a constant is told when a query on a table is planned, whatever rows it has;
    a row that is part of the query is computed then too, which is fast and shows its value.
    """
    stored = [column for column in COLUMNS if column.type != "void"]
    cells = ", ".join(f"{column.sql} AS {column.name}" for column in stored)
    spark.sql(f"SELECT {cells}").write.mode("overwrite").parquet(folder)
    spark.read.parquet(folder).selectExpr("*", "NULL AS none").createOrReplaceTempView("stored")
    values = ", ".join(column.sql for column in COLUMNS)
    names = ", ".join(column.name for column in COLUMNS)
    row = f"SELECT * FROM VALUES ({values}) AS q({names})"
    spark.sql(row).createOrReplaceTempView("probed")


def asked(spark: SparkSession, probe: Probe) -> str:
    """Type and value of a probe, or the exception and error class with which Spark refuses it."""
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import PySparkException

    from whitecap.sim.replay.real.failures import failure_of

    failures = Py4JJavaError, PySparkException
    try:
        stored = _query(spark, probe, "stored")
        stored._jdf.queryExecution().optimizedPlan()
    except failures as error:
        return _refusal(failure_of(error))
    try:
        return _value(_query(spark, probe, "probed"), probe)
    except failures:  # a table's plan may have been simplified to what does not fail
        try:
            return _value(stored, probe)
        except failures as error:
            return _refusal(failure_of(error))


def _refusal(failure: Failure) -> str:
    return f"! {failure.exception} {failure.error_class}"


def _query(spark: SparkSession, probe: Probe, table: str) -> DataFrame:
    if probe.form.startswith("WHERE"):
        return spark.sql(f"SELECT true AS kept FROM {table} AS probed {probe.sql}")
    return spark.sql(f"SELECT {probe.sql} AS value FROM {table} AS probed")


def _value(frame: DataFrame, probe: Probe) -> str:
    from pyspark.errors import PySparkNotImplementedError

    kind: str = frame._jdf.schema().apply(0).dataType().simpleString()
    if probe.form in CHANGING or probe.form.startswith("WHERE"):
        return kind
    name = frame.columns[0]
    try:
        if kind in _BY_TEXT:
            text = frame.selectExpr(f"CAST({name} AS STRING)").collect()[0][0]
            return f"{kind} {'NULL' if text is None else text}"
        return f"{kind} {shown(frame.collect()[0][0])}"
    except PySparkNotImplementedError:
        return kind


def observed(spark: SparkSession, some: Iterable[Probe]) -> dict[Probe, str]:
    """What Spark says to some probes."""
    logging.getLogger("SQLQueryContextLogger").disabled = True
    with tempfile.TemporaryDirectory() as folder:
        make_probed(spark, f"{folder}/stored")
        return {probe: asked(spark, probe) for probe in some}


def main() -> None:
    """Ask for all of them."""
    from whitecap.sim.replay.real.session import delta_session

    answers: Mapping[Probe, str] = observed(delta_session(), probes())
    Path(ANSWERS).write_text(written(answers))
    print(json.dumps({"probes": len(answers)}))


if __name__ == "__main__":
    main()
