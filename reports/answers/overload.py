"""Writer groups to whom more comes than they get done, and the objectives that miss by that.

Success, latency and goodput are of jobs that had their turn. Where jobs pile up, these are the
fewer the longer it goes on, and what is said of them is not said of the jobs that are due.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from whitecap.engine.recorded import Measure
from whitecap.reports.answers.objectives import Held
from whitecap.reports.measures.counting import PERCENTILES
from whitecap.reports.measures.groups import WriterCommand
from whitecap.reports.measures.left_out import Due, JobsLeftOpen, added
from whitecap.reports.measures.measured_run import MeasuredRun
from whitecap.reports.measures.writing import written

OF_JOBS = frozenset(
    {
        Measure.JOB_SUCCESS_RATE, Measure.GOODPUT_PER_MINUTE, Measure.GIVEN_UP, Measure.HALF_DONE,
        *PERCENTILES,
    }
)  # fmt: skip
"""What is asked of jobs that are due: all of it is missed where they pile up. Rates by attempt,
waste and cost are of what was done, and what is lost of the table is lost."""

Overload = Mapping[WriterCommand, Due]
"""The groups in which jobs pile up, with those of all replications."""


def left_out_in(runs: Iterable[MeasuredRun]) -> dict[WriterCommand, JobsLeftOpen]:
    """What the numbers of a cell leave out, by writer group over all replications."""
    several = list(runs)
    groups = dict.fromkeys(group for run in several for group in run.groups)
    return {
        group: added([run.groups[group].left_out for run in several if group in run.groups])
        for group in groups
    }


def overload_in(left_out: Mapping[WriterCommand, JobsLeftOpen]) -> Overload:
    """Those of these groups in which jobs pile up."""
    return {group: each.due for group, each in left_out.items() if each.due.is_overloaded}


def overload_of(held: Held, runs: Iterable[MeasuredRun]) -> Overload:
    """Those by which an objective is missed, whatever its value; none if it is not of jobs."""
    return {group: due for group, due in _dues(held, runs).items() if due.is_overloaded}


def balance_of(held: Held, runs: Iterable[MeasuredRun]) -> Overload:
    """Those of which nobody can say whether jobs pile up."""
    return {group: due for group, due in _dues(held, runs).items() if due.is_at_balance}


def _dues(held: Held, runs: Iterable[MeasuredRun]) -> Overload:
    """Of the groups that an objective is of, if it is one of jobs."""
    if held.measure not in OF_JOBS:
        return {}
    left_out = left_out_in(runs).items()
    return {g: each.due for g, each in left_out if held.writer in (None, g.writer_group)}


def worst_share(overload: Overload) -> float:
    """Of the jobs that were due in some group, how many had not begun; 0 without overload."""
    return max((due.not_begun_share for due in overload.values()), default=0.0)


def overload_text(overload: Overload) -> str:
    """`more arrives than gets done (89.2 % of due jobs of etl had not begun)`, of the worst."""
    group, due = max(overload.items(), key=lambda item: item[1].not_begun_share)
    share = written(due.not_begun_share, Measure.JOB_SUCCESS_RATE.unit)
    return f"{due.overload} ({share} of due jobs of {group.writer_group} had not begun)"
