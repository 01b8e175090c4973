"""What was expected of a sweep, expectation by expectation, with the cells that it holds in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import TypeVar

from msgspec import Struct

from whitecap.reports.expectations.expected import (
    MeasureThresholds,
    of_cell,
    subject,
    wanted,
    when_text,
)
from whitecap.reports.expectations.judging import Judged, judge
from whitecap.reports.layout import SweepLayout
from whitecap.reports.measures.measured_run import MeasuredRun
from whitecap.reports.statistics import WORST_FIRST, Standing, worst_of

S = TypeVar("S", bound=StrEnum)


class JudgedCells(Struct, frozen=True):
    """One expectation, and how it came out in each cell that it is expected of."""

    expected: MeasureThresholds
    cells: Mapping[str, Judged]

    @property
    def standing(self) -> Standing:
        """Missed before undecided before met."""
        return worst_of((each.standing for each in self.cells.values()), WORST_FIRST)

    def __str__(self) -> str:
        text = f"{subject(self.expected)} {wanted(self.expected)}{when_text(self.expected)}"
        return f"{text} ({self.expected.because})" if self.expected.because else text

    @property
    def counted(self) -> str:
        """In how many cells it came out how: `met in 4, missed in 2 of 6 cells`."""
        return counted_cells([each.standing for each in self.cells.values()])


def counted_cells(several: Sequence[S]) -> str:
    """In how many cells something came out how; of at least one cell."""
    counts = Counter(several)
    said = ", ".join(f"{each} in {counts[each]}" for each in type(several[0]) if counts[each])
    return f"{said} of {len(several)} cell{'s' if len(several) > 1 else ''}"


def judged_cells(
    expectations: Iterable[MeasureThresholds],
    measured: Mapping[str, Mapping[int, MeasuredRun]],
    layout: SweepLayout,
) -> list[JudgedCells]:
    """Hold what a scenario expects against the runs of its sweep, by cell and replication."""
    judged = []
    for expected in expectations:
        cells = {
            cell.name: judge(expected, measured[cell.name])
            for cell in layout.cells
            if cell.name in measured and of_cell([expected], cell.labels)
        }
        if cells:
            judged.append(JudgedCells(expected, cells))
    return judged
