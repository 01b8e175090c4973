"""How busy hours and weekdays are, where a log is long enough and the difference is no chance."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from msgspec import Struct
from scipy.stats import chi2

from whitecap.sim.inferring.evidence.figures import DraftFigure, fitted, number_text
from whitecap.sim.quantities.units import MS_PER
from whitecap.sim.scenario.arrivals import HOURS_OF_DAY, WEEKDAYS, Profile, Weekday

LEVEL = 0.01
"""A profile is told where commits that come evenly would differ so much once in a hundred logs."""

FEWEST = 50
"""Commits of a group from which a profile is looked for. Ours."""

DAYS_FOR_HOURS, DAYS_FOR_WEEKDAYS = 2, 14
"""Each hour, and each weekday, must have been there twice."""

FIRST_WEEKDAY = 3
"""1970 began with a Thursday."""


class Span(Struct, frozen=True):
    """Hours from `first` to `end`, with the commits in them and the time that they lasted."""

    first: int
    end: int
    commits: float
    lasted_ms: float

    @property
    def rate(self) -> float:
        """Commits per millisecond."""
        return self.commits / self.lasted_ms if self.lasted_ms else 0.0

    def with_next(self, other: Span) -> Span:
        """This span and the next one as one."""
        both = self.commits + other.commits, self.lasted_ms + other.lasted_ms
        return Span(self.first, other.end, *both)


class WeekProfile(Struct, frozen=True):
    """A drafted profile, and how long a week's mean hours would take for what the log saw.

    A log from Monday 8:00 to Wednesday 18:00 has more busy hours than a week's mean; so it stands
    for more of these than it lasted.
    """

    figure: DraftFigure
    mean_hours_ms: float


def profile_of(instants: Sequence[float]) -> WeekProfile | None:
    """The profile of these instants (epoch ms, in order), `None` where they may come evenly."""
    if len(instants) < FEWEST:
        return None
    days = (instants[-1] - instants[0]) / MS_PER["d"]
    hours: dict[str, float] = {}
    weekdays: dict[Weekday, float] = {}
    said = []
    if days >= DAYS_FOR_HOURS:
        spans = _spans(instants, MS_PER["h"], HOURS_OF_DAY)
        p = evenness(spans)
        if p < LEVEL:
            hours = {f"{s.first}-{s.end}": weight for s, weight in _weighted(merged(spans))}
            said.append(f"hours (UTC) differ, p = {p:.1g}")
    if days >= DAYS_FOR_WEEKDAYS:
        spans = _spans(instants, MS_PER["d"], len(WEEKDAYS), FIRST_WEEKDAY)
        p = evenness(spans)
        if p < LEVEL:
            weekdays = {WEEKDAYS[s.first]: weight for s, weight in _weighted(spans)}
            said.append(f"weekdays differ, p = {p:.1g}")
    if not said:
        return None
    because = f"{' and '.join(said)} (chi-square, {len(instants):,} commits in {days:.0f} days)"
    parts = [*_weights_text("hours", hours), *_weights_text("weekdays", weekdays)]
    figure = fitted(f"{{{', '.join(parts)}}}", because)
    return WeekProfile(figure, _mean_hours_ms(instants, Profile(hours=hours, weekdays=weekdays)))


def _weights_text(name: str, weights: Mapping[Any, float]) -> Iterator[str]:
    if weights:
        named = (f"{span}: {number_text(weight)}" for span, weight in weights.items())
        yield f"{name}: {{{', '.join(named)}}}"


def _mean_hours_ms(instants: Sequence[float], profile: Profile) -> float:
    """The time between the first and the last instant, each hour as often as it is busy."""
    factors = profile.factors()
    lasted = _lasted(instants, MS_PER["h"], len(factors), FIRST_WEEKDAY * HOURS_OF_DAY)
    return sum(factor * ms for factor, ms in zip(factors, lasted, strict=True))


def _spans(instants: Sequence[float], unit_ms: float, count: int, shift: int = 0) -> list[Span]:
    """The commits of each hour of the day, or day of the week, and how long each was there."""
    commits = [0.0] * count
    for instant in instants:
        commits[(int(instant // unit_ms) + shift) % count] += 1
    lasted = _lasted(instants, unit_ms, count, shift)
    return [Span(n, n + 1, commits[n], lasted[n]) for n in range(count)]


def _lasted(instants: Sequence[float], unit_ms: float, count: int, shift: int = 0) -> list[float]:
    """How long each hour of the day, or day or hour of the week, was there (ms)."""
    lasted = [0.0] * count
    at, end = instants[0], instants[-1]
    while at < end:
        following = min((at // unit_ms + 1) * unit_ms, end)
        lasted[(int(at // unit_ms) + shift) % count] += following - at
        at = following
    return lasted


def evenness(spans: Sequence[Span]) -> float:
    """The probability of such differences, or larger ones, where commits come evenly."""
    there = [span for span in spans if span.lasted_ms]
    mean = sum(span.commits for span in there) / sum(span.lasted_ms for span in there)
    distance = sum((s.commits - mean * s.lasted_ms) ** 2 / (mean * s.lasted_ms) for s in there)
    return float(chi2.sf(distance, len(there) - 1))


def merged(spans: Sequence[Span]) -> list[Span]:
    """Neighbours made one as long as their difference may be chance, the least one first."""
    left = list(spans)
    worth = float(chi2.ppf(1 - LEVEL, 1)) / 2
    while len(left) > 1:
        losses = [_loss(span, following) for span, following in pairwise(left)]
        least = min(range(len(losses)), key=losses.__getitem__)
        if losses[least] > worth:
            break
        left[least : least + 2] = [left[least].with_next(left[least + 1])]
    return left


def _loss(span: Span, following: Span) -> float:
    """The log-likelihood that two Poisson rates have before one for both."""
    return _likelihood(span) + _likelihood(following) - _likelihood(span.with_next(following))


def _likelihood(span: Span) -> float:
    return span.commits * math.log(span.rate) if span.commits else 0.0


def _weighted(spans: Sequence[Span]) -> list[tuple[Span, float]]:
    """The spans, each with its rate as a multiple of the mean."""
    mean = sum(span.commits for span in spans) / sum(span.lasted_ms for span in spans)
    return [(span, round(span.rate / mean, 2)) for span in spans]
