"""Workflow commands of GitHub: a line of a log that is shown beside a line of a file.

https://docs.github.com/actions/reference/workflow-commands-for-github-actions; how the values are
escaped: actions/toolkit, packages/core/src/command.ts.
"""

from __future__ import annotations

from whitecap.reports.checks.findings import CheckFinding


def annotation(finding: CheckFinding, name: str, file: str | None, line: int | None = None) -> str:
    """`::error file=...,line=...,title=...::...`; without a file it is shown at the top."""
    properties = {"file": file, "line": line, "title": f"{name}: {finding.what}"}
    said = ",".join(
        f"{key}={_property(str(value))}" for key, value in properties.items() if value is not None
    )
    return f"::{finding.severity} {said}::{_data(finding.text)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
