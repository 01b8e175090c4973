"""Did recorded runs meet an expectation? One run has a number, replications have an interval.

Counts must be as expected in every replication. Shares, rates and latencies are estimates: they
are met if their 95 % interval over replications is wholly within the threshold, missed if it is
wholly beyond, and undecided otherwise.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from whitecap.engine.recorded import Measure
from whitecap.reports.estimates import estimated
from whitecap.reports.expectations.expected import (
    MeasureThresholds,
    exact,
    subject,
    threshold_text,
    wanted,
)
from whitecap.reports.measures.measured_run import MeasuredRun
from whitecap.reports.measures.tally import MeasureTally
from whitecap.reports.measures.writing import digits_beside, written
from whitecap.reports.statistics import (
    WORST_FIRST,
    Estimate,
    EstimateStanding,
    Standing,
    facing,
    held_against,
    said_estimate,
    worst_of,
)

ALIKE_WITHIN = 1e-9
"""Numbers that are to be equal may differ by what floating point does to a sum of them."""


class Judged(Struct, frozen=True):
    """One expectation and what was found; `measured` is a run's value or the estimate.

    `text` says what was found, and, unless it is met, what was expected. `needed`: how many
    replications would probably decide it, where more would; `more_than`: so many would not.
    """

    expected: MeasureThresholds
    standing: Standing
    measured: float
    text: str
    needed: int | None = None
    more_than: int | None = None

    @property
    def is_met(self) -> bool:
        """Whether it is as expected."""
        return self.standing is Standing.MET

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
        "judgement": judged.standing,
        "found": judged.measured,
        "text": judged.text,
        "because": judged.expected.because,
        "replications_needed": judged.needed,
    }


def judge(expected: MeasureThresholds, runs: Mapping[int, MeasuredRun]) -> Judged:
    """Hold an expectation against the runs of one cell, by their replication (at least one)."""
    if expected.exactly:
        return judge_run(expected, runs[min(runs)])
    if not _was_there(expected, runs.values()):
        return _nothing_there(expected)
    tallies = {number: _tally(expected, run) for number, run in sorted(runs.items())}
    if expected.measure.unit.is_counted:
        return _in_every_run(expected, tallies)
    return _by_interval(expected, list(tallies.values()))


def judge_run(expected: MeasureThresholds, run: MeasuredRun) -> Judged:
    """Hold an expectation against one run, whatever chance had to do with it."""
    if not _was_there(expected, [run]):
        return _nothing_there(expected)
    measured = _tally(expected, run).value
    text = f"{subject(expected)} is {_shown(expected, measured)}"
    missed = _missed(expected, measured)
    if missed is None:
        return Judged(expected, Standing.MET, measured, text)
    return Judged(expected, Standing.MISSED, measured, f"{text}, expected {missed}")


def _tally(expected: MeasureThresholds, run: MeasuredRun) -> MeasureTally:
    return run.tally(expected.measure, expected.writer, expected.command, expected.exception)


def _was_there(expected: MeasureThresholds, runs: Iterable[MeasuredRun]) -> bool:
    """Whether anything happened that the expectation could be about: else it would hold in vain."""
    if expected.measure in (Measure.SUBMITTED, Measure.FINDINGS, Measure.LIVE_ROWS):
        return True
    return any(
        run.tally(Measure.SUBMITTED, expected.writer, expected.command).value for run in runs
    )


def _nothing_there(expected: MeasureThresholds) -> Judged:
    whom = " by it" if expected.writer or expected.command else ""
    text = f"{subject(expected)} tells nothing: nothing was submitted{whom}"
    return Judged(expected, Standing.MISSED, math.nan, text)


def _in_every_run(expected: MeasureThresholds, tallies: Mapping[int, MeasureTally]) -> Judged:
    values = {number: tally.value for number, tally in tallies.items()}
    least, most = min(values.values()), max(values.values())
    shown = " to ".join(_shown(expected, value) for value in dict.fromkeys((least, most)))
    missing = [number for number, value in values.items() if _missed(expected, value) is not None]
    of_all = f"in {'all of ' * (least == most)}{len(values)} replications"
    if not missing:
        sentence = f"{subject(expected)} is {shown} {of_all}"
        return Judged(expected, Standing.MET, most, sentence)
    first = missing[0]
    sentence = f"{subject(expected)} is {_shown(expected, values[first])} in replication {first}"
    text = f"{sentence} ({shown} {of_all}), expected {wanted(expected)}"
    return Judged(expected, Standing.MISSED, values[first], text)


def _by_interval(expected: MeasureThresholds, tallies: Sequence[MeasureTally]) -> Judged:
    estimate = estimated(expected.measure, tallies)
    estimate = facing(estimate, nearest_threshold(expected, estimate.point))
    if math.isnan(estimate.point):
        text = f"{subject(expected)} has no value, expected {wanted(expected)}"
        return Judged(expected, Standing.MISSED, math.nan, text)
    text = f"{subject(expected)} is {_said(expected, estimate)}"
    standings = [
        held_against(estimate, **{key: threshold}) for key, threshold in expected.thresholds.items()
    ]
    standing = worst_of((each.standing for each in standings), WORST_FIRST)
    if standing is Standing.MET:
        return Judged(expected, standing, estimate.point, text)
    text = f"{text}, expected {wanted(expected)}"
    if standing is Standing.MISSED:
        return Judged(expected, standing, estimate.point, text)
    undecided = [each for each in standings if each.standing is standing]
    advice, needed = _advice(undecided)
    more_than = max((e.replications or 0 for e in undecided if e.is_more), default=None)
    return Judged(expected, standing, estimate.point, f"{text}: {advice}", needed, more_than)


def nearest_threshold(expected: MeasureThresholds, value: float) -> float:
    """Of the thresholds of an expectation the one that a value is nearest to."""
    return min(expected.thresholds.values(), key=lambda threshold: abs(value - threshold))


def _advice(undecided: Sequence[EstimateStanding]) -> tuple[str, int | None]:
    """What would decide all of them, and how many replications that are if that can be told."""
    counts = [each.replications for each in undecided if each.replications is not None]
    if len(counts) < len(undecided):
        return "more replications would tell", None
    needed = max(counts)
    if any(each.is_more for each in undecided):
        return f"it lies on the threshold, {needed:,} replications would not tell", None
    return f"about {needed:,} replications would tell", needed


def _missed(expected: MeasureThresholds, measured: float) -> str | None:
    """The first threshold that one number does not meet; what has no value meets none."""
    if math.isnan(measured):
        return f"{wanted(expected)}, and a value to have"
    for key, threshold in expected.thresholds.items():
        within = {
            "at_least": measured >= threshold,
            "at_most": measured <= threshold,
            "equals": math.isclose(measured, threshold, rel_tol=ALIKE_WITHIN, abs_tol=ALIKE_WITHIN),
        }
        if not within[key]:
            return threshold_text(expected, key)
    return None


def _shown(expected: MeasureThresholds, value: float) -> str:
    unit = expected.measure.unit
    if unit.is_counted:
        return exact(value, unit)
    return written(value, unit, digits_beside([value], expected.thresholds.values(), unit))


def _said(expected: MeasureThresholds, estimate: Estimate) -> str:
    return said_estimate(estimate, expected.measure.unit, expected.thresholds.values())
