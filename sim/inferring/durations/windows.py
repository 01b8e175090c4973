"""How long writers take from snapshot to commit, where a log says it.

Two things tell. Some engines write `executionTimeMs` beside the commit's timestamp; that time began
with the snapshot. And every commit of Delta Lake names the version that it read: its snapshot was
taken after that version and before the next one, which brackets the time, more closely the busier
the table is. Times in brackets are fitted as what they are, interval-censored values of a lognormal
(Turnbull 1976), among versions that are partly the writers' own
(`sim/inferring/durations/brackets.py`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from statistics import median, stdev

from msgspec import Struct
from msgspec.structs import replace

from whitecap.sim.describing.draft import ASSUMED_SIGMA
from whitecap.sim.inferring.durations.besides_compute import BesidesCompute
from whitecap.sim.inferring.durations.brackets import (
    LEAST_SIGMA,
    MOST_SIGMA,
    Brackets,
    CommitInstants,
    bracket,
    fitted_to,
)
from whitecap.sim.inferring.evidence.figures import (
    DraftFigure,
    assumed,
    duration_text,
    fitted,
    many,
    number_text,
)
from whitecap.sim.inferring.log.observed import ObservedCommit
from whitecap.sim.quantities.units import MS_PER

TELLING = 10
"""Brackets with a lower end above zero that a fit needs: fewer leave its median open by a half."""

FEW = 5
"""Stated times from which a spread is told; of fewer the median alone."""

ASSUMED_MS = 30 * MS_PER["s"]
"""The median of a window where the log says nothing: what `whitecap init` suggests."""

STATED = ("executionTimeMs", "execution_time_ms")
"""The metric's names: of Delta Lake (DELETE, UPDATE, MERGE), and of delta-rs."""


LEAST_OF_WINDOW = 0.1
"""The part of a window that is compute at least: where it was written, the log may take less than
in the simulator. Ours."""

MOST_SPREAD = 2.0
"""How much wider than the windows' compute may spread at most. Ours."""


class TransactionWindow(Struct, frozen=True):
    """The time from snapshot to commit: a lognormal, and how it is known.

    Where it `is_bracketed` it goes until others could see the commit, else until its timestamp.
    """

    figure: DraftFigure
    median_ms: float
    sigma: float
    is_known: bool
    is_bracketed: bool = False

    @property
    def mean_ms(self) -> float:
        """Its mean."""
        return self.median_ms * math.exp(self.sigma**2 / 2)

    def outside_ms(self, besides: BesidesCompute) -> float:
        """What a job takes outside of its window, as this one is known."""
        return besides.outside_ms - (besides.unseen_ms if self.is_bracketed else 0.0)

    def compute(self, besides: BesidesCompute) -> DraftFigure:
        """The window without what a run spends in it besides; as it is, if it is assumed.

        What lies in a window is taken off its median. The spread stays as many milliseconds there,
        since requests vary little beside jobs.
        """
        if not self.is_known:
            return self.figure
        spent_ms = besides.window_ms + (besides.unseen_ms if self.is_bracketed else 0.0)
        median_ms = max(self.median_ms - spent_ms, LEAST_OF_WINDOW * self.median_ms)
        sigma = self.sigma * min(self.median_ms / median_ms, MOST_SPREAD)
        less = duration_text(self.median_ms - median_ms)
        because = f"{self.figure.because}; less {less} that a run spends there on the log besides"
        return replace(self.figure, text=_lognormal(median_ms, sigma), because=because)


def window_of(commits: Sequence[ObservedCommit], instants: CommitInstants) -> TransactionWindow:
    """The window of one group of writers."""
    stated = [t for t in (each.metric(*STATED) for each in commits) if t is not None and t > 0]
    if stated:
        return _of_stated(stated)
    brackets = [b for b in (bracket(each, instants) for each in commits) if b is not None]
    telling = sum(1 for low, _ in brackets if low > 0)
    if telling >= TELLING:
        return _of_brackets(Brackets.of(commits, instants), telling)
    return _assumed(brackets)


def _of_stated(times: Sequence[float]) -> TransactionWindow:
    middle_ms = median(times)
    if len(times) < FEW:
        because = f"executionTimeMs of {many(len(times), 'commit')}; its spread is assumed"
        return _window(fitted, because, middle_ms, ASSUMED_SIGMA)
    sigma = stdev(map(math.log, times))
    because = f"executionTimeMs of {many(len(times), 'commit')}"
    return _window(fitted, because, middle_ms, sigma)


def _of_brackets(brackets: Brackets, telling: int) -> TransactionWindow:
    fit = fitted_to(brackets)
    because = (
        f"{telling:,} of {many(len(brackets.low), 'commit')} read a version that others had left"
        f" behind when they committed, which brackets the time; median"
        f" [{duration_text(math.exp(fit.low))}, {duration_text(math.exp(fit.high))}] at 95 %"
    )
    if not brackets.are_told_apart:
        because += "; perhaps a tenth too short, since jobs overlap and come unevenly over time"
    return replace(_window(fitted, because, math.exp(fit.location), fit.sigma), is_bracketed=True)


def _assumed(brackets: Sequence[tuple[float, float]]) -> TransactionWindow:
    because = "it decides most, and the log does not say it"
    middle_ms = ASSUMED_MS
    if brackets:
        longest = median(high for _, high in brackets)
        middle_ms = min(middle_ms, max(longest / 2, 1.0))
        because += f", only that half of them took at most {duration_text(longest)}"
    return _window(assumed, because, middle_ms, ASSUMED_SIGMA)


def _window(
    how: Callable[[str, str], DraftFigure], because: str, middle_ms: float, sigma: float
) -> TransactionWindow:
    sigma = min(max(sigma, LEAST_SIGMA), MOST_SIGMA)
    figure = how(_lognormal(middle_ms, sigma), because)
    return TransactionWindow(figure, middle_ms, sigma, how is not assumed)


def _lognormal(median_ms: float, sigma: float) -> str:
    sigma = min(sigma, MOST_SIGMA)
    return f"{{lognormal: {{median: {duration_text(median_ms)}, sigma: {number_text(sigma)}}}}}"
