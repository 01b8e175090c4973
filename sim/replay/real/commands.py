"""The commands of a replay as a real Spark runs them: SQL text, and batches of a stream.

A batch goes through Delta's own streaming sink, called in our thread: a running query commits
from a thread of its own, which no phase lock reaches.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from whitecap.engine.settings import APPLICATION, APPLICATION_VERSION
from whitecap.sim.replay.real.jvm import Jvm
from whitecap.sim.replay.real.rows import frame_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

QUERY_ID = "sql.streaming.queryId"
"""The local property that names a streaming query to its sink (StreamExecution.scala)."""


class Sql(Struct, frozen=True):
    """A statement; it calls the table by the name under which the replay registered it.

    With `app_id` its session says which `version` of which application it writes.
    """

    text: str
    app_id: str | None = None
    version: int | None = None


class StreamBatch(Struct, frozen=True):
    """One micro-batch of a streaming append: `app_id` is the query's id, the checkpoint's.

    With `reads_table` the query also reads the table that it writes. With `complete` its batch is
    the whole result, and replaces all rows.
    """

    app_id: str
    batch_id: int
    schema: str
    rows: Sequence[Mapping[str, Any]]
    reads_table: bool = False
    complete: bool = False

    @property
    def text(self) -> str:
        """A line for messages."""
        return f"batch {self.batch_id} of {self.app_id} ({len(self.rows)} rows)"


RealCommand = Sql | StreamBatch


def runner(spark: SparkSession, command: RealCommand, table: Path) -> Callable[[], Any]:
    """What a thread calls to run `command` on the table at `table`."""
    match command:
        case Sql(app_id=None):
            return lambda: spark.sql(command.text).collect()
        case Sql():
            own = _idempotent_session(spark, command)
            return lambda: own.sql(command.text).collect()
        case StreamBatch():
            return lambda: _add_batch(spark, command, table)


def _idempotent_session(spark: SparkSession, command: Sql) -> SparkSession:
    """A session of the command's own, with the settings of `spark` and by whom it is written.

    Other commands run at the same time, and settings are a session's, not a thread's.
    """
    session = type(spark)(spark.sparkContext, spark._jsparkSession.cloneSession())
    session.conf.set(APPLICATION, str(command.app_id))
    session.conf.set(APPLICATION_VERSION, str(command.version))
    return session


def _add_batch(spark: SparkSession, batch: StreamBatch, table: Path) -> None:
    jvm = Jvm(spark)
    context = jvm.session.sqlContext()
    path = jvm.root.org.apache.hadoop.fs.Path(str(table))
    modes = jvm.root.org.apache.spark.sql.streaming.OutputMode
    output = modes.Complete() if batch.complete else modes.Append()
    options = jvm.delta.DeltaOptions(jvm.mapping({}), jvm.session.sessionState().conf())
    partitions = jvm.delta_log(table).unsafeVolatileSnapshot().metadata().partitionColumns()
    spark.sparkContext.setLocalProperty(QUERY_ID, batch.app_id)
    sink = jvm.delta.sources.DeltaSink(context, path, partitions, output, options, jvm.none)
    sink.addBatch(batch.batch_id, _frame(spark, batch, table)._jdf)


def _frame(spark: SparkSession, batch: StreamBatch, table: Path) -> DataFrame:
    """The batch's rows; of a query that reads the table, through a join that keeps them all.

    The sink looks for a scan of its own table in the plan as the query says it, and then takes
    the whole table as read (DeltaSink.scala: addBatchWithStatusImpl).
    """
    rows = frame_of(spark, batch.schema, batch.rows)
    if not batch.reads_table:
        return rows
    own = spark.read.format("delta").load(str(table))
    return rows.join(own.where("false").select(), how="left_anti", on=None)
