"""From a run apart to durations: work, commits, what lies between, and how sure all of it is.

Conflicts depend on the share of the time for which transactions are open, not on how fast the
machine is. Its speed drifts (other programs, a JVM that warms up), for all threads alike; so each
piece of the run is scaled to the mean speed of the whole, and pieces, not statements, are drawn
anew to see how much the shares vary.

The threads of one JVM commit one after the other, and who asks for a snapshot waits for them: that
lock is the simulator's part. What is measured is how long a commit holds it, not how long others
wait; else commits that a snapshot has waited for would be taken for commits beside it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import mean, median

import numpy as np
from numpy.typing import NDArray

from whitecap.sim.freerun.statements import Observed, Statement

PIECE = 12
"""Statements of a piece: some of every thread, and enough pieces in a run to draw from."""

POINTS = 40
"""Quantiles of a distribution: each stands for as large a part of the values, by its mean."""

Values = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Cycle:
    """One statement without conflict, milliseconds.

    `work` from snapshot to the attempt to commit, `hold` for which it kept others from committing,
    `gap` from its commit until the thread's next statement asks for its snapshot, `lead` the part
    of it that belongs to that statement.
    """

    kind: str
    begun_ms: float
    work: float
    hold: float
    gap: float
    lead: float

    @property
    def length(self) -> float:
        """From snapshot to snapshot, if nobody has to wait."""
        return self.work + self.hold + self.gap

    def scaled(self, factor: float) -> Cycle:
        """The same on a machine of another speed."""
        times = (self.work, self.hold, self.gap, self.lead)
        return Cycle(self.kind, self.begun_ms, *(time * factor for time in times))


@dataclass(frozen=True, slots=True)
class Durations:
    """How long things take for one kind of statement: what a writer of a scenario is given."""

    work: Values
    gap: Values
    lead_ms: float

    @property
    def cycle_ms(self) -> float:
        """Mean time from snapshot to attempt and from commit to snapshot."""
        return float(self.work.mean() + self.gap.mean())


@dataclass(frozen=True, slots=True)
class Measured:
    """Everything that a scenario is given: by kind of statement, and how long a commit takes."""

    kinds: dict[str, Durations]
    hold: Values


Calibration = Sequence[Sequence[Cycle]]
"""The pieces of a run apart, in the order of time."""


def calibration_of(observed: Observed) -> Calibration:
    """Pieces of about `PIECE` statements, each scaled to the mean speed of all."""
    cycles = sorted(_cycles(observed.counted), key=lambda cycle: cycle.begun_ms)
    count = max(1, len(cycles) // PIECE)
    bounds = np.linspace(0, len(cycles), count + 1).astype(int)
    pieces = [cycles[low:high] for low, high in pairwise(bounds)]
    usual = {kind: mean(_lengths(cycles, kind)) for kind in {cycle.kind for cycle in cycles}}
    return [_at_mean_speed(piece, usual) for piece in pieces]


def _cycles(statements: Sequence[Statement]) -> list[Cycle]:
    holds = _holds(statements)
    asking_ms = {
        kind: median(_asking(statements, kind)) for kind in {each.kind for each in statements}
    }
    by_thread: dict[str, list[Statement]] = {}
    for statement in statements:
        by_thread.setdefault(statement.thread, []).append(statement)
    return [
        cycle
        for own in by_thread.values()
        for this, following in pairwise(own)
        if (cycle := _cycle(this, following, holds, asking_ms[this.kind])) is not None
    ]


def _holds(statements: Sequence[Statement]) -> dict[float, float]:
    """How long each commit held the lock, by its instant: from the attempt on, or from the commit
    before, if that came later."""
    committed = sorted((each.decided_ms, each.attempt_ms) for each in statements
                       if each.version is not None)  # fmt: skip
    holds, before = {}, -math.inf
    for decided, attempt in committed:
        if decided is not None and attempt is not None:
            holds[decided] = max(decided - max(attempt, before), 0.0)
            before = decided
    return holds


def _asking(statements: Sequence[Statement], kind: str) -> list[float]:
    """How long the snapshots of a kind took, with waits: the median is one without."""
    return [
        each.snapshot_ms - each.asked_ms
        for each in statements
        if each.kind == kind and each.snapshot_ms is not None and each.asked_ms is not None
    ]


def _cycle(
    this: Statement, following: Statement, holds: dict[float, float], asking_ms: float
) -> Cycle | None:
    """`None` where one of the two had nothing to commit."""
    if this.snapshot_ms is None or this.attempt_ms is None or following.asked_ms is None:
        return None
    if this.decided_ms is None or this.decided_ms not in holds:
        return None
    return Cycle(
        this.kind,
        this.begun_ms,
        this.attempt_ms - this.snapshot_ms,
        holds[this.decided_ms],
        following.asked_ms - this.decided_ms + asking_ms,
        following.asked_ms - following.begun_ms + asking_ms,
    )


def _lengths(cycles: Sequence[Cycle], kind: str) -> list[float]:
    return [cycle.length for cycle in cycles if cycle.kind == kind]


def _at_mean_speed(piece: Sequence[Cycle], usual: dict[str, float]) -> list[Cycle]:
    slowness = mean(cycle.length / usual[cycle.kind] for cycle in piece)
    return [cycle.scaled(1 / slowness) for cycle in piece]


def measured_in(pieces: Calibration) -> Measured:
    """All pieces together."""
    cycles = [cycle for piece in pieces for cycle in piece]
    kinds = {
        kind: Durations(
            np.sort([cycle.work for cycle in cycles if cycle.kind == kind]),
            np.sort([cycle.gap for cycle in cycles if cycle.kind == kind]),
            max(mean(cycle.lead for cycle in cycles if cycle.kind == kind), 0.0),
        )
        for kind in sorted({cycle.kind for cycle in cycles})
    }
    return Measured(kinds, np.sort([cycle.hold for cycle in cycles]))


def drawn_anew(pieces: Calibration, random: np.random.Generator) -> Calibration:
    """As many pieces, drawn with replacement (a block bootstrap): what might have been measured.

    Drawn again until every kind of statement that was measured is in it.
    """
    kinds = {cycle.kind for piece in pieces for cycle in piece}
    while True:
        drawn = [pieces[at] for at in random.integers(0, len(pieces), len(pieces))]
        if {cycle.kind for piece in drawn for cycle in piece} == kinds:
            return drawn


def quantiles(values: Values) -> dict[str, str]:
    """Measured values as the quantiles of a scenario; their mean is that of the values."""
    parts = np.array_split(values, min(POINTS, len(values)))
    ends = np.cumsum([len(part) for part in parts]) / len(values)
    ranks = 100 * (ends - np.array([len(part) for part in parts]) / len(values) / 2)
    points = [(rank, max(float(part.mean()), 0.0)) for rank, part in zip(ranks, parts, strict=True)]
    if len(points) == 1:
        points.append((100.0, points[0][1]))
    return {f"p{rank:.6g}": f"{value:.3f} ms" for rank, value in points}
