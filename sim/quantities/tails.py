"""Durations of which a few are very long: by a power law, or by chance one kind or another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from whitecap.sim.quantities.section import Section
from whitecap.sim.quantities.units import Duration, Number
from whitecap.sim.time.random_streams import Uniforms

if TYPE_CHECKING:
    from whitecap.sim.quantities.distributions import Distribution

Floats = NDArray[np.float64]

MAX_ALPHA = 100.0
"""Of a power law: all durations then lie within a twentieth of the shortest one."""

ROUNDING = 1e-9
"""By how much shares may fail to come to 1, written in decimals as they are."""

SMALLEST_RANK = 2.0**-53
"""As small as ranks are drawn; neither 0 nor 1 is one."""


class Pareto(Section):
    """Never shorter than `minimum`; longer than x with the probability (minimum / x) ** alpha.

    The smaller `alpha`, the heavier the tail; above 1, or the mean would be infinite.
    """

    minimum: Duration = Field(gt=0)
    alpha: Number = Field(gt=1, le=MAX_ALPHA)

    def quantile(self, ranks: Uniforms) -> Floats:
        lengths: Floats = self.minimum * (1 - ranks) ** (-1 / self.alpha)
        return lengths

    def mean_ms(self) -> float:
        return self.minimum * self.alpha / (self.alpha - 1)


class Part(Section):
    """One kind of durations, and which share of all is of that kind."""

    share: Number = Field(gt=0, le=1)
    of: Distribution


def require_all(parts: Sequence[Part]) -> None:
    """Raises `ValueError` unless the kinds of a mixture are all that there is."""
    total = sum(part.share for part in parts)
    if abs(total - 1) > ROUNDING:
        raise ValueError(f"the shares come to {total:g} and not to 1")


def mixed(parts: Sequence[Part], ranks: Uniforms) -> Floats:
    """Durations each of one of several kinds.

    One number decides both of which kind it is and how long: the lowest ranks are of the first
    kind, in its own order, and so on.
    """
    lengths, low = np.empty(ranks.shape), 0.0
    for part in parts:
        here = ranks >= low
        within = np.clip((ranks[here] - low) / part.share, SMALLEST_RANK, 1 - SMALLEST_RANK)
        lengths[here] = part.of.quantile(within)
        low += part.share
    return lengths


def mean_ms(parts: Sequence[Part]) -> float:
    """That of a mixture."""
    return sum(part.share * part.of.mean_ms() for part in parts)
