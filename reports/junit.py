"""JUnit XML, which CI services show: one suite per scenario, one case per expectation."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree as ET

from msgspec import Struct

from whitecap.reports.comparisons.changes import ChangeVerdict, MeasureChanges
from whitecap.reports.comparisons.wording import change_text
from whitecap.reports.expectations.checked import CheckResult
from whitecap.reports.expectations.judging import Judged
from whitecap.reports.statistics import Standing

NAME = "whitecap check"

JUNIT_BEGINS = f"<?xml version='1.0' encoding='utf-8'?>\n<testsuites name=\"{NAME}\"".encode()
"""How a file of them begins, by which one that is there is known as such."""

_NOT_IN_XML = re.compile(r"[^\t\n\r\x20-\uD7FF\uE000-\uFFFD\U00010000-\U0010FFFF]")
"""Characters that XML 1.0 cannot hold, however escaped (its section 2.2)."""


class JUnitCase(Struct, frozen=True):
    """One expectation: `failure` says what was missed, `error` what broke, `skipped` what was not
    decided and does not matter."""

    name: str
    failure: str | None = None
    error: str | None = None
    skipped: str | None = None


class Suite(Struct, frozen=True):
    """All expectations of one scenario."""

    name: str
    file: str
    seconds: float
    cases: tuple[JUnitCase, ...]

    @property
    def failures(self) -> int:
        """How many expectations were missed."""
        return sum(case.failure is not None for case in self.cases)

    @property
    def errors(self) -> int:
        """How many could not be judged because a run broke."""
        return sum(case.error is not None for case in self.cases)

    @property
    def skipped(self) -> int:
        """How many were not decided."""
        return sum(case.skipped is not None for case in self.cases)


def checked_suite(name: str, path: Path | str, seconds: float, checked: CheckResult) -> Suite:
    """The suite of a checked scenario: a case for each expectation of each cell."""
    cases = [
        _judged_case(f"{number}. {cell.said(judged.subject)}", judged, checked.undecided_passes)
        for number, (cell, judged) in enumerate(checked.judged, start=1)
    ]
    if checked.error is not None:
        cases.append(JUnitCase("the run", error=checked.error))
    if checked.unjudged:
        cases.append(JUnitCase("the scenario", error=f"not judged: {checked.unjudged}"))
    if checked.changes is not None:
        cases.append(_baseline_case(checked.changes))
    return Suite(name, str(path), seconds, tuple(cases))


def _baseline_case(changes: MeasureChanges) -> JUnitCase:
    worse = [f"worse: {change_text(change)}" for change in changes.having(ChangeVerdict.WORSE)]
    return JUnitCase("the baseline", failure="\n".join(worse) or None)


def _judged_case(name: str, judged: Judged, undecided_passes: bool) -> JUnitCase:
    match judged.standing:
        case Standing.MET:
            return JUnitCase(name)
        case Standing.UNDECIDED if undecided_passes:
            return JUnitCase(name, skipped=str(judged))
        case standing:
            return JUnitCase(name, failure=f"{standing}: {judged}")


def junit_of(suites: Sequence[Suite]) -> bytes:
    """The suites as JUnit XML."""
    root = ET.Element("testsuites", {"name": NAME, **_counts(suites)})
    for suite in suites:
        root.append(_suite_element(suite))
    ET.indent(root)
    return bytes(ET.tostring(root, encoding="utf-8", xml_declaration=True))


def _counts(suites: Sequence[Suite]) -> dict[str, str]:
    return {
        "tests": str(sum(len(suite.cases) for suite in suites)),
        "failures": str(sum(suite.failures for suite in suites)),
        "errors": str(sum(suite.errors for suite in suites)),
        "skipped": str(sum(suite.skipped for suite in suites)),
        "time": f"{sum(suite.seconds for suite in suites):.3f}",
    }


def _suite_element(suite: Suite) -> ET.Element:
    element = ET.Element("testsuite", {"name": _clean(suite.name), **_counts([suite])})
    for case in suite.cases:
        child = ET.SubElement(
            element,
            "testcase",
            name=_clean(case.name),
            classname=_clean(suite.name),
            file=_clean(suite.file),
            time="0",
        )
        said = {"failure": case.failure, "error": case.error, "skipped": case.skipped}
        for kind, text in said.items():
            if text is not None:
                first_line = text.splitlines()[0] if text else ""
                ET.SubElement(child, kind, message=_clean(first_line)).text = _clean(text)
    return element


def _clean(text: str) -> str:
    return _NOT_IN_XML.sub("\N{REPLACEMENT CHARACTER}", text)
