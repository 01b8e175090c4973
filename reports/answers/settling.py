"""What is left out as warm-up beside what MSER-5 finds, and a warning where that is not enough."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from msgspec import Struct, field

from whitecap.reports.measures.measured_run import Runs
from whitecap.reports.measures.truncation import BATCH, FEWEST_BATCHES
from whitecap.reports.measures.warm_up import settled_ms
from whitecap.reports.measures.writing import duration, finite

_SHORTEST = BATCH * FEWEST_BATCHES
"""Transactions of a run of which one can say whether it settles."""


class Settling(Struct, frozen=True):
    """`used_ms` are left out of every run; `cells`: by their titles what is found, as
    `settles_at_ms` says it. Empty where no course of a run is known."""

    used_ms: float = 0.0
    is_auto: bool = False
    cells: Mapping[str, float | None] = field(default_factory=dict)

    @property
    def found_ms(self) -> float | None:
        """What the cell that settles last needs; infinite if one does not; `None`: nobody knows."""
        settled = [each for each in self.cells.values() if each is not None]
        return max(settled) if settled else None

    @property
    def is_warning(self) -> bool:
        """Whether numbers have some of the beginning in them."""
        return self.found_ms is not None and self.found_ms > self.used_ms

    def __str__(self) -> str:
        """One sentence without a full stop; nothing where there is nothing to say."""
        if not self.cells:
            return ""
        left_out = self._left_out()
        match self.found_ms:
            case None:
                few = f"with fewer than {_SHORTEST} transactions a run is too short to find one"
                return f"{left_out}; {few}"
            case math.inf:
                return f"the runs are too short for any warm-up: {self._unsettled()}; {left_out}"
            case found_ms if self.is_warning:
                advice = f"write warm_up: {_rounded_up(found_ms)}, or auto"
                return f"the warm-up is too short: {left_out}, {self._cut_text(found_ms)}; {advice}"
            case found_ms if self.is_auto:
                return f"{left_out}, {self._cut_text(found_ms)}"
            case found_ms:
                return f"{left_out}; {self._cut_text(found_ms)}"

    def _left_out(self) -> str:
        if not self.used_ms:
            return "no warm-up is left out"
        return f"the first {duration(self.used_ms)} are left out as warm-up"

    def _cut_text(self, found_ms: float) -> str:
        if not found_ms:
            return "MSER-5 finds none"
        last = max(self.cells, key=lambda cell: self.cells[cell] or 0.0)
        where = f" in {last}" if len(self.cells) > 1 else ""
        return f"MSER-5 finds {duration(found_ms)}{where}"

    def _unsettled(self) -> str:
        cells = [cell for cell, at_ms in self.cells.items() if at_ms is not None]
        count = sum(math.isinf(self.cells[cell] or 0.0) for cell in cells)
        where = f"{count} of {len(cells)} cells have" if len(cells) > 1 else "they have"
        return f"by MSER-5 {where} not settled in the first half"


_STEPS_MS = (1e3, 6e4, 3.6e6)
"""A second, a minute, an hour."""


def _rounded_up(found_ms: float) -> str:
    """A duration that one would write: whole seconds, minutes or hours of at most two digits."""
    step = next((step for step in _STEPS_MS if found_ms <= 100 * step), _STEPS_MS[-1])
    names = dict(zip(_STEPS_MS, ("s", "min", "h"), strict=True))
    return f"{math.ceil(found_ms / step)} {names[step]}"


def settling_of(measured: Mapping[str, Runs]) -> Settling:
    """What is left out of the runs of all cells, by their titles, and what is found in each."""
    runs = [run for several in measured.values() for run in several.values()]
    used_ms = max((run.warm_up.used_ms for run in runs), default=0.0)
    courses = {
        title: [run.warm_up.courses for run in several.values() if run.warm_up.courses]
        for title, several in measured.items()
    }
    cells = {title: settled_ms(several) for title, several in courses.items() if several}
    return Settling(used_ms, any(run.warm_up.is_auto for run in runs), cells)


def settling_document(settling: Settling) -> dict[str, Any]:
    """As `answer.json` and `--json` hold it; `null` where a cell has not settled, or too little
    happens in it to say so."""
    return {
        "used_ms": settling.used_ms,
        "is_auto": settling.is_auto,
        "found_ms": finite(settling.found_ms),
        "is_warning": settling.is_warning,
        "text": str(settling),
        "cells": {cell: finite(at_ms) for cell, at_ms in settling.cells.items()},
    }
