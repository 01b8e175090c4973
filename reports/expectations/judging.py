"""Did recorded runs meet an expectation? One run has a number, replications have an interval.

Counts must be as expected in every replication. Shares, rates and latencies are estimates: they
are met if their 95 % interval over replications is wholly within the threshold, missed if it is
wholly beyond, and undecided otherwise.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from whitecap.engine.recorded import Measure
from whitecap.reports.expectations.expected import Expected, exact, subject, threshold_text, wanted
from whitecap.reports.intervals import Interval
from whitecap.reports.measures.estimates import estimated, replications_needed
from whitecap.reports.measures.measured_run import MeasuredRun
from whitecap.reports.measures.tally import Tally
from whitecap.reports.measures.writing import written

ALIKE_WITHIN = 1e-9
"""Numbers that are to be equal may differ by what floating point does to a sum of them."""


class Judgement(StrEnum):
    """How an expectation came out."""

    MET = "met"
    MISSED = "missed"
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True)
class Judged:
    """One expectation and what was found; `found` is a run's value or the estimate.

    `text` says what was found, and, unless it is met, what was expected. `needed`: how many
    replications would probably decide it, where more would.
    """

    expected: Expected
    judgement: Judgement
    found: float
    text: str
    needed: int | None = None

    @property
    def is_met(self) -> bool:
        """Whether it is as expected."""
        return self.judgement is Judgement.MET

    @property
    def subject(self) -> str:
        """What it is about."""
        return subject(self.expected)

    def __str__(self) -> str:
        because = self.expected.because
        return f"{self.text} ({because})" if because and not self.is_met else self.text


def judged_document(judged: Judged) -> dict[str, Any]:
    """One expectation as `--json` prints it."""
    return {
        "subject": judged.subject,
        "judgement": judged.judgement,
        "found": judged.found,
        "text": judged.text,
        "because": judged.expected.because,
        "replications_needed": judged.needed,
    }


def judge(expected: Expected, runs: Mapping[int, MeasuredRun]) -> Judged:
    """Hold an expectation against the runs of one cell, by their replication (at least one)."""
    if expected.exactly:
        return judge_run(expected, runs[min(runs)])
    if not _was_there(expected, runs.values()):
        return _nothing_there(expected)
    tallies = {number: _tally(expected, run) for number, run in sorted(runs.items())}
    if expected.measure.unit.is_counted:
        return _in_every_run(expected, tallies)
    return _by_interval(expected, list(tallies.values()))


def judge_run(expected: Expected, run: MeasuredRun) -> Judged:
    """Hold an expectation against one run, whatever chance had to do with it."""
    if not _was_there(expected, [run]):
        return _nothing_there(expected)
    found = _tally(expected, run).value
    text = f"{subject(expected)} is {_shown(expected, found)}"
    missed = _missed(expected, found)
    if missed is None:
        return Judged(expected, Judgement.MET, found, text)
    return Judged(expected, Judgement.MISSED, found, f"{text}, expected {missed}")


def _tally(expected: Expected, run: MeasuredRun) -> Tally:
    return run.tally(expected.measure, expected.writer, expected.command, expected.exception)


def _was_there(expected: Expected, runs: Iterable[MeasuredRun]) -> bool:
    """Whether anything happened that the expectation could be about: else it would hold in vain."""
    if expected.measure in (Measure.SUBMITTED, Measure.LIVE_ROWS):
        return True
    return any(
        run.tally(Measure.SUBMITTED, expected.writer, expected.command).value for run in runs
    )


def _nothing_there(expected: Expected) -> Judged:
    whom = " by it" if expected.writer or expected.command else ""
    text = f"{subject(expected)} tells nothing: nothing was submitted{whom}"
    return Judged(expected, Judgement.MISSED, math.nan, text)


def _in_every_run(expected: Expected, tallies: Mapping[int, Tally]) -> Judged:
    values = {number: tally.value for number, tally in tallies.items()}
    least, most = min(values.values()), max(values.values())
    shown = " to ".join(_shown(expected, value) for value in dict.fromkeys((least, most)))
    missing = [number for number, value in values.items() if _missed(expected, value) is not None]
    of_all = f"in {'all of ' * (least == most)}{len(values)} replications"
    if not missing:
        found = f"{subject(expected)} is {shown} {of_all}"
        return Judged(expected, Judgement.MET, most, found)
    first = missing[0]
    found = f"{subject(expected)} is {_shown(expected, values[first])} in replication {first}"
    text = f"{found} ({shown} {of_all}), expected {wanted(expected)}"
    return Judged(expected, Judgement.MISSED, values[first], text)


def _by_interval(expected: Expected, tallies: Sequence[Tally]) -> Judged:
    interval = estimated(tallies)
    sides = {key: _side(key, value, interval) for key, value in expected.thresholds.items()}
    text = f"{subject(expected)} is {_with_interval(expected, interval)}"
    if math.isnan(interval.mean):
        text = f"{subject(expected)} has no value, expected {wanted(expected)}"
        return Judged(expected, Judgement.MISSED, math.nan, text)
    if Judgement.MISSED in sides.values():
        text = f"{text}, expected {wanted(expected)}"
        return Judged(expected, Judgement.MISSED, interval.mean, text)
    if Judgement.UNDECIDED not in sides.values():
        return Judged(expected, Judgement.MET, interval.mean, text)
    close = [value for key, value in expected.thresholds.items() if not _is_met(sides[key])]
    needed = replications_needed(tallies, close)
    advice = f"about {needed:,} replications would tell" if needed else "it lies on the threshold"
    text = f"{text}, expected {wanted(expected)}: {advice}"
    return Judged(expected, Judgement.UNDECIDED, interval.mean, text, needed)


def _is_met(judgement: Judgement) -> bool:
    return judgement is Judgement.MET


def _side(key: str, threshold: float, interval: Interval) -> Judgement:
    """On which side of a bound an interval lies: wholly within it, beyond it, or on both."""
    if not interval.is_known:
        return Judgement.UNDECIDED
    if key == "at_least":
        within, beyond = interval.low >= threshold, interval.high < threshold
    else:
        within, beyond = interval.high <= threshold, interval.low > threshold
    if within:
        return Judgement.MET
    return Judgement.MISSED if beyond else Judgement.UNDECIDED


def _missed(expected: Expected, found: float) -> str | None:
    """The first threshold that one number does not meet; what has no value meets none."""
    if math.isnan(found):
        return f"{wanted(expected)}, and a value to have"
    for key, threshold in expected.thresholds.items():
        within = {
            "at_least": found >= threshold,
            "at_most": found <= threshold,
            "equals": math.isclose(found, threshold, rel_tol=ALIKE_WITHIN, abs_tol=ALIKE_WITHIN),
        }
        if not within[key]:
            return threshold_text(expected, key)
    return None


def _shown(expected: Expected, value: float) -> str:
    unit = expected.measure.unit
    return exact(value, unit) if unit.is_counted else written(value, unit)


def _with_interval(expected: Expected, interval: Interval) -> str:
    unit, runs = expected.measure.unit, interval.replications
    found = written(interval.mean, unit)
    if not interval.is_known:
        return f"{found} (one replication, no interval)"
    low, high = written(interval.low, unit), written(interval.high, unit)
    return f"{found} ({low} to {high}, {runs} replications)"
