"""What each step of the way buys: paired differences of runs that the search has not seen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from msgspec import Struct

from whitecap.engine.recorded import Measure
from whitecap.reports.advice.search import CandidateDesign
from whitecap.reports.answers.objectives import ObjectiveSet
from whitecap.reports.measures.measured_run import Runs
from whitecap.reports.planning.trying import TriedValue, tried_value
from whitecap.reports.sensitivity.effects import Followed, gap_of
from whitecap.reports.statistics import CONFIDENCE, Estimate, EstimatedDifference, confidence_of


class Bought(Struct, frozen=True):
    """What a step changes of one measure, from before to after."""

    followed: Followed
    before: Estimate
    after: Estimate
    gap: EstimatedDifference | None

    @property
    def is_distinguishable(self) -> bool:
        """Whether it can be told apart from no change."""
        return self.gap is not None and self.gap.is_distinguishable


class DesignStep(Struct, frozen=True):
    """A change by its kind and label, the design that it leads to, and what it buys."""

    kind: str
    label: str
    design: CandidateDesign
    bought: tuple[Bought, ...]

    @property
    def is_distinguishable(self) -> bool:
        """Whether it changes anything that is looked at, for sure."""
        return any(each.is_distinguishable for each in self.bought)


class Stood(Struct, frozen=True):
    """A design as the fresh runs show it: against the objectives, and what it costs."""

    design: CandidateDesign
    value: TriedValue
    cost: Estimate


COST = Followed(Measure.COST_PER_JOB)


def followed_by(objectives: ObjectiveSet) -> tuple[Followed, ...]:
    """What is looked at: the measures of the objectives, and the cost of a job."""
    return tuple(dict.fromkeys([*map(Followed.by, objectives.each), COST]))


def steps_of(
    way: Sequence[CandidateDesign], fresh: Mapping[CandidateDesign, Runs], objectives: ObjectiveSet
) -> tuple[DesignStep, ...]:
    """Every step with what it buys; all intervals together hold with 95 %."""
    followed = followed_by(objectives)
    confidence = confidence_of((len(way) - 1) * len(followed))
    return tuple(
        DesignStep(*after[-1], after, tuple(
            _bought(each, fresh[before], fresh[after], confidence) for each in followed
        ))
        for before, after in pairwise(way)
    )  # fmt: skip


def _bought(followed: Followed, before: Runs, after: Runs, confidence: float) -> Bought:
    old, new = followed.estimate(before), followed.estimate(after)
    return Bought(followed, old, new, gap_of(new, old, confidence))


def stood(design: CandidateDesign, runs: Runs, objectives: ObjectiveSet) -> Stood:
    """How a design stands, with 95 % intervals."""
    value = tried_value(runs, objectives, 1 - CONFIDENCE)
    return Stood(design, value, COST.estimate(runs))
