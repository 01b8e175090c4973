"""Distributions of durations, named by what they are and parameterised by what they say.

`{lognormal: {median: 20 s, sigma: 0.4}}`, `{lognormal: {mean: 22 s, cv: 0.4}}`, `{constant: 5 s}`,
`{uniform: {low: 1 s, high: 2 s}}`, `{exponential: {mean: 3 s}}`, measured quantiles, a power law or
a mixture of such. A bare duration (`5 s`) is a constant.

A duration is drawn by its rank: a uniform number goes in, the duration that so large a share of all
durations lies below comes out. So a variant of a scenario that changes a distribution keeps the
ranks of its draws, and no draw depends on how many were made before.
"""

from __future__ import annotations

import math
from typing import Any, Self

import numpy as np
from pydantic import Field, ValidationInfo, field_validator, model_validator

from whitecap.sim.quantities.normal import standard_normal
from whitecap.sim.quantities.quantiles import Quantiles
from whitecap.sim.quantities.section import OneOf, Section
from whitecap.sim.quantities.tails import Floats, Pareto, Part, mean_ms, mixed, require_all
from whitecap.sim.quantities.units import Duration, Number
from whitecap.sim.time.random_streams import Uniforms

MAX_SIGMA = 10.0
"""Of a logarithm: nine draws in ten then lie within fourteen powers of ten."""

MAX_CV = 1000.0
"""A deviation of a thousand means has a sigma of 3.7."""


class Lognormal(Section):
    """By `median` and `sigma` of the logarithm, or by `mean` and `cv` (deviation over mean)."""

    median: Duration | None = Field(default=None, gt=0)
    sigma: Number | None = Field(default=None, ge=0, le=MAX_SIGMA)
    mean: Duration | None = Field(default=None, gt=0)
    cv: Number | None = Field(default=None, ge=0, le=MAX_CV)

    @model_validator(mode="after")
    def _one_pair(self) -> Self:
        given = {name for name in self.model_fields_set if getattr(self, name) is not None}
        if given not in ({"median", "sigma"}, {"mean", "cv"}):
            raise ValueError("give median and sigma, or mean and cv")
        return self

    def parameters(self) -> tuple[float, float]:
        """`mu` and `sigma` of the logarithm of milliseconds."""
        if self.median is not None and self.sigma is not None:
            return math.log(self.median), self.sigma
        if self.mean is None or self.cv is None:
            raise AssertionError("validated: one pair is given")
        variance = math.log1p(self.cv**2)
        return math.log(self.mean) - variance / 2, math.sqrt(variance)

    def quantile(self, ranks: Uniforms) -> Floats:
        mu, sigma = self.parameters()
        durations: Floats = np.exp(mu + sigma * standard_normal(ranks))
        return durations

    def mean_ms(self) -> float:
        mu, sigma = self.parameters()
        return math.exp(mu + sigma**2 / 2)


class Uniform(Section):
    """Evenly between `low` and `high`."""

    low: Duration
    high: Duration

    @field_validator("high")
    @classmethod
    def _ordered(cls, high: float, others: ValidationInfo) -> float:
        if high < others.data.get("low", high):
            raise ValueError("high is smaller than low")
        return high

    def quantile(self, ranks: Uniforms) -> Floats:
        return self.low + (self.high - self.low) * ranks

    def mean_ms(self) -> float:
        return (self.low + self.high) / 2


class Exponential(Section):
    """Memoryless with the given mean."""

    mean: Duration = Field(gt=0)

    def quantile(self, ranks: Uniforms) -> Floats:
        return -self.mean * np.log1p(-ranks)

    def mean_ms(self) -> float:
        return self.mean


class Distribution(OneOf):
    """How long something takes, milliseconds."""

    constant: Duration | None = None
    uniform: Uniform | None = None
    exponential: Exponential | None = None
    lognormal: Lognormal | None = None
    quantiles: Quantiles | None = None
    pareto: Pareto | None = None
    mixture: list[Part] | None = Field(default=None, min_length=2)

    @model_validator(mode="before")
    @classmethod
    def _bare_duration_is_constant(cls, given: Any) -> Any:
        return {"constant": given} if isinstance(given, str | int | float) else given

    @field_validator("mixture")
    @classmethod
    def _is_all(cls, parts: list[Part] | None) -> list[Part] | None:
        if parts is not None:
            require_all(parts)
        return parts

    def mean_ms(self) -> float:
        """The expectation in milliseconds."""
        if self.mixture is not None:
            return mean_ms(self.mixture)
        return self.constant if self.constant is not None else float(self.chosen.mean_ms())

    def quantile(self, ranks: Uniforms) -> Floats:
        """The durations in milliseconds with these ranks, which lie in (0, 1)."""
        if self.constant is not None:
            return np.full(ranks.shape, self.constant)
        if self.mixture is not None:
            return mixed(self.mixture, ranks)
        durations: Floats = self.chosen.quantile(ranks)
        return durations

    def at(self, rank: float) -> float:
        """The duration with one rank."""
        if self.constant is not None:
            return self.constant
        return float(self.quantile(np.array([rank]))[0])


Part.model_rebuild(_types_namespace={"Distribution": Distribution})
Distribution.model_rebuild(force=True)
