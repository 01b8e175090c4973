"""From a run apart to durations: windows, what lies between them, and how sure both are.

Conflicts depend on the share of the time for which transactions are open, not on how fast the
machine is. Its speed drifts (other programs, a JVM that warms up), for all threads alike; so each
piece of the run is scaled to the mean speed of the whole, and pieces, not statements, are drawn
anew to see how much the shares vary.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import mean

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

    `window` from snapshot to commit, `gap` from there to the thread's next snapshot, `lead` from
    the beginning of that next statement to its snapshot.
    """

    kind: str
    begun_ms: float
    window: float
    gap: float
    lead: float

    @property
    def length(self) -> float:
        """From snapshot to snapshot."""
        return self.window + self.gap

    def scaled(self, factor: float) -> Cycle:
        """The same on a machine of another speed."""
        return Cycle(
            self.kind, self.begun_ms, self.window * factor, self.gap * factor, self.lead * factor
        )


@dataclass(frozen=True, slots=True)
class Durations:
    """How long things take for one kind of statement: what a writer of a scenario is given."""

    window: Values
    gap: Values
    lead_ms: float

    @property
    def cycle_ms(self) -> float:
        """Mean time from snapshot to snapshot without conflict."""
        return float(self.window.mean() + self.gap.mean())

    @property
    def window_share(self) -> float:
        """For which share of the time a transaction is open."""
        return float(self.window.mean()) / self.cycle_ms


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
    by_thread: dict[str, list[Statement]] = {}
    for statement in statements:
        by_thread.setdefault(statement.thread, []).append(statement)
    return [
        cycle
        for own in by_thread.values()
        for this, following in pairwise(own)
        if (cycle := _cycle(this, following)) is not None
    ]


def _cycle(this: Statement, following: Statement) -> Cycle | None:
    """`None` where one of the two had nothing to commit."""
    if this.window_ms is None or this.decided_ms is None or following.snapshot_ms is None:
        return None
    gap = following.snapshot_ms - this.decided_ms
    lead = following.snapshot_ms - following.begun_ms
    return Cycle(this.kind, this.begun_ms, this.window_ms, gap, lead)


def _lengths(cycles: Sequence[Cycle], kind: str) -> list[float]:
    return [cycle.length for cycle in cycles if cycle.kind == kind]


def _at_mean_speed(piece: Sequence[Cycle], usual: dict[str, float]) -> list[Cycle]:
    slowness = mean(cycle.length / usual[cycle.kind] for cycle in piece)
    return [cycle.scaled(1 / slowness) for cycle in piece]


def durations_of(pieces: Calibration) -> dict[str, Durations]:
    """All pieces together, by kind of statement."""
    cycles = [cycle for piece in pieces for cycle in piece]
    return {
        kind: Durations(
            np.sort([cycle.window for cycle in cycles if cycle.kind == kind]),
            np.sort([cycle.gap for cycle in cycles if cycle.kind == kind]),
            mean(cycle.lead for cycle in cycles if cycle.kind == kind),
        )
        for kind in sorted({cycle.kind for cycle in cycles})
    }


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
