"""What each change of one parameter does to a measure, against the scenario as it stands."""

from __future__ import annotations

import math
from collections.abc import Mapping

from msgspec import Struct

from whitecap.engine.recorded import ALL_WRITERS, Measure, Objective
from whitecap.reports.estimates import estimated
from whitecap.reports.measures.measured_run import MeasuredRun, Runs
from whitecap.reports.measures.tally import MeasureTally
from whitecap.reports.statistics import Estimate, EstimatedDifference, difference


class Followed(Struct, frozen=True):
    """What is looked at: a measure of a writer group, or of all together (no `writer`)."""

    measure: Measure
    writer: str | None = None

    @classmethod
    def by(cls, objective: Objective) -> Followed:
        """What an objective looks at; one of every group by itself, all together."""
        return cls(objective.measure, None if objective.of == ALL_WRITERS else objective.of)

    def tally(self, run: MeasuredRun) -> MeasureTally:
        """Of one run."""
        return run.tally(self.measure, self.writer)

    def estimate(self, runs: Runs) -> Estimate:
        """Over replications."""
        return estimated(self.measure, [self.tally(run) for _, run in sorted(runs.items())])


class ValueEffect(Struct, frozen=True):
    """What one value of a parameter does: its estimate, and what is more or less of the measure
    there than as the scenario stands (`None` where the two cannot be compared)."""

    value: str
    estimate: Estimate
    gap: EstimatedDifference | None

    @property
    def size(self) -> float:
        """How large it is, either way; -1 without a number, to stand behind all others."""
        point = math.nan if self.gap is None else self.gap.point
        return -1.0 if math.isnan(point) else abs(point)

    @property
    def is_distinguishable(self) -> bool:
        """Whether it can be told apart from no effect."""
        return self.gap is not None and self.gap.is_distinguishable


class Moving(Struct, frozen=True):
    """A parameter as it `stands`, with the effects of its other values."""

    path: str
    stands: str
    effects: tuple[ValueEffect, ...]

    @property
    def size(self) -> float:
        """That of its largest effect."""
        return max((each.size for each in self.effects), default=-1.0)

    @property
    def is_distinguishable(self) -> bool:
        """Whether any of its values can be told apart from what stands."""
        return any(each.is_distinguishable for each in self.effects)


class ParameterRuns(Struct, frozen=True):
    """The runs of a parameter's other values, by value."""

    path: str
    stands: str
    runs: Mapping[str, Runs]


def moving_by(
    followed: Followed, base: Runs, varied: list[ParameterRuns], confidence: float
) -> tuple[Moving, ...]:
    """Every parameter with its effects, the largest first."""
    stands = followed.estimate(base)
    moving = (
        Moving(each.path, each.stands, tuple(_effects(followed, stands, each, confidence)))
        for each in varied
    )
    return tuple(sorted(moving, key=lambda each: -each.size))


def _effects(
    followed: Followed, stands: Estimate, varied: ParameterRuns, confidence: float
) -> list[ValueEffect]:
    effects = []
    for value, runs in varied.runs.items():
        estimate = followed.estimate(runs)
        effects.append(ValueEffect(value, estimate, gap_of(estimate, stands, confidence)))
    return effects


def gap_of(estimate: Estimate, other: Estimate, confidence: float) -> EstimatedDifference | None:
    """The first minus the second; `None` where they cannot be compared."""
    try:
        return difference(estimate, other, confidence)
    except ValueError:
        return None
