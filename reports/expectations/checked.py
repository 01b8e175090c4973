"""A regression scenario with everything that was expected of it, judged cell by cell."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum

from msgspec import Struct

from whitecap.reports.comparisons.changes import MeasureChanges
from whitecap.reports.expectations.expected import MeasureThresholds
from whitecap.reports.expectations.judging import Judged, judge
from whitecap.reports.measures.measured_run import MeasuredRun
from whitecap.reports.statistics import Standing


class CheckVerdict(StrEnum):
    """How a scenario came out, the worst of its parts; broken: a run did not come to its end.

    Worse: than its baseline. Unjudged: the time was up before.
    """

    OK = "ok"
    MISSED = "missed"
    UNDECIDED = "undecided"
    BROKEN = "broken"
    WORSE = "worse"
    UNJUDGED = "unjudged"


class CheckedCell(Struct, frozen=True):
    """What was expected of one cell; `where` names it, empty without a sweep."""

    where: str
    judged: tuple[Judged, ...]

    def said(self, text: object) -> str:
        """`text`, said of this cell."""
        return f"{self.where}: {text}" if self.where else str(text)


class CheckResult(Struct, frozen=True):
    """One scenario: its cells, and what broke it, if anything did."""

    cells: tuple[CheckedCell, ...]
    error: str | None = None
    changes: MeasureChanges | None = None
    """What changed since its baseline, if it was compared with one."""
    unjudged: str = ""
    """Why nothing of it was judged."""
    undecided_passes: bool = False
    """Whether what the replications do not decide fails nothing."""

    @property
    def judged(self) -> list[tuple[CheckedCell, Judged]]:
        """Every expectation with the cell that it was held against."""
        return [(cell, each) for cell in self.cells for each in cell.judged]

    def having(self, standing: Standing) -> list[tuple[CheckedCell, Judged]]:
        """Those that came out so."""
        return [pair for pair in self.judged if pair[1].standing is standing]

    @property
    def verdict(self) -> CheckVerdict:
        """Broken before missed before undecided before worse before ok."""
        if self.unjudged:
            return CheckVerdict.UNJUDGED
        if self.error is not None:
            return CheckVerdict.BROKEN
        for standing in (Standing.MISSED, Standing.UNDECIDED):
            if self.having(standing):
                return CheckVerdict(standing.value)
        return CheckVerdict.WORSE if self.is_worse else CheckVerdict.OK

    @property
    def fails(self) -> bool:
        """Whether anything that was expected fails it: missed, or undecided where that fails."""
        failing = [CheckVerdict.MISSED]
        if not self.undecided_passes:
            failing.append(CheckVerdict.UNDECIDED)
        return self.verdict in failing

    @property
    def is_worse(self) -> bool:
        """Whether anything is worse than in its baseline, whatever else there is to say."""
        return self.changes is not None and self.changes.is_worse


def checked_cell(
    where: str, expectations: Iterable[MeasureThresholds], runs: Mapping[int, MeasuredRun]
) -> CheckedCell:
    """Hold every expectation of a cell against its runs, by their replication."""
    return CheckedCell(where, tuple(judge(each, runs) for each in expectations))
