"""How one value stands: all objectives of all writer groups, at the level that a search needs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from msgspec import Struct, field

from whitecap.engine.recorded import Direction
from whitecap.reports.answers.objectives import Held, ObjectiveSet
from whitecap.reports.answers.overload import Overload, balance_of, overload_of, worst_share
from whitecap.reports.answers.standing import has_no_job
from whitecap.reports.answers.survivors import SurvivingJobs, surviving_in
from whitecap.reports.estimates import estimated
from whitecap.reports.measures.measured_run import MeasuredRun
from whitecap.reports.measures.tally import MeasureTally
from whitecap.reports.planning.search import ValueStanding
from whitecap.reports.statistics import Estimate, Standing, facing, half_width, standing_against

FEWEST_TO_GIVE_UP = 20
"""With fewer replications nobody can say what would decide."""

HOPELESS = 4
"""What seems to take so many times the replications that a value may have stays undecided. That is
no verdict, so it costs no error; a value that the most would just decide is given up in a fourth of
the cases, since an estimate of 20 replications scatters by as much."""


class Quantity(Struct, frozen=True):
    """What one objective looks at in one writer group: the estimate at 95 %, and how it stands at
    the level of the search."""

    held: Held
    estimate: Estimate
    standing: Standing
    needed: float
    """About how many replications would decide it."""
    tallies: tuple[MeasureTally, ...] = ()
    """What was counted in each replication."""
    is_idle: bool = False
    """Whether there is no value because no job was due: nothing is judged by it."""
    overload: Overload = field(default_factory=dict)
    """The groups by whose jobs that pile up it is missed, whatever its value."""
    balance: Overload = field(default_factory=dict)
    """Those of which nobody can say whether jobs pile up: it is not called met by them."""

    @property
    def seems_decided(self) -> bool:
        """Whether it is decided at 95 %, a single value's level, whatever a search needs."""
        at_least, at_most = (self.held.thresholds.get(each.value) for each in Direction)
        is_decided = standing_against(self.estimate, at_least, at_most) is not Standing.UNDECIDED
        return is_decided and not self.balance

    @property
    def margin(self) -> float:
        """How far the value is on the right side, as a part of the threshold; negative beyond,
        and by the part of the due jobs that had not begun where they pile up."""
        objective = self.held.objective
        own = _margin(self.estimate.point, objective.threshold, objective.direction.sign)
        return min(own, -worst_share(self.overload)) if self.overload else own


class TriedValue(Struct, frozen=True):
    """A value of a variant with everything that it is held to, the narrowest margin first and what
    is idle last."""

    quantities: tuple[Quantity, ...]
    replications: int
    surviving: tuple[SurvivingJobs, ...] = ()
    """How many jobs of those whose latency is asked committed."""

    @property
    def judged(self) -> tuple[Quantity, ...]:
        """What it is judged by: all that is not idle, and all where everything is, which decides
        nothing."""
        return tuple(each for each in self.quantities if not each.is_idle) or self.quantities

    @property
    def standing(self) -> Standing:
        """Met if everything is, missed if anything is."""
        standings = {each.standing for each in self.judged}
        if Standing.MISSED in standings:
            return Standing.MISSED
        return Standing.MET if standings == {Standing.MET} else Standing.UNDECIDED

    @property
    def seems_met(self) -> bool:
        """Whether the values alone, without their intervals, are all on the right side."""
        return all(each.margin >= 0 for each in self.judged)

    def tried(self, most: int) -> ValueStanding:
        """As the search knows it, where a value has so many replications at most."""
        is_given_up = self.replications >= FEWEST_TO_GIVE_UP and self._is_hopeless(most)
        return ValueStanding(self.standing, self.replications, is_given_up)

    def _is_hopeless(self, most: int) -> bool:
        """Whether something will stay undecided, and nothing that may yet be missed will not."""
        hopeless = HOPELESS * most
        open_ = [each for each in self.judged if each.standing is Standing.UNDECIDED]
        others = [each for each in open_ if each.needed <= hopeless]
        return len(others) < len(open_) and all(each.margin >= 0 for each in others)


def tried_value(
    runs: Mapping[int, MeasuredRun], objectives: ObjectiveSet, error: float
) -> TriedValue:
    """Hold the runs of one value against all objectives.

    With at most the chance `error` all is called met where something is missed, or something
    missed where all is met: the second has as many occasions as there are objectives, so each is
    missed at a level that is that many times stricter.
    """
    ordered = [run for _, run in sorted(runs.items())]
    writers = [group.writer_group for run in ordered for group in run.groups]
    held = list(objectives.held(writers))
    quantities = [_quantity(each, ordered, error, len(held)) for each in held]
    quantities.sort(key=_narrowness)
    return TriedValue(tuple(quantities), len(ordered), surviving_in(objectives, runs))


def _narrowness(quantity: Quantity) -> tuple[bool, float]:
    margin = quantity.margin
    return quantity.is_idle, -math.inf if math.isnan(margin) else margin


def _quantity(held: Held, runs: Sequence[MeasuredRun], error: float, held_at_once: int) -> Quantity:
    tallies = [run.tally(held.measure, held.writer) for run in runs]
    estimate = facing(estimated(held.measure, tallies), held.objective.threshold)
    overload, balance = overload_of(held, runs), balance_of(held, runs)
    standing = standing_at(estimate, held, error, held_at_once)
    if overload:
        standing = Standing.MISSED
    elif balance and standing is Standing.MET:
        standing = Standing.UNDECIDED
    needed = needed_for(estimate, held, error)
    is_idle = math.isnan(estimate.point) and has_no_job(runs, held.writer)
    return Quantity(held, estimate, standing, needed, tuple(tallies), is_idle, overload, balance)


def standing_at(estimate: Estimate, held: Held, error: float, held_at_once: int = 1) -> Standing:
    """How an estimate stands to an objective, with at most this chance of a wrong verdict.

    An interval of confidence 1 - `error` is wrong on either side with half of it, and with all of
    it where few events leave only one side to be stated.
    """
    if estimate.observations is None or math.isnan(estimate.point):
        return Standing.UNDECIDED
    if _at(estimate, held, error) is Standing.MET:
        return Standing.MET
    is_missed = _at(estimate, held, error / held_at_once) is Standing.MISSED
    return Standing.MISSED if is_missed else Standing.UNDECIDED


def _at(estimate: Estimate, held: Held, error: float) -> Standing:
    assert estimate.observations is not None
    at_level = estimate.observations.estimate(1 - error)
    at_least, at_most = (held.thresholds.get(each.value) for each in Direction)
    return standing_against(at_level, at_least, at_most)


def needed_for(estimate: Estimate, held: Held, error: float) -> float:
    """About how many replications would decide it at this level, were they like these; infinite
    where nobody can say.

    The bound of what never happened falls with their number, all others with its square root.
    """
    if estimate.observations is None or math.isnan(estimate.point):
        return math.inf
    at_level = estimate.observations.estimate(1 - error)
    gap = abs(estimate.point - held.objective.threshold)
    half = half_width(at_level)
    power = 1 if estimate.events == 0 else 2
    return estimate.replications * (half / gap) ** power if gap else math.inf


def _margin(value: float, threshold: float, sign: str) -> float:
    beyond = value - threshold if sign == ">=" else threshold - value
    return beyond / abs(threshold) if threshold else beyond
