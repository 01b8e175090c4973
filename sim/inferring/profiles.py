"""How busy hours and weekdays are, where a log is long enough and the difference is no chance."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

from msgspec import Struct
from scipy.stats import chi2

from whitecap.sim.inferring.figures import DraftFigure, fitted, number_text
from whitecap.sim.quantities.units import MS_PER
from whitecap.sim.scenario.arrivals import HOURS_OF_DAY, WEEKDAYS

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


def profile_of(instants: Sequence[float]) -> DraftFigure | None:
    """The profile of these instants (epoch ms, in order), `None` where they may come evenly."""
    if len(instants) < FEWEST:
        return None
    days = (instants[-1] - instants[0]) / MS_PER["d"]
    parts, said = [], []
    if days >= DAYS_FOR_HOURS:
        hours = _spans(instants, MS_PER["h"], HOURS_OF_DAY)
        p = evenness(hours)
        if p < LEVEL:
            named = (f"{s.first}-{s.end}: {w}" for s, w in _weighted(merged(hours)))
            parts.append(f"hours: {{{', '.join(named)}}}")
            said.append(f"hours (UTC) differ, p = {p:.1g}")
    if days >= DAYS_FOR_WEEKDAYS:
        weekdays = _spans(instants, MS_PER["d"], len(WEEKDAYS), FIRST_WEEKDAY)
        p = evenness(weekdays)
        if p < LEVEL:
            named = (f"{WEEKDAYS[s.first]}: {w}" for s, w in _weighted(weekdays))
            parts.append(f"weekdays: {{{', '.join(named)}}}")
            said.append(f"weekdays differ, p = {p:.1g}")
    if not parts:
        return None
    because = f"{' and '.join(said)} (chi-square, {len(instants):,} commits in {days:.0f} days)"
    return fitted(f"{{{', '.join(parts)}}}", because)


def _spans(instants: Sequence[float], unit_ms: float, count: int, shift: int = 0) -> list[Span]:
    """The commits of each hour of the day, or day of the week, and how long each was there."""
    commits, lasted = [0.0] * count, [0.0] * count
    for instant in instants:
        commits[(int(instant // unit_ms) + shift) % count] += 1
    at, end = instants[0], instants[-1]
    while at < end:
        following = min((at // unit_ms + 1) * unit_ms, end)
        lasted[(int(at // unit_ms) + shift) % count] += following - at
        at = following
    return [Span(n, n + 1, commits[n], lasted[n]) for n in range(count)]


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


def _weighted(spans: Sequence[Span]) -> list[tuple[Span, str]]:
    """The spans, each with its rate as a multiple of the mean."""
    mean = sum(span.commits for span in spans) / sum(span.lasted_ms for span in spans)
    return [(span, number_text(round(span.rate / mean, 2))) for span in spans]
