"""A check for others to show: JUnit XML, a comment in Markdown, annotations of GitHub Actions."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import click

from whitecap.checking import CheckedScenario
from whitecap.checking.against import Against
from whitecap.commands.check.showing import counts_of
from whitecap.engine.errors import InvalidInput
from whitecap.reports.checks.annotations import annotation
from whitecap.reports.checks.findings import CheckFinding, check_findings
from whitecap.reports.checks.markdown import ScenarioCheck, check_markdown
from whitecap.reports.junit import checked_suite, junit_of
from whitecap.sim.bundled import read_named
from whitecap.sim.machine.places import write_whole
from whitecap.sim.scenario.cells import show_cell
from whitecap.sim.sweeps.regression_files import line_of_expectation


def write_junit_of(results: Sequence[CheckedScenario], path: Path) -> None:
    """A suite per scenario."""
    suites = [checked_suite(r.name, r.path, r.seconds, r.checked) for r in results]
    write_whole(path, junit_of(suites))


def write_markdown(results: Sequence[CheckedScenario], path: Path) -> None:
    """The comment of a pull request."""
    checks = [ScenarioCheck(each.name, str(each.path), each.checked) for each in results]
    text = check_markdown(checks, counts_of(results))
    write_whole(path, text.encode())


def update_baseline(compared: Against, results: Sequence[CheckedScenario], path: Path) -> None:
    """What the next checks are compared with."""
    write_whole(path, compared.updated(results).text.encode())
    click.echo(f"baseline  {path}", err=True)


def print_annotations(results: Sequence[CheckedScenario]) -> None:
    """A line for each finding, at the line of its expectation where its file is there."""
    for result in results:
        file = _file_of(result.path)
        for finding in check_findings(result.checked):
            line = None if file is None else _line_of(finding, result)
            click.echo(annotation(finding, result.name, file, line))


def _file_of(path: Path | str) -> str | None:
    """A scenario's file as the repository calls it, if it lies in the working directory."""
    if not os.path.isfile(path):
        return None
    relative = os.path.relpath(path)
    return None if relative.startswith(os.pardir) else Path(relative).as_posix()


def _line_of(finding: CheckFinding, result: CheckedScenario) -> int:
    """Where its expectation stands; the first line where that is not known."""
    if finding.place is None or result.measured is None:
        return 1
    where, number = finding.place
    labels = next(cell.labels for cell in result.measured.cells if show_cell(cell.labels) == where)
    try:
        return line_of_expectation(read_named(Path(result.path)), labels, number)
    except InvalidInput:
        return 1
