"""A greedy search over designs: from what stands, each time the one change that helps most.

The changes that could be next are run a few times, the better half of them twice as often, and so
on. Which is better: the one that falls less short of the objectives; of those that fall as short,
the cheaper one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Mapping, Sequence

from msgspec import Struct, field

from whitecap.engine.recorded import Measure
from whitecap.reports.answers.objectives import ObjectiveSet
from whitecap.reports.estimates import estimated
from whitecap.reports.fewest import FEWEST_REPLICATIONS
from whitecap.reports.measures.measured_run import Runs
from whitecap.reports.planning.trying import tried_value
from whitecap.reports.statistics import CONFIDENCE

CandidateDesign = tuple[tuple[str, str], ...]
"""What is changed: kind and label, in the order in which the steps were taken."""

STANDS: CandidateDesign = ()

AS_SHORT = 0.001
"""Shortfalls that differ by less, as a part of a threshold, are the same."""

WORTH = 0.01
"""A change that saves less than this part of the cost is not taken for it."""

_Wanted = Mapping[CandidateDesign, int]
"""Designs with the replications that each should have."""

Searching = Generator[_Wanted, Mapping[CandidateDesign, Runs], None]


class Score(Struct, frozen=True):
    """How far a design falls short of all objectives, as parts of their thresholds, and its cost
    per job; both by the values alone. `unmeasured`: objectives of which nothing was measured,
    because no job of theirs came or committed."""

    shortfall: float
    cost: float
    unmeasured: int = 0

    def is_better(self, other: Score) -> bool:
        """Whether it is worth changing to."""
        if self.unmeasured != other.unmeasured:
            return self.unmeasured < other.unmeasured
        if abs(self.shortfall - other.shortfall) > AS_SHORT:
            return self.shortfall < other.shortfall
        return self.cost < other.cost * (1 - WORTH)

    @property
    def rank(self) -> tuple[int, float, float]:
        """Smaller is better."""
        return self.unmeasured, round(self.shortfall / AS_SHORT) * AS_SHORT, self.cost


def score_of(runs: Runs, objectives: ObjectiveSet) -> Score:
    """Of the replications that a design has."""
    value = tried_value(runs, objectives, 1 - CONFIDENCE)
    margins = [each.margin for each in value.quantities]
    measured = [margin for margin in margins if not math.isnan(margin)]
    shortfall = sum(max(0.0, -margin) for margin in measured)
    cost = estimated(Measure.COST_PER_JOB, [r.tally(Measure.COST_PER_JOB) for r in runs.values()])
    cost_per_job = math.inf if math.isnan(cost.point) else cost.point
    return Score(shortfall, cost_per_job, len(margins) - len(measured))


class DesignSearch(Struct):
    """Where a search stands: the designs of its way so far, and how many it looked at."""

    kinds: Mapping[str, Sequence[str]]
    objectives: ObjectiveSet
    most: int
    """Replications of one design at most."""
    is_possible: Callable[[CandidateDesign], bool] = lambda _: True
    """Whether changes go together."""
    way: list[CandidateDesign] = field(default_factory=lambda: [STANDS])
    looked_at: set[CandidateDesign] = field(default_factory=set)

    def steps(self) -> Searching:
        """Yields what it wants to have run, and is sent the runs; ends where no change helps."""
        while True:
            better = yield from self._best_change()
            if better is None:
                return
            self.way.append(better)

    def neighbours(self) -> list[CandidateDesign]:
        """What one change makes of the last design of the way."""
        last = self.way[-1]
        chosen = dict(last)
        changed = (
            (*(each for each in last if each[0] != kind), (kind, label))
            for kind, labels in self.kinds.items()
            for label in labels
            if chosen.get(kind) != label
        )
        return [each for each in changed if each not in self.way and self.is_possible(each)]

    def _best_change(
        self,
    ) -> Generator[_Wanted, Mapping[CandidateDesign, Runs], CandidateDesign | None]:
        last, left = self.way[-1], self.neighbours()
        replications = min(FEWEST_REPLICATIONS, self.most)
        while True:
            runs = yield dict.fromkeys((last, *left), replications)
            self.looked_at |= {last, *left}
            scores = {each: score_of(_first(runs[each], replications), self.objectives)
                      for each in (last, *left)}  # fmt: skip
            left.sort(key=lambda each: scores[each].rank)
            is_decided = replications == self.most
            if is_decided or not left:
                best = next(iter(left), None)
                return best if best is not None and scores[best].is_better(scores[last]) else None
            left = left[: max(2, math.ceil(len(left) / 2))]
            replications = min(2 * replications, self.most)


def _first(runs: Runs, count: int) -> Runs:
    return {number: runs[number] for number in sorted(runs)[:count]}
