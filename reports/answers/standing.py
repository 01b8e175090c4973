"""How a cell stands to its objectives: met, missed or undecided, writer group by writer group."""

from __future__ import annotations

import math
from collections.abc import Iterable
from enum import StrEnum

from msgspec import Struct, field
from msgspec.structs import replace

from whitecap.engine.recorded import Direction, Measure, Objective, Unit
from whitecap.reports.answers.objectives import FEWEST_JOBS, Held, ObjectiveSet
from whitecap.reports.answers.overload import Overload, overload_of, worst_share
from whitecap.reports.estimates import estimated
from whitecap.reports.expectations.judging import Judged, judge
from whitecap.reports.fewest import FEWEST_REPLICATIONS
from whitecap.reports.measures.measured_run import MeasuredRun, Runs
from whitecap.reports.measures.tally import CountedShare
from whitecap.reports.statistics import (
    CONFIDENCE,
    WORST_FIRST,
    Estimate,
    Standing,
    facing,
    standing_against,
    unnoticed,
    worst_of,
)


class ObjectiveStanding(StrEnum):
    """How an objective came out; of a cell, the worst of all that could be judged."""

    MET = "met"
    MISSED = "missed"
    UNDECIDED = "undecided"
    TOO_FEW = "too few to judge"

    @property
    def sign(self) -> str:
        """Stands beside a colour, for whoever does not see that."""
        return _SIGNS[self]


_SIGNS = {
    ObjectiveStanding.MET: "✓",
    ObjectiveStanding.MISSED: "✗",
    ObjectiveStanding.UNDECIDED: "?",
    ObjectiveStanding.TOO_FEW: "·",
}


OBJECTIVES_WORST_FIRST = (*map(ObjectiveStanding, WORST_FIRST), ObjectiveStanding.TOO_FEW)
"""Missed before undecided before met; too few where nothing could be judged."""


class JudgedObjective(Struct, frozen=True):
    """One objective of one writer group. `jobs` of it ended, over all replications; `is_idle`: none
    was so much as due.

    `estimate`: its value with an interval; `judged` also says how many replications would decide.
    `picked_from`: how many cells the one that is named was picked from. `overload`: the groups by
    whose jobs that pile up it is missed, whatever its value.
    """

    held: Held
    stands: ObjectiveStanding
    estimate: Estimate
    judged: Judged
    jobs: int
    is_idle: bool = False
    picked_from: int = 1
    overload: Overload = field(default_factory=dict)

    @property
    def is_shown(self) -> bool:
        """Whether it is met, and not only by its own interval, but by one that allows for how many
        it was picked from; a count is met in every replication."""
        if self.stands is not ObjectiveStanding.MET:
            return False
        if self._is_counted or self.estimate.observations is None:
            return True
        stricter = self.estimate.observations.estimate(1 - self._error)
        at_least, at_most = (self.held.thresholds.get(each.value) for each in Direction)
        return standing_against(stricter, at_least, at_most) is Standing.MET

    @property
    def is_sure(self) -> bool:
        """Whether that is wrong in 5 % at most, whichever is picked. Of a count nobody can say so:
        replications that all meet it bound only how often others do not (`missed_at_most`)."""
        return self.is_shown and not self._is_counted

    @property
    def missed_at_most(self) -> float | None:
        """Of a count that every replication meets, the share of runs that may miss it: the exact
        binomial bound, at a level that allows for how many it was picked from."""
        if self.stands is not ObjectiveStanding.MET or not self._is_counted:
            return None
        return unnoticed(self.estimate.replications, self._error)

    @property
    def _is_counted(self) -> bool:
        return self.held.measure.unit.is_counted

    @property
    def _error(self) -> float:
        return (1 - CONFIDENCE) / self.picked_from

    @property
    def shortfall(self) -> float:
        """By how much the value is beyond the threshold, as a part of it, or what part of the due
        jobs had not begun where they pile up, if that is more; 0 if neither is.

        Parts can be compared between measures of different units. Without a value, infinite.
        """
        return max(self.beyond, worst_share(self.overload))

    @property
    def beyond(self) -> float:
        """The first of these."""
        objective, value = self.held.objective, self.judged.measured
        beyond = objective.threshold - value
        if objective.direction is Direction.AT_MOST:
            beyond = -beyond
        if math.isnan(beyond):
            return math.inf
        return max(beyond, 0.0) / abs(objective.threshold) if objective.threshold else beyond

    @property
    def needed(self) -> int | None:
        """About how many replications would decide it; `None` if nobody can say, or need not."""
        if self.stands is ObjectiveStanding.TOO_FEW and self.jobs:
            return math.ceil(FEWEST_JOBS * self.estimate.replications / self.jobs)
        return self.judged.needed if self.stands is ObjectiveStanding.UNDECIDED else None

    @property
    def needed_jobs(self) -> int | None:
        """About how many jobs these replications have, in all; `None` where `needed` is, or where
        the measure is not of jobs or what they did."""
        seen = self.estimate.replications
        if self.needed is None or not seen or self.held.measure.unit not in _OF_JOBS:
            return None
        return math.ceil(self.jobs * self.needed / seen)

    @property
    def is_passed_over(self) -> bool:
        """Whether it had jobs, and they are too few to judge by: nothing is known of it."""
        return self.stands is ObjectiveStanding.TOO_FEW and not self.is_idle

    @property
    def has_no_event(self) -> bool:
        """Whether all that was seen is on one side: no failure, or nothing but failures."""
        return self.estimate.events == 0

    @property
    def is_doubtful(self) -> bool:
        """Whether what cannot be judged looks as if it missed: too few replications saw it to
        say so for sure."""
        is_short = self.estimate.replications < FEWEST_REPLICATIONS
        return self.is_passed_over and is_short and self.shortfall > 0


