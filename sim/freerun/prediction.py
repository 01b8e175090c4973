"""What the simulator says of a run that has not begun.

It is simulated as often as `REPLICATIONS` says, for as many statements as the real run will have,
each time from a calibration drawn anew. The shares that come out vary by both: what was measured
and what chance does in a run of that length.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray
from scipy.stats import beta

from whitecap.sim.freerun.upcoming import UpcomingRun
from whitecap.sim.freerun.workloads import ThreadWorkload
from whitecap.sim.machine.processes import Processes

REPLICATIONS = 200
"""Simulated runs behind each range: the error of its ends is then 5 % of its width."""

RANGE_CONFIDENCE = 0.95
"""That all ranges of an experiment hold together (Bonferroni)."""

ABORTS, OTHERS = "aborts", "other exceptions"


class PredictedShare(Struct, frozen=True):
    """What was predicted of one share of all statements: its mean and its simultaneous range."""

    quantity: str
    mean: float
    low: float
    high: float

    @property
    def reach(self) -> float:
        """The wider of its two sides."""
        return max(self.mean - self.low, self.high - self.mean)


class Prediction(Struct, frozen=True):
    """What was predicted of a run of so many `statements`, and when, before it began.

    The ranges hold together with those of the whole experiment, `comparisons` in all.
    `window_share` is for which share of their time statements will be open.
    """

    predicted_at: str
    statements: int
    replications: int
    confidence: float
    comparisons: int
    ranges: Sequence[PredictedShare]
    window_share: float


def quantities_of(workload: ThreadWorkload) -> list[str]:
    """The shares that are compared: all aborts, those by each class, those by any other."""
    return [ABORTS, *(each.value for each in workload.exceptions), OTHERS]


def predicted_ranges(
    run: UpcomingRun,
    comparisons: int,
    *,
    jobs: int,
    replications: int,
    watch: Callable[[int], None],
) -> list[PredictedShare]:
    """Run the simulator and say between what each share will lie, `comparisons` in all at once."""
    counts = []
    with Processes(jobs) as processes:
        for count in processes.map(run.refusals, range(replications)):
            counts.append(count)
            watch(len(counts))
    return [
        range_of(quantity, _shares(quantity, run, counts), run.statements, comparisons)
        for quantity in quantities_of(run.workload)
    ]


def _shares(quantity: str, run: UpcomingRun, counts: Sequence[Counter[str]]) -> NDArray[np.float64]:
    return np.array([count_of(quantity, run.workload, each) / run.statements for each in counts])


def count_of(quantity: str, workload: ThreadWorkload, refusals: Counter[str]) -> int:
    """How many statements of a run a quantity counts."""
    match quantity:
        case "aborts":
            return refusals.total()
        case "other exceptions":
            return sum(n for name, n in refusals.items() if name not in workload.exceptions)
        case exception:
            return refusals[exception]


def range_of(
    quantity: str, shares: NDArray[np.float64], statements: int, comparisons: int
) -> PredictedShare:
    """Between what a share of one more run lies, by the beta distribution that varies as much.

    The range is one of `comparisons` that hold together; its ends are rounded outwards to counts,
    which a real share has. A share that never varied has no width: it follows from the rules.
    """
    mean, variance = float(shares.mean()), float(shares.var(ddof=1)) * (1 + 1 / len(shares))
    if variance == 0.0:
        return PredictedShare(quantity, mean, mean, mean)
    common = max(mean * (1 - mean) / variance - 1, 1e-6)
    tail = (1 - RANGE_CONFIDENCE) / comparisons / 2
    low, high = beta.ppf([tail, 1 - tail], mean * common, (1 - mean) * common)
    return PredictedShare(
        quantity, mean, float(np.floor(low * statements) / statements),
        float(np.ceil(high * statements) / statements),
    )  # fmt: skip
