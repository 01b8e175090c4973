"""A campaign in words: its findings as they come, and what all runs come to."""

from __future__ import annotations

import shlex
import textwrap
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from whitecap.engine.recorded import Measure
from whitecap.reports.words import counted
from whitecap.sim.chaos.one_run import FEWEST_COMMITS, MOST_ROWS
from whitecap.sim.oracles.finding import Anomaly, Finding
from whitecap.terminal.console import new_console
from whitecap.terminal.table import print_indented

if TYPE_CHECKING:
    from whitecap.sim.chaos.campaign import Campaign, Tally
    from whitecap.sim.chaos.examining import Examined
    from whitecap.sim.chaos.kept import Course
    from whitecap.sim.chaos.timeline import Lane

NOT_DRAWN, BROKEN = "no scenario was drawn", "the run broke"
"""Stand in the place of an anomaly's name."""

BAR = 20
NAME = 18
"""Columns of a bar, and of a name, of which the end is kept: it has the number."""


def again(paths: Sequence[Path], campaign: Campaign, number: int) -> str:
    """The command that makes one run of a campaign again: of its own scenario alone."""
    path = str(paths[number % len(paths)])
    left_out = [part for kind in sorted(campaign.without) for part in ("--without", kind)]
    numbers = ["--seed", str(campaign.seed), "--only", str(number)]
    return shlex.join(["whitecap", "chaos", path, *left_out, *numbers])


def show_finding(examined: Examined, command: str, small: Path | None) -> None:
    """What is wrong with a run, why, and how to see it again."""
    colour = "yellow" if examined.is_explained else "red"
    click.echo(f"{click.style(_title(examined), fg=colour)}  (run {examined.run.number})")
    for line in _lines(examined, command, small):
        print_indented(new_console(), line, by=2)


def _title(examined: Examined) -> str:
    finding = examined.finding
    if examined.run.misdrawn:
        return NOT_DRAWN
    return BROKEN if finding is None else finding.anomaly.value


def _lines(examined: Examined, command: str, small: Path | None) -> Iterator[str]:
    yield from _what(examined)
    yield _why(examined)
    yield f"again: {command}"
    if small is not None and examined.shrunk is not None:
        yield f"small ({examined.shrunk.tried} scenarios tried): whitecap run {small}"


def _what(examined: Examined) -> Iterator[str]:
    run, finding = examined.run, examined.finding
    if run.misdrawn:
        yield from run.misdrawn.splitlines()
    elif finding is None:
        said = run.broken.strip().splitlines()
        yield from said[-1:] if said[0].startswith("Traceback") else said
    else:
        yield finding.sentence
        yield from finding.cycle
        yield from lane_lines(run.lanes)
        others = len(run.findings) - 1
        if others:
            yield f"and {others} more in this run"


def _why(examined: Examined) -> str:
    if examined.run.misdrawn:
        return "a defect of the draw, not of what was to be tested"
    if examined.cause is None:
        return "unexplained: it is there without any catalogued failure"
    return f"because of {examined.cause}, without which it is gone in the same seed"


def small_scenario(examined: Examined, command: str) -> str:
    """The small scenario as a file that says what is wrong with it and how to ask again."""
    from whitecap.sim.scenario.yaml.text import show_document

    assert examined.shrunk is not None
    finding = examined.small_finding
    said = BROKEN if finding is None else f"{finding.anomaly.value}: {finding.sentence}"
    lines = [
        *textwrap.wrap(said, 90),
        f"because of {examined.cause}" if examined.cause else "unexplained",
        f"made small of {command}",
        "whitecap check THIS holds it for as long as it is so",
        "whitecap run THIS --out DIR && whitecap oracle DIR says what it is",
    ]
    comment = "".join(f"# {line}\n" for line in lines)
    document = {**examined.shrunk.scenario.document, **_expected(finding)}
    return comment + show_document(document)


def _expected(finding: Finding | None) -> dict[str, Any]:
    """That it stays as it is found, until it is mended; what breaks a run needs no expectation."""
    if finding is None:
        return {}
    measure = Measure.IN_FLIGHT if finding.anomaly is Anomaly.UNRESOLVED else Measure.FINDINGS
    because = f"{finding.anomaly.value}; once it is mended, it equals 0"
    said = {"measure": measure.value, "at_least": 1, "exactly": True, "because": because}
    return {"expect": [said]}


def show_course(course: Course, made: int, seconds: float) -> None:
    """What all runs come to, of which so many were made in this time."""
    for line in _summary(course, made, seconds):
        print_indented(new_console(), line, by=0)


