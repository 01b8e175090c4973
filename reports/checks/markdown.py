"""A check in Markdown: the comment of a pull request."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from msgspec import Struct

from whitecap.reports.checks.findings import CheckFinding, Severity, check_findings
from whitecap.reports.comparisons.wording import basis_text, counts_text, notes_of
from whitecap.reports.expectations.checked import CheckResult

MARKER = "<!-- whitecap check -->"
"""The first line, by which a workflow finds the comment that it wrote before."""

MOST_TOLD = 10
"""Findings of one scenario; a comment is read by people."""


class ScenarioCheck(Struct, frozen=True):
    """One scenario: its name, its file, and how it came out."""

    name: str
    source: str
    checked: CheckResult


def check_markdown(results: Sequence[ScenarioCheck], headline: str) -> str:
    """The comment: all scenarios in a table, then what is to be told of each."""
    parts = [MARKER, f"### Whitecap: {_escaped(headline)}", "", *_table(results)]
    for result in results:
        parts += _details(result)
    return "\n".join(parts) + "\n"


def _table(results: Sequence[ScenarioCheck]) -> Iterator[str]:
    compares = any(each.checked.changes is not None for each in results)
    yield "| scenario | | expectations |" + (" since the baseline |" if compares else "")
    yield "|---|---|---|" + ("---|" if compares else "")
    for each in results:
        checked = each.checked
        row = [f"`{each.name}`", _stressed(checked), _expectations(checked)]
        if compares:
            row.append(counts_text(checked.changes) if checked.changes else "not compared")
        yield f"| {' | '.join(row)} |"


def _stressed(checked: CheckResult) -> str:
    verdict = checked.verdict.value
    return verdict if verdict == "ok" else f"**{verdict}**"


def _expectations(checked: CheckResult) -> str:
    counts = Counter(judged.standing.value for _, judged in checked.judged)
    return ", ".join(f"{count} {judgement}" for judgement, count in counts.items()) or "none"


def _details(result: ScenarioCheck) -> Iterator[str]:
    findings = check_findings(result.checked)
    changes = result.checked.changes
    notes = notes_of(changes) if changes else []
    if not findings and not notes:
        return
    yield from ("", f"**{_escaped(result.name)}** ({_escaped(result.source)})", "")
    yield from (f"- {_finding_text(each)}" for each in findings[:MOST_TOLD])
    if len(findings) > MOST_TOLD:
        yield f"- and {len(findings) - MOST_TOLD} more"
    yield from (f"- {_escaped(note)}" for note in notes)
    if changes and changes.compared:
        yield from ("", f"<sub>{basis_text(changes)}; all intervals together: 95 %</sub>")


def _finding_text(finding: CheckFinding) -> str:
    what = f"**{finding.what}**" if finding.severity is Severity.ERROR else finding.what
    first, *rest = finding.text.splitlines() or [""]
    more = "".join(f"<br>{_escaped(line)}" for line in rest)
    return f"{what}: {_escaped(first)}{more}"


def _escaped(text: str) -> str:
    """Without what Markdown would take for its own."""
    return re.sub(r"([\\`*_\[\]<>|~])", r"\\\1", text)
