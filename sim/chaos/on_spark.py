"""Runs of a campaign as jobs of Spark: the same functions, so that the same comes out."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import pyarrow as pa

from whitecap.sim.machine.interruption import reraise_interruption
from whitecap.sim.replay.real.environment import EnvironmentMissing, MissingPrerequisite

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

T = TypeVar("T")
R = TypeVar("R")

TASKS_PER_SLOT, RUNS_PER_TASK = 4, 4
"""Several tasks, so that a long run leaves no slot idle; several runs, since a task costs some
milliseconds. What a worker has imported it keeps: Spark uses its Python again."""

REMEDY = (
    "Every worker needs Whitecap installed, with its oracles (PYSPARK_PYTHON names its Python)."
)


class SparkMap:
    """A `map` whose items are dealt to the tasks of a job of this session.

    Raises `EnvironmentMissing` where a job fails: what runs do wrong they say themselves.
    """

    def __init__(self, session: SparkSession) -> None:
        self._session = session

    @property
    def ahead(self) -> int:
        """What one job makes."""
        slots = int(self._session.sparkContext.defaultParallelism)
        return slots * TASKS_PER_SLOT * RUNS_PER_TASK

    def map(self, function: Callable[[T], R], items: Sequence[T]) -> Iterator[R]:
        """The results, in the order of the items."""
        tasks = [
            items[begin : begin + RUNS_PER_TASK] for begin in range(0, len(items), RUNS_PER_TASK)
        ]
        numbers = self._session.range(0, len(tasks), 1, len(tasks))
        made = numbers.mapInArrow(partial(_made, function, tasks), "task long, results binary")
        for _, results in sorted(_collected(made)):
            yield from pickle.loads(results)  # ours, from our own workers


def _collected(made: Any) -> list[tuple[int, bytes]]:
    try:
        return [(int(row["task"]), bytes(row["results"])) for row in made.collect()]
    except Exception as error:
        reraise_interruption(error)
        lines = [line for line in str(error).splitlines() if line.strip()]
        what = f"The Spark job failed: {lines[-1].strip() if lines else type(error).__name__}"
        raise EnvironmentMissing([MissingPrerequisite(what, REMEDY)]) from error


def _made(
    function: Callable[[T], R], tasks: Sequence[Sequence[T]], numbers: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    for batch in numbers:
        for number in batch["id"].to_pylist():
            results = pickle.dumps([function(item) for item in tasks[number]])
            yield pa.RecordBatch.from_pydict({"task": [number], "results": [results]})
