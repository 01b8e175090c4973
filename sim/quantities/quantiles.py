"""A distribution by its measured quantiles: what lies between them, and beyond the last, is stated.

A gap between two modes is two quantiles next to each other, `p65.6: 4.9 ms, p65.7: 52.8 ms`:
nothing but a draw in a thousand comes to lie in it.
"""

from __future__ import annotations

from enum import StrEnum
from itertools import pairwise
from typing import Any, Self

import numpy as np
from pydantic import Field, field_validator, model_validator

from whitecap.engine.remembered import once_for_each
from whitecap.sim.quantities.section import Section
from whitecap.sim.quantities.tails import Floats
from whitecap.sim.quantities.units import Duration, about
from whitecap.sim.time.random_streams import Uniforms

OPTIONS = frozenset({"between", "mean"})
"""Keys beside the quantiles."""

ROUNDING = 1e-6
"""How much of a mean may be lost where a file writes its figures with a few digits."""


class Between(StrEnum):
    """How neighbouring quantiles are joined; by logarithms where tails fall like a power."""

    STRAIGHT = "straight"
    LOGARITHMIC = "logarithmic"


class Quantiles(Section):
    """Measured quantiles, `{p5: 52 ms, ..., p99.9: 144 ms}`, joined by straight lines.

    Or joined straight on a logarithmic scale (`between: logarithmic`). Below the lowest quantile
    the value is held; beyond the highest too, unless the `mean` of all is given: then the values
    there exceed the highest by an exponential time, which assumes nothing but that mean.
    """

    points: dict[str, Duration] = Field(min_length=2)
    between: Between = Between.STRAIGHT
    mean: Duration | None = Field(default=None, gt=0)

    @model_validator(mode="before")
    @classmethod
    def _bare_points(cls, given: Any) -> Any:
        if not isinstance(given, dict):
            return {"points": given}
        points, options = given.get("points", {}), OPTIONS & given.keys()
        if not isinstance(points, dict):
            return given
        bare = {name: value for name, value in given.items() if name not in OPTIONS | {"points"}}
        return {**{name: given[name] for name in options}, "points": {**bare, **points}}

    @field_validator("points")
    @classmethod
    def _rising(cls, points: dict[str, float]) -> dict[str, float]:
        ranked = sorted((_rank(name), value) for name, value in points.items())
        if any(low[1] > high[1] for low, high in pairwise(ranked)):
            raise ValueError("a higher quantile is smaller than a lower one")
        return points

    @model_validator(mode="after")
    def _joined_by_logarithms_of_something(self) -> Self:
        if self.between is Between.LOGARITHMIC and min(self.points.values()) <= 0:
            raise ValueError("quantiles of 0 ms have no logarithm: join them straight")
        return self

    @model_validator(mode="after")
    def _has_that_mean(self) -> Self:
        if self.mean is None:
            return self
        without = self._mean_without_tail()
        if self.mean < without * (1 - ROUNDING):
            raise ValueError(
                f"these quantiles have a mean of {about(without)}, more than {about(self.mean)}:"
                " say between: logarithmic, or where the gaps between modes are"
            )
        if self.table()[0][-1] >= 1 and self.mean > without * (1 + ROUNDING):
            raise ValueError("nothing lies beyond p100 that could make up the mean")
        return self

    @once_for_each
    def table(self) -> tuple[list[float], list[float]]:
        """Probabilities in rising order and their values."""
        ranked = sorted((_rank(name), value) for name, value in self.points.items())
        return [rank for rank, _ in ranked], [value for _, value in ranked]

    def quantile(self, ranks: Uniforms) -> Floats:
        joined, excess_ms = self._joined(ranks), self.excess_ms
        if excess_ms == 0:
            return joined
        highest = self.table()[0][-1]
        beyond = np.maximum(0.0, (ranks - highest) / (1 - highest))
        return joined - excess_ms * np.log1p(-beyond)

    def _joined(self, ranks: Uniforms) -> Floats:
        if self.between is Between.STRAIGHT:
            return np.interp(ranks, *self._knots())
        return np.exp(np.interp(ranks, *self._knots()))

    @once_for_each
    def _knots(self) -> tuple[Floats, Floats]:
        """Between which points lines are drawn: probabilities, and values or their logarithms."""
        measured, values = self.table()
        ends = values if self.between is Between.STRAIGHT else np.log(values)
        return np.array(measured), np.array(ends)

    @property
    def excess_ms(self) -> float:
        """By how much values beyond the last quantile exceed it, on average."""
        return self._excess_ms()

    @once_for_each
    def _excess_ms(self) -> float:
        if self.mean is None:
            return 0.0
        beyond = 1 - self.table()[0][-1]
        return max(0.0, self.mean - self._mean_without_tail()) / beyond if beyond else 0.0

    def mean_ms(self) -> float:
        return self._mean_without_tail() if self.mean is None else self.mean

    def _mean_without_tail(self) -> float:
        ranks, values = self.table()
        shares = np.diff(ranks)
        inner = sum(
            share * self._mean_between(low, high)
            for share, (low, high) in zip(shares, pairwise(values), strict=True)
        )
        return float(inner + ranks[0] * values[0] + (1 - ranks[-1]) * values[-1])

    def _mean_between(self, low: float, high: float) -> float:
        if self.between is Between.STRAIGHT or low == high:
            return (low + high) / 2
        return (high - low) / float(np.log(high / low))


def _rank(name: str) -> float:
    try:
        rank = float(name.removeprefix("p")) / 100
    except ValueError:
        raise ValueError(f"{name!r} is not a quantile: write p50, p99.9, ...") from None
    if not name.startswith("p") or not 0 <= rank <= 1:
        raise ValueError(f"{name!r} is not a quantile: write p50, p99.9, ...")
    return rank
