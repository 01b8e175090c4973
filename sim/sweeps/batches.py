"""How many runs are made before their rows are written, and how they are dealt to tasks."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from statistics import mean

from whitecap.sim.sweeps.planned import PlannedRun

BATCH_S = 30.0
"""About as long a batch takes: what an interruption costs at most, against a second or two that
Spark takes to begin and to write one."""

GROWTH = 16
"""A batch has at most so many times the runs of the one before, whose times may mislead: those of
the first replication are of a few cells, and with all imports."""

TASKS_PER_SLOT = 4
"""Runs differ in length; a few tasks per slot even that out, each paying its start once."""

Seconds = Mapping[str, Sequence[float]]
"""Cell -> computing times of its runs so far."""


def next_batch(
    pending: Sequence[PlannedRun], seconds: Seconds, slots: int, last: int | None
) -> Sequence[PlannedRun]:
    """The first of the pending runs, as many as take about `BATCH_S`, by times measured so far."""
    fewest = TASKS_PER_SLOT * slots
    durations = [each for several in seconds.values() for each in several]
    if last is None or not durations:
        return pending[:fewest]
    wanted = math.ceil(BATCH_S * slots / max(mean(durations), 1e-3))
    size = max(fewest, min(wanted, GROWTH * last))
    # A remainder of less than half a batch would not be worth one of its own.
    return pending if len(pending) < 1.5 * size else pending[:size]


def dealt(runs: Sequence[PlannedRun], seconds: Seconds, slots: int) -> list[tuple[PlannedRun, ...]]:
    """The runs in tasks of about the same length: the longest dealt first, in turn."""
    expected = {cell: mean(several) for cell, several in seconds.items()}
    longest_first = sorted(runs, key=lambda run: -expected.get(run.cell, math.inf))
    tasks = min(len(runs), TASKS_PER_SLOT * slots)
    return [tuple(longest_first[task::tasks]) for task in range(tasks)]
