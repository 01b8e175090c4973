"""Tables on disk for races on a real Delta Lake: built once, copied per race, named in SQL.

Paths inside a Delta log are relative, so a table may be copied as a folder; that takes
milliseconds where creating it takes seconds.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from whitecap.engine.isolation import ISOLATION_PROPERTY
from whitecap.engine.log.commit_file import LOG_DIRECTORY, log_key
from whitecap.engine.races.row_tables import TableOf
from whitecap.engine.sql.expressions.rendering import quoted
from whitecap.sim.replay.real.jvm import Jvm
from whitecap.sim.replay.real.rows import frame_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def build_table(spark: SparkSession, table: TableOf, folder: Path) -> None:
    """Create a table as a case describes it: one commit for it, one for each data file."""
    isolation = table.properties.get(ISOLATION_PROPERTY, "Serializable")
    _create(spark, table, folder)
    for file in table.files:
        _append_file(spark, table, file.rows, folder)
    if isolation != "Serializable":
        set_isolation_level(spark, folder, isolation)
    commits = latest_version(folder) + 1
    if commits != table.versions:
        raise ValueError(f"the table has {commits} commits where the case says {table.versions}")


def copy_table(template: Path, folder: Path) -> None:
    """Put a copy of a table at `folder`, replacing what is there."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(template, folder)


def set_isolation_level(spark: SparkSession, folder: Path, level: str) -> None:
    """Commit metadata with `level` as it stands: SQL accepts only Serializable.

    Source: DeltaConfig.scala (ISOLATION_LEVEL is validated when set, not when read).
    """
    jvm = Jvm(spark)
    log = jvm.delta_log(folder)
    metadata = json.loads(log.unsafeVolatileSnapshot().metadata().json())
    metadata["metaData"]["configuration"][ISOLATION_PROPERTY] = level
    operation = jvm.singleton("org.apache.spark.sql.delta.DeltaOperations$ManualUpdate$")
    transaction = log.startTransaction()
    transaction.commit(jvm.seq([jvm.action(json.dumps(metadata))]), operation)


def name_table(spark: SparkSession, name: str, folder: Path) -> None:
    """Let SQL call the table at `folder` by `name`; writes no commit."""
    spark.sql(f"DROP TABLE IF EXISTS {name}")
    spark.sql(f"CREATE TABLE {name} USING delta LOCATION '{folder}'")


def forget_table(spark: SparkSession, name: str) -> None:
    """Take back `name_table`; the folder stays."""
    spark.sql(f"DROP TABLE IF EXISTS {name}")


def latest_version(folder: Path) -> int:
    """The newest commit in a table's log, -1 without one."""
    return max((int(path.stem) for path in commit_files(folder)), default=-1)


def commit_files(folder: Path) -> list[Path]:
    """The commit files of a table, oldest first."""
    paths = (folder / LOG_DIRECTORY).glob("[0-9]*.json")
    return sorted(path for path in paths if path.stem.isdigit())


def log_lines(folder: Path, version: int) -> list[dict[str, Any]]:
    """The lines of one commit file as JSON objects."""
    text = (folder / log_key(version)).read_text()
    return [json.loads(line) for line in text.splitlines() if line]


def commit_info(folder: Path, version: int) -> dict[str, Any]:
    """The commitInfo of one commit, empty if it has none."""
    for line in log_lines(folder, version):
        if "commitInfo" in line:
            info: dict[str, Any] = line["commitInfo"]
            return info
    return {}


def live_rows(spark: SparkSession, folder: Path) -> list[dict[str, Any]]:
    """The rows of a table's newest version."""
    return [row.asDict() for row in spark.read.format("delta").load(str(folder)).collect()]


def _create(spark: SparkSession, table: TableOf, folder: Path) -> None:
    properties = {k: v for k, v in table.properties.items() if k != ISOLATION_PROPERTY}
    partitioned = f" PARTITIONED BY ({', '.join(table.partition_columns)})"
    listed = ", ".join(f"'{key}' = {quoted(value)}" for key, value in properties.items())
    spark.sql(
        f"CREATE TABLE delta.`{folder}` ({table.schema}) USING delta"
        + (partitioned if table.partition_columns else "")
        + (f" TBLPROPERTIES ({listed})" if listed else "")
    )


def _append_file(
    spark: SparkSession, table: TableOf, rows: list[dict[str, Any]], folder: Path
) -> None:
    frame_of(spark, table.schema, rows).write.format("delta").mode("append").save(str(folder))