def _summary(course: Course, made: int, seconds: float) -> Iterator[str]:
    tally = course.tally
    rate = made / seconds if seconds else 0.0
    yield (
        f"{counted(tally.runs, 'run')}, {tally.commits:,} commits of "
        f"{tally.transactions:,} transactions, {rate:.1f} runs a second"
    )
    yield _with_findings(course.findings)
    yield f"{_short(tally)}; {_alike(tally)}; {_rows(tally)}"
    if tally.overgrown:
        yield f"{tally.overgrown:,} given up: they wrote more than {MOST_ROWS:,} rows to a table"
    if tally.misdrawn:
        yield f"{tally.misdrawn:,} misdrawn: what was drawn is no scenario, a defect of the draw"
    met = sum(1 for count in tally.exercised.values() if count)
    never = tally.never_exercised
    yield f"{met} of {met + len(never)} things that should happen sometimes did"
    yield from (f"never: {name}" for name in never)
    yield from (f"not checked in {count} runs: {what}" for what, count in tally.not_checked.items())


def _with_findings(documents: Sequence[dict[str, Any]]) -> str:
    """How many runs went wrong, how many of them for no reason that is named, and in which way."""
    if not documents:
        return "none with findings"
    unexplained = sum(1 for each in documents if each["cause"] is None)
    kinds = Counter(_kind(each) for each in documents).most_common()
    ways = ", ".join(f"{name} {count:,}" for name, count in kinds)
    explained = f"{unexplained:,} unexplained" if unexplained else "all explained"
    return f"{len(documents):,} with findings, {explained}: {ways}"


def _kind(document: dict[str, Any]) -> str:
    """What the first finding of a run is called, or that there was no run to look at."""
    if document["misdrawn"]:
        return NOT_DRAWN
    return document["findings"][0]["anomaly"] if document["findings"] else BROKEN


def _short(tally: Tally) -> str:
    few = f"fewer than {FEWEST_COMMITS} commits"
    return f"{tally.short:,} with {few}" if tally.short else f"none with {few}"


def _alike(tally: Tally) -> str:
    return f"{tally.repeated:,} the same as another" if tally.repeated else "no two the same"


def _rows(tally: Tally) -> str:
    if tally.rows_compared == tally.runs:
        return "rows compared in each"
    return f"rows compared in {tally.rows_compared:,}"


def campaign_document(course: Course, seed: int) -> dict[str, Any]:
    """A campaign for JSON. How fast it was is not in it: the same campaign gives the same."""
    tally = course.tally
    return {
        "seed": seed,
        "without": sorted(tally.without),
        "runs": tally.runs,
        "commits": tally.commits,
        "transactions": tally.transactions,
        "short_runs": tally.short,
        "overgrown_runs": tally.overgrown,
        "misdrawn_runs": tally.misdrawn,
        "repeated_runs": tally.repeated,
        "rows_compared": tally.rows_compared,
        "exercised": dict(sorted(tally.exercised.items())),
        "never_exercised": tally.never_exercised,
        "not_checked": dict(sorted(tally.not_checked.items())),
        "findings": course.findings,
    }


def finding_document(examined: Examined) -> dict[str, Any]:
    """One run that went wrong, for JSON."""
    return {
        "run": examined.run.number,
        "findings": [finding.as_row() for finding in examined.run.findings],
        "broken": examined.run.broken or None,
        "misdrawn": examined.run.misdrawn or None,
        "cause": examined.cause,
    }


def lane_lines(lanes: Sequence[Lane]) -> Iterator[str]:
    """One line per transaction: `>` marks those of the finding, `|` the end that was told."""
    if not lanes:
        return
    first = min(lane.began_ms for lane in lanes)
    last = max(lane.began_ms if lane.ended_ms is None else lane.ended_ms for lane in lanes)
    yield f"from {first / 1000:,.1f} s to {last / 1000:,.1f} s; > is of the finding"
    for lane in lanes:
        mark = ">" if lane.is_named else " "
        yield f"{mark} {lane.name[-NAME:]:{NAME}} {_bar(lane, first, last)} {_said(lane)}"


def _bar(lane: Lane, first: float, last: float) -> str:
    scale = (BAR - 1) / max(last - first, 1e-9)
    begin = int((lane.began_ms - first) * scale)
    end = BAR - 1 if lane.ended_ms is None else int((lane.ended_ms - first) * scale)
    closing = ">" if lane.ended_ms is None else "|"
    return (" " * begin + "-" * (end - begin) + closing).ljust(BAR)


def _said(lane: Lane) -> str:
    read = "" if lane.read_version is None else f"read {lane.read_version}, "
    wrote = "".join(f"wrote {version}, " for version in lane.wrote[:1])
    return f"{read}{wrote}{lane.outcome.value.replace('_', ' ')}"
