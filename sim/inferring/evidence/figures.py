"""A figure of a draft with its evidence, and the few statistics that figures are made with."""

from __future__ import annotations

import math
from collections.abc import Sequence
from enum import Enum
from statistics import median

from msgspec import Struct
from scipy.stats import chi2

from whitecap.sim.quantities.units import MS_PER

NORMAL_95 = 1.96
"""Standard errors to each side of a 95 % interval."""


class Surety(Enum):
    """How a figure is known, from the surest on."""

    READ = "read"
    COUNTED = "counted"
    FITTED = "fitted"
    GUESSED = "guessed"
    ASSUMED = "assumed"

    @property
    def meaning(self) -> str:
        """What the word says in a draft."""
        return _MEANINGS[self]


_MEANINGS = {
    Surety.READ: "it stands in the log",
    Surety.COUNTED: "from so many commits",
    Surety.FITTED: "a distribution's figures, from so many values",
    Surety.GUESSED: "a rule of thumb about what the log says",
    Surety.ASSUMED: "the log says nothing of it: put yours in its place",
}


class DraftFigure(Struct, frozen=True):
    """What a draft says, as YAML on one line, and why."""

    text: str
    surety: Surety
    because: str

    @property
    def comment(self) -> str:
        """Its evidence, as it stands beside it."""
        return f"{self.surety.value}: {self.because}"


def read(text: str, because: str) -> DraftFigure:
    """A figure that stands in the log."""
    return DraftFigure(text, Surety.READ, because)


def counted(text: str, because: str) -> DraftFigure:
    """A figure from a number of commits."""
    return DraftFigure(text, Surety.COUNTED, because)


def fitted(text: str, because: str) -> DraftFigure:
    """A figure of a distribution."""
    return DraftFigure(text, Surety.FITTED, because)


def guessed(text: str, because: str) -> DraftFigure:
    """A figure from a rule of thumb."""
    return DraftFigure(text, Surety.GUESSED, because)


def assumed(text: str, because: str) -> DraftFigure:
    """A figure that nothing in the log says."""
    return DraftFigure(text, Surety.ASSUMED, because)


def count_interval(count: int) -> tuple[float, float]:
    """The means of Poisson's law that a count is likely under, 95 %. Source: Garwood 1936."""
    low = chi2.ppf(0.025, 2 * count) / 2 if count else 0.0
    return float(low), float(chi2.ppf(0.975, 2 * count + 2) / 2)


def rate_text(count: float, span_ms: float) -> str:
    """The rate of this many in that time, in the shortest unit in which it is at least one."""
    unit = _unit(count, span_ms)
    return f"{_digits(count * MS_PER[unit] / span_ms)} per {unit}"


def rate_interval_text(count: int, span_ms: float) -> str:
    """The rate of so many in that time, with the interval of Poisson's law in the same unit."""
    unit = _unit(count, span_ms)
    low, high = (_digits(end * MS_PER[unit] / span_ms) for end in count_interval(count))
    return f"{rate_text(count, span_ms)} [{low}, {high}] at 95 %"


def _unit(count: float, span_ms: float) -> str:
    units = ("s", "min", "h", "d")
    return next((unit for unit in units if count * MS_PER[unit] >= span_ms), units[-1])


def duration_text(duration_ms: float) -> str:
    """A duration in three digits, in the largest unit of which it has two at least."""
    for unit in ("d", "h", "min", "s"):
        if duration_ms >= 2 * MS_PER[unit]:
            return f"{_digits(duration_ms / MS_PER[unit])} {unit}"
    return f"{_digits(max(duration_ms, 1))} ms"


def _digits(number: float) -> str:
    """Three digits, without an exponent."""
    if number == 0:
        return "0"
    places = max(0, 2 - math.floor(math.log10(abs(number))))
    text = f"{number:.{min(places, 9)}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def number_text(number: float) -> str:
    """A number in three digits."""
    return _digits(number)


def middle(numbers: Sequence[float]) -> int:
    """The median, to the nearest whole number."""
    return round(median(numbers))


def many(count: int, of: str) -> str:
    """`1 commit`, `1,200 commits`."""
    return f"{count:,} {of}{'' if count == 1 else 's'}"
