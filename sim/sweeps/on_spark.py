"""The runs of a sweep on Spark: made, written and read by it, wherever Hadoop reaches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

import pyarrow as pa

from whitecap.engine.recorded import RunName
from whitecap.sim.recording.dataset.hadoop import HadoopPlace
from whitecap.sim.recording.dataset.layout import RECORDINGS, STREAM, TABLE
from whitecap.sim.recording.dataset.place import DatasetPlace, whole_batches
from whitecap.sim.recording.dataset.reading import (
    ColumnsByTable,
    R,
    Reading,
    read_on_spark,
    values_of,
)
from whitecap.sim.replay.real.session_settings import session_settings
from whitecap.sim.sweeps.planned import PlannedRun, make_runs

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SETTINGS = {
    "spark.sql.adaptive.enabled": "true",
    "spark.sql.adaptive.coalescePartitions.enabled": "true",
    "spark.sql.parquet.compression.codec": "zstd",
}
"""While runs are written: files by their bytes rather than one per task and table. Without
adaptive execution Spark leaves a rebalance out."""


class OnSpark:
    """As jobs of this session."""

    what = "The Spark job failed"
    remedy = (
        "Finished batches are kept. Every worker needs Whitecap installed (PYSPARK_PYTHON names "
        "its Python) and must reach the place where the sweep is written."
    )

    def __init__(self, session: SparkSession) -> None:
        self._session = session
        self._context = session.sparkContext
        self._batch: tuple[str, Sequence[int]] = ("", ())

    @property
    def slots(self) -> int:
        """How many runs are made at a time."""
        return int(self._context.defaultParallelism)

    def place(self, uri: str) -> DatasetPlace:
        """What lies behind a URI. Raises `InvalidInput`: Hadoop does not reach it."""
        return HadoopPlace(self._session, uri)

    def record(
        self, tasks: Sequence[Sequence[PlannedRun]], place: DatasetPlace, batch: str
    ) -> None:
        """Make all runs, each in one pass for all tables; Spark closes the batch.

        Rows are brought together by table before they are written: few files, and a worker that
        is lost costs what it alone had.
        """
        from pyspark.sql.pandas.types import from_arrow_schema

        self._batch = (f"whitecap {batch}", [len(task) for task in tasks])
        self._context.setJobGroup(self._batch[0], "runs of a sweep", interruptOnCancel=True)
        numbers = self._session.range(0, len(tasks), 1, len(tasks))
        rows = numbers.mapInArrow(partial(_rows, tasks), from_arrow_schema(STREAM))
        written = rows.hint("rebalance", TABLE).write.partitionBy(TABLE)
        with session_settings(self._session, SETTINGS):
            written.parquet(f"{place.uri}/{RECORDINGS}/{batch}")

    def done(self) -> int:
        """How many runs of the batch under way are made, about: tasks that ended, of their mean."""
        group, sizes = self._batch
        tracker = self._context.statusTracker()
        jobs = sorted(tracker.getJobIdsForGroup(group))
        job = tracker.getJobInfo(jobs[0]) if jobs else None
        stage = tracker.getStageInfo(min(job.stageIds)) if job is not None else None
        if stage is None or not sizes:
            return 0
        return sum(sizes) * min(stage.numCompletedTasks, len(sizes)) // len(sizes)

    def read(
        self, place: DatasetPlace, reading: Reading[R], columns: ColumnsByTable
    ) -> list[tuple[RunName, R]]:
        """What `reading` finds in every finished run, with its cell and replication."""
        batches = whole_batches(place)
        if not batches:
            return []
        return values_of(read_on_spark(self._session, place, batches, reading, columns))

    def cancel(self) -> None:
        """End what `record` is at, from another thread."""
        self._context.cancelJobGroup(self._batch[0])

    def release(self) -> None:
        """No more runs are to be made; the session is its maker's."""


def _rows(
    tasks: Sequence[Sequence[PlannedRun]], numbers: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    for batch in numbers:
        for number in batch["id"].to_pylist():
            for ran in make_runs(tasks[number]):
                yield ran.stream()
