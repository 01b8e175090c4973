"""What was reached: how far each measure's interval reaches in each cell, and what is missing."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from whitecap.engine.recorded import Unit
from whitecap.reports.estimates import estimated
from whitecap.reports.measures import MEASURES
from whitecap.reports.measures.measured_run import Runs
from whitecap.reports.measures.writing import finite, written
from whitecap.reports.precision.asked import Asked
from whitecap.reports.statistics import Estimate, half_width, replications_after
from whitecap.reports.words import counted


class ReachedPrecision(Struct, frozen=True):
    """What was asked for, and the estimates by the titles of the cells (at least one)."""

    asked: Asked
    cells: Mapping[str, Estimate]

    @property
    def short(self) -> dict[str, Estimate]:
        """Those whose interval is too wide, the widest for what was wanted first."""
        wanted = self.asked.wanted
        short = {cell: each for cell, each in self.cells.items() if not wanted.is_met(each)}
        return dict(sorted(short.items(), key=lambda pair: -wanted.needed(pair[1])))

    @property
    def is_met(self) -> bool:
        """Whether it was reached in every cell."""
        return not self.short

    @property
    def replications(self) -> int:
        """How many there are of the cell that has most."""
        return max(each.replications for each in self.cells.values())

    def __str__(self) -> str:
        """One sentence without a full stop."""
        name, within = MEASURES[self.asked.measure].called, f"± {self._within()}"
        with_them = f"with {counted(self.replications, 'replication')}"
        is_one, count = len(self.cells) == 1, len(self.cells)
        if self.is_met:
            where = "" if is_one else f" in all {count} cells"
            return f"{name} is known to {within}{where}, {with_them}: {self._widest()}"
        where = "" if is_one else f" in {len(self.short)} of {count} cells"
        cell, estimate = next(iter(self.short.items()))
        at = "" if is_one else f" in {cell}"
        needed = _needed_text(self.asked, estimate)
        reached = self._half_text(estimate)
        return f"{name} is not known to {within}{where} {with_them}: {reached}{at}{needed}"

    def _within(self) -> str:
        is_rate = self.asked.measure.unit is Unit.PER_MINUTE and not self.asked.wanted.is_relative
        return f"{self.asked.half} / min" if is_rate else self.asked.half

    def _widest(self) -> str:
        cell = max(self.cells, key=lambda name: half_width(self.cells[name]))
        most = "" if len(self.cells) == 1 else f" at most, in {cell}"
        return f"{self._half_text(self.cells[cell])}{most}"

    def _half_text(self, estimate: Estimate) -> str:
        half = half_width(estimate)
        if math.isnan(estimate.point):
            return "there is nothing to measure"
        if math.isinf(half):
            return "no bound can be told"
        if self.asked.measure.unit is Unit.SHARE:
            return f"± {100 * half:.2g} points"
        part = f" ({100 * half / estimate.point:.2g} %)" if self.asked.wanted.is_relative else ""
        return f"± {written(half, self.asked.measure.unit)}{part}"


def _needed_text(asked: Asked, estimate: Estimate) -> str:
    needed = asked.wanted.needed(estimate)
    return f"; about {math.ceil(needed):,} replications would do" if math.isfinite(needed) else ""


def reached_by(asked: Sequence[Asked], runs: Mapping[str, Runs]) -> tuple[ReachedPrecision, ...]:
    """What the runs of all cells, by their titles, give of all that was asked for."""
    return tuple(
        ReachedPrecision(each, {title: _estimate(each, own) for title, own in runs.items()})
        for each in asked
    )


def _estimate(asked: Asked, runs: Runs) -> Estimate:
    return estimated(asked.measure, [runs[number].tally(asked.measure) for number in sorted(runs)])


def next_replications(reached: Sequence[ReachedPrecision], seen: int, most: int) -> int:
    """How many replications every cell is to have after the next round; `seen` if it is the end."""
    unmet = [
        (estimate, each.asked.wanted)
        for each in reached
        for estimate in each.cells.values()
        if not each.asked.wanted.suffices(estimate)
    ]
    return replications_after(seen, most, unmet)


def reached_document(reached: ReachedPrecision) -> dict[str, Any]:
    """As `answer.json` and `--json` hold it; a half-width is in the measure's unit."""
    return {
        "until": str(reached.asked),
        "measure": reached.asked.measure.value,
        "reached": reached.is_met,
        "replications": reached.replications,
        "text": str(reached),
        "cells": {
            cell: {
                "mean": finite(estimate.point),
                "half_width": finite(half_width(estimate)),
                "wanted": finite(reached.asked.wanted.of(estimate)),
                "reached": reached.asked.wanted.is_met(estimate),
            }
            for cell, estimate in reached.cells.items()
        },
    }
