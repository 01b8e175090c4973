"""What is to be told of a checked scenario, one by one, with how much it matters."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum

from msgspec import Struct

from whitecap.reports.comparisons.changes import ChangeVerdict
from whitecap.reports.comparisons.wording import change_text
from whitecap.reports.expectations.checked import CheckResult
from whitecap.reports.statistics import Standing


class Severity(StrEnum):
    """How much a finding matters: an error fails the check."""

    ERROR = "error"
    WARNING = "warning"
    NOTICE = "notice"


class CheckFinding(Struct, frozen=True):
    """`what` in a word (`missed`, `worse`), and the rest in a sentence without a full stop.

    `place`: of an expectation, its cell and which one of that cell it is.
    """

    severity: Severity
    what: str
    text: str
    place: tuple[str, int] | None = None

    def __str__(self) -> str:
        return f"{self.what}: {self.text}"


_OF_CHANGES = {
    ChangeVerdict.WORSE: Severity.ERROR,
    ChangeVerdict.TOLERATED: Severity.WARNING,
    ChangeVerdict.DIFFERENT: Severity.NOTICE,
    ChangeVerdict.BETTER: Severity.NOTICE,
}


def check_findings(checked: CheckResult) -> list[CheckFinding]:
    """Everything but what is as expected, and what has not changed."""
    findings = []
    if checked.error is not None:
        findings.append(CheckFinding(Severity.ERROR, "broken", checked.error))
    if checked.unjudged:
        findings.append(CheckFinding(Severity.ERROR, "not judged", checked.unjudged))
    return [*findings, *_of_expectations(checked), *_of_baseline(checked)]


def _of_expectations(checked: CheckResult) -> Iterator[CheckFinding]:
    severities = {
        Standing.MISSED: Severity.ERROR,
        Standing.UNDECIDED: Severity.WARNING if checked.undecided_passes else Severity.ERROR,
    }
    for cell in checked.cells:
        for number, judged in enumerate(cell.judged):
            if not judged.is_met:
                text, place = cell.said(judged), (cell.where, number)
                yield CheckFinding(severities[judged.standing], judged.standing.value, text, place)


def _of_baseline(checked: CheckResult) -> Iterator[CheckFinding]:
    if checked.changes is None:
        return
    for verdict, severity in _OF_CHANGES.items():
        for change in checked.changes.having(verdict):
            yield CheckFinding(severity, verdict.value, change_text(change))
