"""From a run apart to durations: windows, what lies between them, and how sure both are.

Conflicts depend on the share of time for which transactions are open, and not on how fast the
machine is. Its speed drifts for all threads alike (other programs, a JVM that warms up). So each
piece of the run is scaled to the mean speed of the whole; and pieces, not statements, are drawn
anew to see how much the shares vary.

What a statement does for the log by Spark jobs depends on what others commit. It is measured
separately (`sim/freerun/log_jobs.py`), as the simulator has these jobs by its own rules.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from statistics import mean, median

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray
from scipy.optimize import nnls

from whitecap.sim.freerun.log_jobs import LogFiles, LogJobs, LogWork
from whitecap.sim.freerun.statements import ObservedRun, TimedStatement

PIECE = 12
"""Statements of a piece: some of every thread, and enough pieces in a run to draw from."""

POINTS = 40
"""Quantiles of a distribution: each stands for as large a part of the values, by its mean."""

LEAST = 0.02
"""The smallest part of a measured time that is no job: an OPTIMIZE that finds nothing to do would
otherwise take no time at all, and be begun again for ever."""

_Floats = NDArray[np.float64]


class Cycle(Struct, frozen=True):
    """One statement without conflict, milliseconds.

    `window` from snapshot to commit, `tail` from there to the thread's next statement, `lead` from
    that one's beginning to its snapshot. Each with the jobs for the log that are in it; `work` are
    those of this statement, `next_jobs` those of the lead.
    """

    kind: str
    begun_ms: float
    window: float
    tail: float
    lead: float
    work: LogWork
    next_jobs: LogJobs

    @property
    def length(self) -> float:
        """The time from this snapshot to the next one."""
        return self.window + self.tail + self.lead

    def scaled(self, factor: float) -> Cycle:
        """The same on a machine of another speed."""
        scaled = {name: getattr(self, name) * factor for name in ("window", "tail", "lead")}
        return replace(self, work=self.work.scaled(factor), **scaled)


class JobTimes(Struct, frozen=True):
    """How long things take, in milliseconds.

    A job that reads protocol and metadata, one that reads the state, and a small file of the log.
    """

    metadata: float
    state: float
    file: float

    def of(self, jobs: LogJobs) -> float:
        """The time of these jobs, one after the other."""
        return jobs.metadata * self.metadata + jobs.states * self.state + jobs.files * self.file


class Durations(Struct, frozen=True):
    """How long things take for one kind of statement: what a writer of a scenario is given.

    Jobs for the log are in neither `window` nor `gap`, which reaches from one to the next. They are
    in `cycle_ms`, the mean time from snapshot to snapshot without conflict.
    """

    window: _Floats
    gap: _Floats
    cycle_ms: float


CyclesApart = Sequence[Sequence[Cycle]]
"""The pieces of a run apart, in the order of time."""


def calibration_of(observed: ObservedRun) -> CyclesApart:
    """Pieces of about `PIECE` statements, each scaled to the mean speed of all."""
    cycles = sorted(_cycles(observed), key=lambda cycle: cycle.begun_ms)
    count = max(1, len(cycles) // PIECE)
    bounds = np.linspace(0, len(cycles), count + 1).astype(int)
    pieces = [cycles[low:high] for low, high in pairwise(bounds)]
    usual = {kind: mean(_lengths(cycles, kind)) for kind in {cycle.kind for cycle in cycles}}
    return [_at_mean_speed(piece, usual) for piece in pieces]


def _cycles(observed: ObservedRun) -> list[Cycle]:
    files = LogFiles(observed.statements)
    by_thread: dict[str, list[TimedStatement]] = {}
    for statement in observed.counted:
        by_thread.setdefault(statement.thread, []).append(statement)
    cycles = []
    for own in by_thread.values():
        before: Sequence[TimedStatement | None] = [None, *own]
        for previous, statement, following in zip(before, own, own[1:], strict=False):
            work = files.work_of(statement, previous)
            next_work = files.work_of(following, statement)
            cycle = _cycle(statement, following, work, next_work.before)
            cycles += [] if cycle is None else [cycle]
    return cycles


def _cycle(
    statement: TimedStatement, following: TimedStatement, work: LogWork, next_jobs: LogJobs
) -> Cycle | None:
    """The cycle between two statements; `None` if one of them had nothing to commit."""
    if statement.window_ms is None or statement.decided_ms is None or following.snapshot_ms is None:
        return None
    tail = following.begun_ms - statement.decided_ms
    lead = following.snapshot_ms - following.begun_ms
    return Cycle(
        statement.kind, statement.begun_ms, statement.window_ms, tail, lead, work, next_jobs
    )


def _lengths(cycles: Sequence[Cycle], kind: str) -> list[float]:
    return [cycle.length for cycle in cycles if cycle.kind == kind]


def _at_mean_speed(piece: Sequence[Cycle], usual: dict[str, float]) -> list[Cycle]:
    slowness = mean(cycle.length / usual[cycle.kind] for cycle in piece)
    return [cycle.scaled(1 / slowness) for cycle in piece]


def durations_of(pieces: CyclesApart) -> dict[str, Durations]:
    """The durations by kind of statement, of all pieces together."""
    times = job_times_of(pieces)
    by_kind: dict[str, list[Cycle]] = {}
    for piece in pieces:
        for cycle in piece:
            by_kind.setdefault(cycle.kind, []).append(cycle)
    return {
        kind: Durations(
            _without(
                [cycle.window for cycle in own], [times.of(cycle.work.within) for cycle in own]
            ),
            _without(
                [cycle.tail + cycle.lead for cycle in own],
                [times.of(cycle.work.after) + times.of(cycle.next_jobs) for cycle in own],
            ),
            mean(cycle.length for cycle in own),
        )
        for kind, own in sorted(by_kind.items())
    }


def _without(measured: Sequence[float], in_jobs: Sequence[float]) -> _Floats:
    """Measured times less those of jobs, on average; of each at least the part `LEAST` is left."""
    rest = np.maximum(np.subtract(measured, in_jobs), LEAST * np.array(measured))
    left_ms = max(mean(measured) - mean(in_jobs), LEAST * mean(measured))
    return np.sort(rest * (left_ms / float(rest.mean())))


def job_times_of(pieces: CyclesApart) -> JobTimes:
    """The job times that explain best by how much leads and tails with jobs are longer."""
    cycles = [cycle for piece in pieces for cycle in piece if not cycle.work.is_checkpoint]
    kinds = sorted({cycle.kind for cycle in cycles})
    rows, took = [], []
    for cycle in cycles:
        of_kind = [float(cycle.kind == kind) for kind in kinds]
        nothing = [0.0] * len(kinds)
        rows.append([*of_kind, *nothing, cycle.next_jobs.metadata, cycle.next_jobs.states])
        rows.append([*nothing, *of_kind, cycle.work.after.metadata, cycle.work.after.states])
        took += [cycle.lead, cycle.tail]
    best = nnls(np.array(rows), np.array(took))[0]
    checksums = [
        cycle.work.checksum_ms
        for cycle in cycles
        if cycle.work.is_plain and cycle.work.checksum_ms is not None
    ]
    return JobTimes(float(best[-2]), float(best[-1]), median(checksums) if checksums else 0.0)


def drawn_anew(pieces: CyclesApart, random: np.random.Generator) -> CyclesApart:
    """As many pieces, drawn with replacement (a block bootstrap): what might have been measured.

    Drawn again until every kind of statement that was measured is in it.
    """
    kinds = {cycle.kind for piece in pieces for cycle in piece}
    while True:
        drawn = [pieces[at] for at in random.integers(0, len(pieces), len(pieces))]
        if {cycle.kind for piece in drawn for cycle in piece} == kinds:
            return drawn


def quantiles(values: _Floats) -> dict[str, str]:
    """Measured values as the quantiles of a scenario; their mean is that of the values."""
    parts = np.array_split(values, min(POINTS, len(values)))
    ends = np.cumsum([len(part) for part in parts]) / len(values)
    ranks = 100 * (ends - np.array([len(part) for part in parts]) / len(values) / 2)
    points = [(rank, max(float(part.mean()), 0.0)) for rank, part in zip(ranks, parts, strict=True)]
    if len(points) == 1:
        points.append((100.0, points[0][1]))
    return {f"p{rank:.6g}": f"{value:.3f} ms" for rank, value in points}
