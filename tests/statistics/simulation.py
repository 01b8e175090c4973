"""Replications with a known truth, many sets of them at once, and how often intervals hold it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from whitecap.reports.statistics.shares import bounds_of_shares, exact_bounds

Numbers = np.ndarray[Any, np.dtype[np.float64]]

THOROUGH = os.environ.get("HYPOTHESIS_PROFILE") == "new"
"""Whether `make properties` asks: then there are three times as many sets."""

EQUAL = (1.0,)
UNEQUAL = (1 / 3, 2 / 3, 1.0, 4 / 3, 5 / 3)
"""Sizes of replications over their mean, repeated."""


@dataclass(frozen=True)
class Cell:
    """One situation: a true share, replications and their mean size, and how they scatter."""

    share: float
    replications: int
    size: int
    effect: float = 1.0
    sizes: Sequence[float] = EQUAL

    @property
    def units(self) -> Numbers:
        """Of each replication."""
        relative = np.resize(np.array(self.sizes), self.replications)
        return np.maximum(np.round(relative * self.size), 1)

    @property
    def events(self) -> float:
        """How many of the rarer kind are expected."""
        return min(self.share, 1 - self.share) * float(self.units.sum())

    @property
    def alike(self) -> float:
        """The correlation of two units of a replication that makes the design effect."""
        units = self.units
        return (self.effect - 1) / (float(np.square(units).sum() / units.sum()) - 1)

    def draw(self, random: np.random.Generator, sets: int) -> Numbers:
        """Events, sets down and replications across: beta-binomial, or binomial."""
        units = np.broadcast_to(self.units, (sets, self.replications)).astype(int)
        shares: Any = self.share
        if self.effect > 1:
            size = 1 / self.alike - 1
            shares = random.beta(self.share * size, (1 - self.share) * size, units.shape)
        return random.binomial(units, shares).astype(float)


def cells(
    shares: Sequence[float],
    replications: Sequence[int],
    sizes: Sequence[int],
    effects: Sequence[float] = (1.0,),
    relative: Sequence[Sequence[float]] = (EQUAL, UNEQUAL),
) -> Iterator[Cell]:
    """Every combination that can be: two units of a replication cannot be more than alike."""
    for share in shares:
        for count in replications:
            for size in sizes:
                for effect in effects:
                    for each in relative:
                        cell = Cell(share, count, size, effect, each)
                        if cell.alike < 0.9:
                            yield cell


@dataclass(frozen=True)
class Seen:
    """How often intervals held the truth, and their mean width over that of exact ones."""

    coverage: float
    width: float


def noise(sets: int) -> float:
    """Two standard errors of a coverage of 95 % that was simulated with so many sets."""
    return 2 * float(np.sqrt(0.95 * 0.05 / sets))


def short_of(whole: int) -> int:
    """So many sets that a change of the rules is seen by them; `whole` where one is thorough."""
    return whole if THOROUGH else whole // 3


def slack(whole: int) -> float:
    """By how much a coverage is noisier than it would be with the whole number of sets."""
    return noise(short_of(whole)) - noise(whole)


def simulate(cell: Cell, sets: int = 1000, seed: int = 1) -> Seen:
    """Intervals of so many sets of replications; the same seed gives the same sets."""
    key = [seed, int(cell.share * 1e4), cell.replications, cell.size, int(cell.effect * 10)]
    events = cell.draw(np.random.default_rng([*key, len(cell.sizes)]), sets)
    return seen(cell.share, events, np.broadcast_to(cell.units, events.shape))


def seen(truth: float, events: Numbers, units: Numbers) -> Seen:
    """What the intervals of these sets, one per row, are worth."""
    batches = range(0, len(events), _BATCH)
    pairs = [bounds_of_shares(events[i : i + _BATCH], units[i : i + _BATCH])[:2] for i in batches]
    low, high = (np.concatenate(each) for each in zip(*pairs, strict=True))
    exact = exact_bounds(events.sum(axis=1), units.sum(axis=1), 0.025)
    held = (low <= truth) & (truth <= high)
    return Seen(float(held.mean()), float((high - low).mean() / (exact[1] - exact[0]).mean()))


_BATCH = 250
"""Sets at a time, for the sake of memory."""
