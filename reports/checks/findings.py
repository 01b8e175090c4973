"""What is to be told of a checked scenario, one by one, with how much it matters."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from whitecap.reports.comparisons.changes import Verdict
from whitecap.reports.comparisons.wording import change_text
from whitecap.reports.expectations.checked import Checked
from whitecap.reports.statistics import Standing


class Level(StrEnum):
    """How much a finding matters: an error fails the check."""

    ERROR = "error"
    WARNING = "warning"
    NOTICE = "notice"


@dataclass(frozen=True, slots=True)
class Finding:
    """`what` in a word (`missed`, `worse`), and the rest in a sentence without a full stop.

    `place`: of an expectation, its cell and which one of that cell it is.
    """

    level: Level
    what: str
    text: str
    place: tuple[str, int] | None = None

    def __str__(self) -> str:
        return f"{self.what}: {self.text}"


_OF_CHANGES = {
    Verdict.WORSE: Level.ERROR,
    Verdict.TOLERATED: Level.WARNING,
    Verdict.DIFFERENT: Level.NOTICE,
    Verdict.BETTER: Level.NOTICE,
}


def findings_of(checked: Checked, *, undecided_passes: bool) -> list[Finding]:
    """Everything but what is as expected, and what has not changed."""
    findings = []
    if checked.error is not None:
        findings.append(Finding(Level.ERROR, "broken", checked.error))
    if checked.unjudged:
        findings.append(Finding(Level.ERROR, "not judged", checked.unjudged))
    return [*findings, *_of_expectations(checked, undecided_passes), *_of_baseline(checked)]


def _of_expectations(checked: Checked, undecided_passes: bool) -> Iterator[Finding]:
    levels = {
        Standing.MISSED: Level.ERROR,
        Standing.UNDECIDED: Level.WARNING if undecided_passes else Level.ERROR,
    }
    for cell in checked.cells:
        for number, judged in enumerate(cell.judged):
            if not judged.is_met:
                text, place = f"{cell.where}{judged}", (cell.where, number)
                yield Finding(levels[judged.judgement], judged.judgement.value, text, place)


def _of_baseline(checked: Checked) -> Iterator[Finding]:
    if checked.changes is None:
        return
    for verdict, level in _OF_CHANGES.items():
        for change in checked.changes.having(verdict):
            yield Finding(level, verdict.value, change_text(change))
