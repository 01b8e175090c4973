"""The instants at which the jobs of a writer fall due, where none waits for the end of another.

A rate that changes with time is a Poisson process on a clock of its own (`Pace`), which goes faster
where more jobs arrive. The gaps between jobs are drawn on that clock, so that they are the same
whatever the rate does.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import count, islice, takewhile
from typing import Self

from msgspec import Struct

from whitecap.sim.quantities.units import DAY_MS, MS_PER
from whitecap.sim.scenario.arrivals import WEEKDAYS, Bursts, Open, Profile, Schedule, Trace
from whitecap.sim.time.random_streams import RandomSource, row_of
from whitecap.sim.writers.choices import Member

Instants = Callable[[int], Iterator[float]]
"""When the jobs of a writer are due, from the job of a number on."""

Pieces = Iterator[tuple[float, float]]
"""Simulated time from 0 on, in pieces: until when, and how many times the mean rate it has."""

HOUR_MS = int(MS_PER["h"])
DAYS_TO_MONDAY = 4
"""1 January 1970, from which wall clocks count, was a Thursday."""


class Calendar(Struct, frozen=True):
    """The wall clock of a run: `start_ms` at simulated instant 0, and when the run ends."""

    start_ms: int
    end_ms: float

    def weekday(self, instant_ms: float) -> int:
        """The day of the week at an instant, Monday being 0."""
        days = (self.start_ms + int(instant_ms)) // DAY_MS
        return (days - DAYS_TO_MONDAY) % len(WEEKDAYS)


class OpenInstants(Struct, frozen=True):
    """The instants of an open loop from `starts_ms` on; `gap_ms` are the gaps between its batches.

    `bursts` are the draws for the bursts of its group.
    """

    options: Open
    starts_ms: float
    gap_ms: Callable[[int], float]
    calendar: Calendar
    bursts: RandomSource

    def __call__(self, first: int) -> Iterator[float]:
        """From the job of that number on."""
        return islice(self._all(), first, None)

    def _all(self) -> Iterator[float]:
        for instant_ms in self._batches():
            for _ in range(self.options.batch):
                yield instant_ms

    def _batches(self) -> Iterator[float]:
        now_ms, pieces = self.starts_ms, list(self._pieces())
        pace = Pace(combined(pieces), now_ms, self.calendar.end_ms) if pieces else None
        for number in count():
            gap_ms = self.gap_ms(number)
            now_ms = now_ms + gap_ms if pace is None else pace.passes(gap_ms)
            yield now_ms

    def _pieces(self) -> Iterator[Pieces]:
        if self.options.profile is not None:
            yield weekly(self.options.profile, self.calendar)
        if self.options.bursts is not None:
            yield bursting(self.options.bursts, self.bursts)


class ScheduledInstants(Struct, frozen=True):
    """The instants of a schedule from `starts_ms` on; `jitter_ms` is how much later a job comes."""

    options: Schedule
    starts_ms: float
    jitter_ms: Callable[[int], float]
    calendar: Calendar

    def __call__(self, first: int) -> Iterator[float]:
        """From the job of that number on."""
        return islice(self._all(), first, None)

    def _all(self) -> Iterator[float]:
        latest_ms = 0.0
        for number, planned_ms in enumerate(self._planned()):
            latest_ms = max(latest_ms, planned_ms + self.jitter_ms(number))
            yield latest_ms

    def _planned(self) -> Iterator[float]:
        within = takewhile(lambda instant_ms: instant_ms < self.calendar.end_ms, self._any_day())
        if self.options.weekdays is None:
            return within
        days = {WEEKDAYS.index(day) for day in self.options.weekdays}
        return (instant_ms for instant_ms in within if self.calendar.weekday(instant_ms) in days)

    def _any_day(self) -> Iterable[float]:
        if self.options.at is not None:
            return (each for each in sorted(self.options.at) if each >= self.starts_ms)
        every, first_ms = self.options.every, self.starts_ms + self.options.offset
        assert every is not None
        return (first_ms + number * every for number in count())


class TracedJobs(Struct, frozen=True):
    """The jobs of a recorded trace that fall to one member of a group, from `starts_ms` on."""

    jobs: Sequence[tuple[float, float | None]]

    @classmethod
    def of(cls, trace: Trace, starts_ms: float, calendar: Calendar, member: Member) -> Self:
        """Every n-th job, in the order of time."""
        due = [(job.due_ms(calendar.start_ms), job.takes_ms) for job in trace.jobs]
        due = [each for each in sorted(due, key=lambda each: each[0]) if each[0] >= starts_ms]
        return cls(due[member.number - 1 :: member.count])

    def __call__(self, first: int) -> Iterator[float]:
        """From the job of that number on."""
        return (due_ms for due_ms, _ in self.jobs[first:])

    def takes_ms(self, job: int) -> float | None:
        """How long a job took, if that is known."""
        return self.jobs[job][1]


class Pace:
    """A clock that goes by `pieces` while simulated time passes evenly."""

    def __init__(self, pieces: Pieces, now_ms: float, end_ms: float) -> None:
        self._pieces, self._now_ms, self._end_ms = pieces, now_ms, end_ms
        self._until_ms = self._factor = 0.0

    def passes(self, own_ms: float) -> float:
        """The instant at which `own_ms` more of it have passed; never if the run ends before."""
        while self._now_ms < self._end_ms:
            while self._until_ms <= self._now_ms:
                self._until_ms, self._factor = next(self._pieces)
            left_ms = (self._until_ms - self._now_ms) * self._factor
            if own_ms < left_ms:
                self._now_ms += own_ms / self._factor
                return self._now_ms
            own_ms -= left_ms
            self._now_ms = self._until_ms
        return math.inf


def combined(parts: Sequence[Pieces]) -> Pieces:
    """The product of several rates, in pieces."""
    pieces = [next(part) for part in parts]
    while True:
        until_ms = min(until for until, _ in pieces)
        yield until_ms, math.prod(factor for _, factor in pieces)
        pieces = [
            next(part) if piece[0] <= until_ms else piece
            for part, piece in zip(parts, pieces, strict=True)
        ]


def weekly(profile: Profile, calendar: Calendar) -> Pieces:
    """The hours of the week, again and again."""
    factors = profile.factors()
    first = calendar.start_ms // HOUR_MS
    for hour in count(first):
        factor = factors[(hour - DAYS_TO_MONDAY * DAY_MS // HOUR_MS) % len(factors)]
        yield float((hour + 1) * HOUR_MS - calendar.start_ms), factor


def bursting(bursts: Bursts, source: RandomSource) -> Pieces:
    """Bursts and the times between them; they have been going on for long when the run begins."""
    in_burst = source.uniform(row_of(0), 1) < bursts.lasts / bursts.every
    until_ms = 0.0
    for number in count():
        mean_ms = bursts.lasts if in_burst else bursts.every - bursts.lasts
        until_ms -= mean_ms * math.log1p(-source.uniform(row_of(number), 0))
        yield until_ms, bursts.quiet * (bursts.times if in_burst else 1.0)
        in_burst = not in_burst
