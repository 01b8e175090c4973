"""What one run of a campaign draws: by name, so that no choice moves another."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TypeVar

from whitecap.sim.time.random_streams import RandomStreams

T = TypeVar("T")


class Dice:
    """The draws of run `number` of a campaign; the same name always gives the same number."""

    def __init__(self, seed: int, number: int, place: str = "") -> None:
        self._seed, self._number, self._place = seed, number, place
        self._streams = RandomStreams(seed, number)

    def of(self, place: str) -> Dice:
        """Others, of the same run, for one of its places."""
        return Dice(self._seed, self._number, place)

    def uniform(self, name: str) -> float:
        """From (0, 1)."""
        placed = f"{name} of {self._place}" if self._place else name
        return self._streams.source("chaos", placed).uniform(0, 0)

    def chance(self, name: str, probability: float) -> bool:
        """Whether something of that probability happens."""
        return self.uniform(name) < probability

    def among(self, name: str, choices: Sequence[T]) -> T:
        """One of these, each as likely."""
        return choices[int(self.uniform(name) * len(choices))]

    def whole(self, name: str, low: int, high: int) -> int:
        """A whole number, both ends included."""
        return self.among(name, range(low, high + 1))

    def scale(self, name: str, low: float, high: float) -> float:
        """A number whose logarithm is uniform, to three digits: rare and frequent alike."""
        drawn = math.exp(math.log(low) + self.uniform(name) * math.log(high / low))
        return float(f"{drawn:.3g}")
