"""Differences between two sides, with what may be said of them: worse, better, or neither."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from enum import StrEnum

from msgspec import Struct

from whitecap.engine.recorded import Direction, Measure
from whitecap.reports.comparisons.sides import (
    Series,
    Sides,
    estimate_of,
    is_same,
    per_run,
)
from whitecap.reports.measures.groups import WriterCommand
from whitecap.reports.precision.asked import Asked
from whitecap.reports.statistics import (
    Claim,
    Estimate,
    EstimatedDifference,
    confidence_of,
    difference,
    unpaired_difference,
)


class ChangeVerdict(StrEnum):
    """What became of a measure of some writers."""

    WORSE = "worse"
    BETTER = "better"
    DIFFERENT = "different"
    """Of a measure that is neither good nor bad in itself."""
    TOLERATED = "tolerated"
    """Worse, but perhaps not by more than is tolerated."""
    ALIKE = "not told apart"
    SAME = "the same"
    """In every replication, but for rounding."""
    UNKNOWN = "unknown"
    """There is no interval: a replication alone, or nothing to measure."""


class MeasureChange(Struct, frozen=True):
    """One measure of one writer group in one cell; the `difference` is now minus then."""

    cell: str
    group: WriterCommand
    measure: Measure
    then: Estimate
    now: Estimate
    difference: EstimatedDifference
    is_same: bool
    tolerated: float = 0.0

    @property
    def verdict(self) -> ChangeVerdict:
        """What may be said, with the interval's confidence."""
        gap, better = self.difference, self.measure.better
        if self.is_same:
            return ChangeVerdict.SAME
        if gap.statement is Claim.NONE or math.isnan(gap.point):
            return ChangeVerdict.UNKNOWN
        if not gap.is_distinguishable:
            return ChangeVerdict.ALIKE
        if better is None:
            return ChangeVerdict.DIFFERENT
        if (gap.point > 0) is (better is Direction.AT_LEAST):
            return ChangeVerdict.BETTER
        return ChangeVerdict.WORSE if self.least > self.tolerated else ChangeVerdict.TOLERATED

    @property
    def least(self) -> float:
        """By how much at least it differs, whichever way."""
        gap = self.difference
        if gap.statement is Claim.ALIKE:
            return abs(gap.point)
        return max(gap.low, -gap.high, 0.0)


class MeasureChanges(Struct, frozen=True):
    """All changes between two sides, and what only one of them has.

    Together the intervals hold with the usual confidence: each has that of so many `compared`.
    """

    each: tuple[MeasureChange, ...]
    is_paired: bool
    replications: int
    compared: int
    changed_cells: tuple[str, ...] = ()
    """Cells in which something else is simulated than before."""
    only_then: tuple[str, ...] = ()
    only_now: tuple[str, ...] = ()

    def having(self, *verdicts: ChangeVerdict) -> list[MeasureChange]:
        """Those that came out so."""
        return [change for change in self.each if change.verdict in verdicts]

    @property
    def is_worse(self) -> bool:
        """Whether anything is."""
        return bool(self.having(ChangeVerdict.WORSE))


class _Compared(Struct, frozen=True):
    """Both series of a measure, and whether they agree in every replication."""

    cell: str
    group: WriterCommand
    measure: Measure
    then: Estimate
    now: Estimate
    is_same: bool


def changes_between(
    then: Sides, now: Sides, *, paired: bool, tolerated: Sequence[Asked] = ()
) -> MeasureChanges:
    """What changed in the cells that both sides have.

    Where they are `paired`, replication r has the same random numbers on both sides, and those
    that both have are compared; else all of each. Anything that got worse by chance in one of
    many comparisons is a false alarm, so the intervals have Bonferroni's level for all that differ
    at all: what is the same in every replication cannot be called worse.
    """
    sides = _TwoSides(then, now, paired)
    pairs = list(sides.compared())
    compared = sum(not pair.is_same for pair in pairs)
    confidence = confidence_of(compared)
    return MeasureChanges(
        tuple(sides.change(pair, confidence, tolerated) for pair in pairs),
        paired,
        sides.replications,
        compared,
        tuple(c for c in sides.cells if then[c].digest != now[c].digest),
        (*(c for c in then if c not in now), *_groups_of(then, now)),
        (*(c for c in now if c not in then), *_groups_of(now, then)),
    )


class _TwoSides(Struct, frozen=True):
    """What is compared; `paired` as `changes_between` says."""

    then: Sides
    now: Sides
    paired: bool

    @property
    def cells(self) -> list[str]:
        """Those that both sides have."""
        return [cell for cell in self.then if cell in self.now]

    @property
    def replications(self) -> int:
        """How many are compared in every cell."""
        return min(map(self._replications_of, self.cells), default=0)

    def _replications_of(self, cell: str) -> int:
        then, now = self.then[cell].replications, self.now[cell].replications
        return len(then & now) if self.paired else min(len(then), len(now))

    def compared(self) -> Iterator[_Compared]:
        """Every measure of every writer group of every cell that both sides have."""
        for cell in self.cells:
            for group, measures in self.then[cell].groups.items():
                others = self.now[cell].groups.get(group, {})
                for measure in measures:
                    if measure in others:
                        both = self._estimates(measure, measures[measure], others[measure])
                        yield _Compared(cell, group, measure, *both)

    def _estimates(
        self, measure: Measure, before: Series, after: Series
    ) -> tuple[Estimate, Estimate, bool]:
        """Of then and of now, and whether they are the same in every replication."""
        both = sorted(before.keys() & after.keys())
        ours, theirs = (both, both) if self.paired else (sorted(before), sorted(after))
        then, now = [before[n] for n in ours], [after[n] for n in theirs]
        if {type(each) for each in then} != {type(each) for each in now}:
            then, now = per_run(then), per_run(now)
        was, is_now = estimate_of(measure, then), estimate_of(measure, now)
        # Nothing twice is the same, of other random numbers too.
        is_nothing = math.isnan(was.point) and math.isnan(is_now.point)
        alike = self.paired and bool(both) and all(map(is_same, then, now))
        return was, is_now, is_nothing or alike

    def change(
        self, pair: _Compared, confidence: float, tolerated: Sequence[Asked]
    ) -> MeasureChange:
        """What became of a measure, with an interval of this confidence."""
        between = difference if self.paired else unpaired_difference
        allowed = (
            each.wanted.half * (abs(pair.then.point) if each.wanted.is_relative else 1.0)
            for each in tolerated
            if each.measure is pair.measure
        )
        return MeasureChange(
            pair.cell, pair.group, pair.measure, pair.then, pair.now,
            between(pair.now, pair.then, confidence), pair.is_same, max(allowed, default=0.0),
        )  # fmt: skip


def _groups_of(sides: Sides, other: Sides) -> Iterator[str]:
    """Writer groups that only one side has, of the cells of both."""
    names = {
        str(group)
        for cell in sides.keys() & other.keys()
        for group in sides[cell].groups.keys() - other[cell].groups.keys()
    }
    yield from (f"writers {name}" for name in sorted(names))
