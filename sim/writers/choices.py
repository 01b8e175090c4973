"""Choosing one of an ordered set with one uniform draw: evenly, the newest, or by Zipf's law.

A member of a group may also have a part of the set to itself.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from functools import lru_cache
from itertools import accumulate

from msgspec import Struct

from whitecap.sim.scenario.parameters import ChoiceSection, Nothing, Parameter

EVENLY = ChoiceSection(uniform=Nothing())

EXACT_RANKS = 4096
"""Up to this rank, Zipf's law is summed rank by rank; beyond, the continuous law stands in."""


class Member(Struct, frozen=True):
    """Which of the writers of its group one is, the first being number 1, and how many they are."""

    number: int = 1
    count: int = 1

    def rank(self, size: int, draw: float) -> int:
        """A rank in this one's part of so many; where some parts are empty, it is shared."""
        low, high = ((number * size) // self.count for number in (self.number - 1, self.number))
        return low + int(draw * (high - low))


ALONE = Member()


def pick(choice: ChoiceSection | Parameter, size: int, draw: float, member: Member = ALONE) -> int:
    """A rank below `size`, 0 being the newest (or the first listed)."""
    if choice.member is not None:
        return member.rank(size, draw)
    if choice.newest is not None:
        return int(draw * min(size, choice.newest.within))
    if choice.zipf is not None:
        return zipf_rank(choice.zipf.exponent, size, draw)
    return int(draw * size)


def zipf_rank(exponent: float, size: int, draw: float) -> int:
    """Rank k - 1 with probability proportional to k ** -exponent, k = 1 .. `size`."""
    sums = _running_sums(exponent)
    exact = min(size, EXACT_RANKS)
    tail = _tail_weight(exponent, exact + 0.5, size + 0.5) if size > exact else 0.0
    target = draw * (sums[exact - 1] + tail)
    if target < sums[exact - 1]:
        return bisect_right(sums, target, 0, exact)
    share = (target - sums[exact - 1]) / tail
    return min(size - 1, int(_tail_point(exponent, exact + 0.5, size + 0.5, share) - 0.5))


@lru_cache
def _running_sums(exponent: float) -> list[float]:
    return list(accumulate(float(k) ** -exponent for k in range(1, EXACT_RANKS + 1)))


def _tail_weight(exponent: float, low: float, high: float) -> float:
    """The integral of k ** -exponent."""
    if exponent == 1.0:
        return math.log(high / low)
    power = 1 - exponent
    return (math.pow(high, power) - math.pow(low, power)) / power


def _tail_point(exponent: float, low: float, high: float, share: float) -> float:
    """Below this point lies `share` of the integral."""
    if exponent == 1.0:
        return low * math.pow(high / low, share)
    power = 1 - exponent
    inner = low**power + share * (high**power - low**power)
    return math.pow(inner, 1 / power)
