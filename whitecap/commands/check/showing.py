"""A check in the terminal, and as one JSON object."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import click

from whitecap.checking import CheckedScenario, checked_document
from whitecap.reports.comparisons.changes import MeasureChanges
from whitecap.reports.comparisons.wording import (
    SHOWN_EACH,
    basis_text,
    change_text,
    counts_text,
    notes_of,
)
from whitecap.reports.expectations.checked import CheckVerdict
from whitecap.reports.words import counted, sentence
from whitecap.terminal.as_json import print_json
from whitecap.terminal.console import new_console
from whitecap.terminal.table import print_indented

COLOURS = {
    "ok": "green", "missed": "red", "undecided": "yellow", "broken": "magenta", "worse": "red",
    "unjudged": "magenta",
}  # fmt: skip

INDENT = 10


def print_result(result: CheckedScenario) -> None:
    """A line for the scenario, and one below it for each expectation that is not met."""
    checked, console = result.checked, new_console()
    verdict = click.style(f"{checked.verdict:9}", fg=COLOURS[checked.verdict])
    expected, runs = counted(len(checked.judged), "expectation"), counted(result.runs, "run")
    summary = checked.unjudged or f"{expected}, {runs}, {result.seconds:.1f} s of computing"
    click.echo(f"{verdict} {result.path}  ({summary})")
    for cell, judged in checked.judged:
        if not judged.is_met:
            print_indented(console, f"{judged.standing}: {cell.said(judged)}", by=INDENT)
    for reached in result.reached:
        print_indented(console, sentence(str(reached)), by=INDENT)
    if checked.changes is not None:
        for line in _lines(checked.changes):
            print_indented(console, line, by=INDENT)
    if checked.error is not None:
        print_indented(new_console(stderr=True), checked.error, by=INDENT)


def _lines(changes: MeasureChanges) -> Iterator[str]:
    """What changed since the baseline, the worst first."""
    for verdict in SHOWN_EACH:
        for change in changes.having(verdict):
            yield f"{verdict}: {change_text(change)}"
    yield f"since the baseline: {counts_text(changes)} ({basis_text(changes)})"
    yield from map(sentence, notes_of(changes))


def print_json_of(results: Sequence[CheckedScenario]) -> None:
    """Everything, as one object."""
    scenarios = [checked_document(result) for result in results]
    print_json({"scenarios": scenarios, "counts": _by_verdict(results)})


def print_counts(results: Sequence[CheckedScenario]) -> None:
    """The last line."""
    click.echo(counts_of(results))


ALWAYS = (CheckVerdict.OK, CheckVerdict.MISSED, CheckVerdict.UNDECIDED, CheckVerdict.BROKEN)
"""Counted also where there are none; the others take a baseline or a time limit."""


def counts_of(results: Sequence[CheckedScenario]) -> str:
    """`3 ok, 0 missed, 1 undecided, 0 broken, 1 worse`."""
    said = (
        f"{count} {verdict}"
        for verdict, count in _by_verdict(results).items()
        if count or verdict in ALWAYS
    )
    return ", ".join(said)


def _by_verdict(results: Sequence[CheckedScenario]) -> dict[str, int]:
    counts = Counter(result.checked.verdict for result in results)
    return {verdict.value: counts[verdict] for verdict in CheckVerdict}
