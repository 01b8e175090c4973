"""Predicted ranges held against what a real run did, and what that says to whoever ran it."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from whitecap.sim.freerun.prediction import PredictedShare, Prediction, count_of
from whitecap.sim.freerun.statements import ObservedRun
from whitecap.sim.freerun.workloads import ThreadWorkload

SHARP = 0.08
"""A range that reaches further than 8 points says little."""


class ComparedShare(Struct, frozen=True):
    """One share: what was predicted, and in how many of the statements it occurred."""

    predicted: PredictedShare
    count: int
    statements: int

    @property
    def share(self) -> float:
        """The observed share."""
        return self.count / self.statements

    @property
    def holds(self) -> bool:
        """Whether it lies in its range; half a statement makes no difference."""
        half = 0.5 / self.statements
        return self.predicted.low - half <= self.share <= self.predicted.high + half


class Timing(Struct, frozen=True):
    """How long statements took, and for which share of that they were open, apart and together.

    The share of the run together was predicted as well; results of earlier versions lack that.
    """

    apart_mean_ms: float
    together_mean_ms: float
    apart_window_share: float
    together_window_share: float
    predicted_window_share: float | None = None


class FreeRunPhase(Struct, frozen=True):
    """One workload from prediction to comparison.

    `begun_again`: how many of its runs lost a commit on the local disk and do not count.
    """

    name: str
    title: str
    predicted_at: str
    began_at: str
    timing: Timing
    compared: Sequence[ComparedShare]
    begun_again: int = 0

    @property
    def aborts(self) -> ComparedShare:
        """The comparison of all refused statements."""
        return self.compared[0]


class FreeRunResult(Struct, frozen=True):
    """The whole experiment: what it ran on, and how its phases came out."""

    made: str
    machine: dict[str, str]
    threads: int
    seed: int
    confidence: float
    phases: Sequence[FreeRunPhase]

    @property
    def compared(self) -> list[tuple[FreeRunPhase, ComparedShare]]:
        """Every comparison with its phase."""
        return [(phase, each) for phase in self.phases for each in phase.compared]

    @property
    def missed(self) -> list[tuple[FreeRunPhase, ComparedShare]]:
        """The comparisons that do not hold."""
        return [(phase, each) for phase, each in self.compared if not each.holds]

    @property
    def reach(self) -> float:
        """How far the widest range reaches to its wider side."""
        return max(each.predicted.reach for _, each in self.compared)

    @property
    def holds(self) -> bool:
        """Whether every share lies in its range."""
        return not self.missed

    @property
    def is_sharp(self) -> bool:
        """Whether every range is narrow enough to say something."""
        return self.reach <= SHARP


def compare(
    workload: ThreadWorkload,
    prediction: Prediction,
    apart: ObservedRun,
    together: ObservedRun,
    begun_again: int = 0,
) -> FreeRunPhase:
    """Hold what was predicted against what happened."""
    refusals = together.refusals
    statements = len(together.counted)
    return FreeRunPhase(
        workload.name,
        workload.title,
        prediction.predicted_at,
        together.began_at,
        Timing(
            apart.mean_ms,
            together.mean_ms,
            apart.window_share,
            together.window_share,
            prediction.window_share,
        ),
        [
            ComparedShare(each, count_of(each.quantity, workload, refusals), statements)
            for each in prediction.ranges
        ],
        begun_again,
    )


def percent_text(share: float) -> str:
    """A share as tables have it: `12.3 %`."""
    return f"{100 * share:.1f} %"


def headline(result: FreeRunResult) -> str:
    """How many of the shares were predicted."""
    compared = result.compared
    inside = len(compared) - len(result.missed)
    return (
        f"The simulator predicted {inside} of {len(compared)} shares within its ranges, which hold "
        f"together in {100 * result.confidence:.0f} of 100 such experiments and reach up to "
        f"{100 * result.reach:.1f} points to either side."
    )


def meaning(result: FreeRunResult) -> list[str]:
    """What it says to whoever ran it on a machine of his own."""
    said = [_of_misses(result) if result.missed else _of_success(result)]
    if not result.is_sharp:
        said.append(
            f"The ranges reach further than {100 * SHARP:.0f} points: a simulator that is off by "
            "less would not have been found out. More --statements make them narrower."
        )
    said += [_of_shift(phase) for phase in result.phases if _shift(phase) > SHIFT]
    return said


SHIFT = 0.05
"""Windows whose share of the time differs by more move an abort rate by several points."""


def _expected_share(timing: Timing) -> float:
    predicted = timing.predicted_window_share
    return timing.apart_window_share if predicted is None else predicted


def _shift(phase: FreeRunPhase) -> float:
    return abs(phase.timing.together_window_share - _expected_share(phase.timing))


def _of_success(result: FreeRunResult) -> str:
    return (
        "What this means for you: on this machine, how often statements refuse each other follows "
        "from how long they are open and what they touch, as the simulator says, here to within "
        f"{100 * result.reach:.1f} points. Measure the time from snapshot to commit of your own "
        "jobs and give it as `compute`: what is predicted from it is as good. Durations themselves "
        "are not predicted, nor is how they grow when more jobs share a machine."
    )


def _of_misses(result: FreeRunResult) -> str:
    worst = max(abs(each.share - each.predicted.mean) for _, each in result.missed)
    names = "; ".join(_miss(phase, each) for phase, each in result.missed)
    return (
        f"What this means for you: outside of its range is {names}. On this machine do not rely on "
        f"the simulator's rates to within less than {100 * worst:.0f} points, unless a second run "
        "agrees: one experiment in twenty misses by chance."
    )


def _miss(phase: FreeRunPhase, compared: ComparedShare) -> str:
    predicted = compared.predicted
    return (
        f"{phase.title}, {predicted.quantity}: {percent_text(compared.share)} of "
        f"{compared.statements} statements, predicted {100 * predicted.low:.1f} to "
        f"{percent_text(predicted.high)}"
    )


def _of_shift(phase: FreeRunPhase) -> str:
    timing = phase.timing
    return (
        f"{phase.title}: statements were open for {100 * timing.together_window_share:.0f} % of "
        f"their time, where {100 * _expected_share(timing):.0f} % was expected. Rates follow that "
        "share, so this is part of any difference; on an idle machine it is smaller."
    )