_OF_JOBS = frozenset({Unit.SHARE, Unit.MILLISECONDS})


class CellStanding(Struct, frozen=True):
    """One cell with everything that it is held to."""

    cell: str
    objectives: tuple[JudgedObjective, ...]

    @property
    def stands(self) -> ObjectiveStanding:
        """Missed before undecided before met; too few where nothing could be judged. Not met as
        long as a group that cannot be judged looks as if it missed."""
        stands = worst_of((each.stands for each in self.objectives), OBJECTIVES_WORST_FIRST)
        is_doubtful = any(each.is_doubtful for each in self.objectives)
        return (
            ObjectiveStanding.UNDECIDED
            if stands is ObjectiveStanding.MET and is_doubtful
            else stands
        )

    @property
    def is_shown(self) -> bool:
        """Whether all is met that could be judged, shares and the like surely so."""
        met = self.those(ObjectiveStanding.MET)
        return self.stands is ObjectiveStanding.MET and all(each.is_shown for each in met)

    @property
    def is_sure(self) -> bool:
        """Whether all is met surely: there is no count among it, and no group is passed over."""
        met = self.those(ObjectiveStanding.MET)
        return self.is_shown and self.is_judged and all(each.is_sure for each in met)

    @property
    def is_judged(self) -> bool:
        """Whether every group that had jobs is judged."""
        return not any(each.is_passed_over for each in self.objectives)

    def among(self, picked_from: int) -> CellStanding:
        """The same, as one of so many of which one is picked."""
        own = tuple(replace(each, picked_from=picked_from) for each in self.objectives)
        return CellStanding(self.cell, own)

    def narrowed(self, objective: Objective) -> CellStanding:
        """The same for one of the objectives alone."""
        own = tuple(each for each in self.objectives if each.held.objective == objective)
        return CellStanding(self.cell, own)

    def those(self, stands: ObjectiveStanding) -> tuple[JudgedObjective, ...]:
        """The objectives that came out so."""
        return tuple(each for each in self.objectives if each.stands is stands)

    @property
    def worst(self) -> JudgedObjective | None:
        """Of those that are not met, the one that falls shortest."""
        return next(iter(self.short), None)

    @property
    def short(self) -> list[JudgedObjective]:
        """What is missed, or else undecided, or else doubtful; the worst first."""
        short = self.those(ObjectiveStanding.MISSED) or self.those(ObjectiveStanding.UNDECIDED)
        doubtful = (each for each in self.objectives if each.is_doubtful)
        return sorted(short or doubtful, key=lambda each: -each.shortfall)

    @property
    def needed(self) -> int | None:
        """How many replications would decide all that is undecided; `None` if nobody can say."""
        if self.stands is not ObjectiveStanding.UNDECIDED:
            return None
        needed = [
            each.needed for each in self.objectives if each.stands is not ObjectiveStanding.MET
        ]
        counts = [count for count in needed if count is not None]
        return max(counts) if counts and len(counts) == len(needed) else None


def standing_of(cell: str, runs: Runs, objectives: ObjectiveSet) -> CellStanding:
    """Hold all objectives against the runs of a cell."""
    writers = [group.writer_group for run in runs.values() for group in run.groups]
    judged = (_judged(held, runs, objectives.are_default) for held in objectives.held(writers))
    return CellStanding(cell, tuple(judged))


def _judged(held: Held, runs: Runs, is_default: bool) -> JudgedObjective:
    tallies = [run.tally(held.measure, held.writer) for _, run in sorted(runs.items())]
    judged, jobs = judge(held, runs), _ended_jobs(runs, held.writer)
    overload = overload_of(held, runs.values())
    stands = ObjectiveStanding.MISSED if overload else ObjectiveStanding(judged.standing.value)
    is_beyond = stands is ObjectiveStanding.MISSED and not math.isnan(judged.measured)
    is_idle = math.isnan(judged.measured) and has_no_job(runs.values(), held.writer)
    if is_idle or (is_default and jobs < FEWEST_JOBS and not (is_beyond or overload)):
        stands = ObjectiveStanding.TOO_FEW
    estimate = facing(estimated(held.measure, tallies), held.objective.threshold)
    return JudgedObjective(held, stands, estimate, judged, jobs, is_idle, overload=overload)


def has_no_job(runs: Iterable[MeasuredRun], writer: str | None) -> bool:
    """Whether no job of theirs was due: a run may be too short for what comes once a night."""
    left_out = (
        part.left_out
        for run in runs
        for group, part in run.groups.items()
        if writer in (None, group.writer_group)
    )
    return not any(each.jobs or each.due.not_begun for each in left_out)


def _ended_jobs(runs: Runs, writer: str | None) -> int:
    """Jobs of a writer group that committed or were given up, over all replications."""
    success = (run.tally(Measure.JOB_SUCCESS_RATE, writer) for run in runs.values())
    return int(sum(each.whole for each in success if isinstance(each, CountedShare)))
