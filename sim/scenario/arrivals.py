"""The `arrival:` of a writer: when its jobs fall due.

Hours and days of the week are those of the scenario's wall clock, which stands at `start` when
simulated time begins.
"""

from __future__ import annotations

import re
from typing import Any, Literal, Self, get_args

from pydantic import Field, ValidationInfo, field_validator, model_validator

from whitecap.sim.quantities.bounds import MAX_COUNT
from whitecap.sim.quantities.distributions import Distribution
from whitecap.sim.quantities.section import OneOf, Section
from whitecap.sim.quantities.units import MS_PER, Duration, Number, Rate, Whole
from whitecap.sim.scenario.traces import SHORTEST_TRACE, TracedJob, read_trace

ZERO = Distribution(constant=0.0)

Weekday = Literal["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
WEEKDAYS: tuple[Weekday, ...] = get_args(Weekday)

HOURS_OF_DAY = 24

SHORTEST_CYCLE_MS = MS_PER["s"]
"""Of bursts: a run of ten years then has as many as it may have jobs."""

_CLOCK = re.compile(r"\d{1,2}:\d{2}(:\d{2})?")
_HOURS = re.compile(r"(\d{1,2})\s*-\s*(\d{1,2})")


class Closed(Section):
    """Think, run a job to its end, think again: load adapts to how fast the table is."""

    think: Distribution = ZERO


class Profile(Section):
    """How busy the hours of a week are, one against the other.

    A weight for spans of hours (`8-18`, the end excluded, `22-6` over midnight) and for days; what
    is not named has the weight 1, and an hour the product of both.
    """

    hours: dict[str, Number] = Field(default_factory=dict)
    weekdays: dict[Weekday, Number] = Field(default_factory=dict)

    @field_validator("hours")
    @classmethod
    def _of_a_day(cls, hours: dict[str, float]) -> dict[str, float]:
        named = [hour for span in hours for hour in _hours_of(span)]
        if len(set(named)) < len(named):
            raise ValueError("an hour is in two spans")
        return hours

    @field_validator("hours", "weekdays")
    @classmethod
    def _are_weights(cls, weights: dict[str, float]) -> dict[str, float]:
        wrong = [name for name, weight in weights.items() if not 0 <= weight <= MAX_COUNT]
        if wrong:
            raise ValueError(f"the weight of {wrong[0]} is not between 0 and {MAX_COUNT:,}")
        return weights

    @model_validator(mode="after")
    def _is_not_silent(self) -> Self:
        if not any(self.weights()):
            raise ValueError("no hour of the week has a weight: nothing would ever arrive")
        return self

    def weights(self) -> list[float]:
        """Of the hours of a week, from Monday 0:00 on."""
        of_hour = [1.0] * HOURS_OF_DAY
        for span, weight in self.hours.items():
            for hour in _hours_of(span):
                of_hour[hour] = weight
        return [self.weekdays.get(day, 1.0) * weight for day in WEEKDAYS for weight in of_hour]

    def factors(self) -> list[float]:
        """The weights as multiples of their mean over the week."""
        weights = self.weights()
        mean = sum(weights) / len(weights)
        return [weight / mean for weight in weights]


def _hours_of(span: str) -> list[int]:
    """The hours that `8-18` means. Raises `ValueError`."""
    match = _HOURS.fullmatch(span.strip())
    first, end = (int(match[1]), int(match[2])) if match else (0, 0)
    if first == end or first >= HOURS_OF_DAY or end > HOURS_OF_DAY:
        raise ValueError(f"{span!r} is no span of hours: write for instance '8-18' or '22-6'")
    count = (end - first) % HOURS_OF_DAY or HOURS_OF_DAY
    return [(first + hour) % HOURS_OF_DAY for hour in range(count)]


class Bursts(Section):
    """Busy times that come by chance: one begins `every` so often on average.

    Each `lasts` so long on average (both times are exponential, so that the rate is that of a
    Markov-modulated Poisson process with two states), and in it jobs arrive `times` as often as
    between bursts.
    """

    every: Duration = Field(gt=0)
    lasts: Duration = Field(gt=0)
    times: Number = Field(ge=1, le=MAX_COUNT)

    @field_validator("every")
    @classmethod
    def _seldom_enough(cls, every: float) -> float:
        if every < SHORTEST_CYCLE_MS:
            raise ValueError("bursts come at most once a second: describe these as a batch")
        return every

    @field_validator("lasts")
    @classmethod
    def _ends_before_the_next(cls, lasts: float, others: ValidationInfo) -> float:
        if lasts >= others.data.get("every", float("inf")):
            raise ValueError("lasts is not shorter than every")
        return lasts

    @property
    def quiet(self) -> float:
        """The rate between bursts, as a share of the mean rate."""
        share = self.lasts / self.every
        return 1 / (1 - share + share * self.times)


class Open(Section):
    """Jobs arrive as a Poisson process, whatever became of earlier ones.

    `rate` is that of a writer's jobs, in the mean over a week of the `profile` and over many
    `bursts`, which all writers of a group have at the same time. With a `batch` so many jobs arrive
    together, as much less often. At most `concurrency` run at the same time, later ones wait their
    turn; unlimited without it.
    """

    rate: Rate
    concurrency: Whole | None = Field(default=None, ge=1, le=MAX_COUNT)
    profile: Profile | None = None
    bursts: Bursts | None = None
    batch: Whole = Field(default=1, ge=1, le=MAX_COUNT)


def _is_clock(given: Any) -> bool:
    return isinstance(given, str) and _CLOCK.fullmatch(given.strip()) is not None


class Schedule(Section):
    """Jobs start at fixed instants: `every` so often from `offset` on, or listed `at`.

    Those that fall on other days than the `weekdays` are left out. Each job comes later by a
    `jitter` of its own, but never before the one ahead of it. A job that is due while an earlier
    one of the same writer runs waits for it. Of a streaming query `every` is the trigger interval:
    of the triggers that pass while a batch runs, the next batch makes up for all at its end.
    """

    every: Duration | None = Field(default=None, gt=0)
    at: list[Duration] | None = Field(default=None, min_length=1)
    offset: Duration = 0.0
    weekdays: list[Weekday] | None = Field(default=None, min_length=1)
    jitter: Distribution | None = None

    @field_validator("at", mode="before")
    @classmethod
    def _is_no_clock(cls, given: Any) -> Any:
        clock = next(filter(_is_clock, given if isinstance(given, list) else ()), None)
        if clock is not None:
            said = f"{clock!r} is a clock time, and `at` counts from `start`"
            raise ValueError(f"{said}: write how long after it, such as '8 h'")
        return given

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        if (self.every is None) == (self.at is None):
            raise ValueError("give either every (and offset) or at")
        return self

    @field_validator("offset")
    @classmethod
    def _is_used(cls, offset: float, others: ValidationInfo) -> float:
        if others.data.get("at") is not None:
            raise ValueError("offset is not used with at")
        return offset

    @property
    def share_of_days(self) -> float:
        """The share of days on which jobs are due."""
        return 1.0 if self.weekdays is None else len(set(self.weekdays)) / len(WEEKDAYS)


class Trace(Section):
    """Recorded jobs: CSV in a `file` beside the scenario, or as `text`, with the columns `at` and,
    if it is known how long they took, `takes`.

    They come whatever became of earlier ones. The writers of a group take them in turn. At most
    `concurrency` of a writer's run at the same time.
    """

    file: str | None = Field(default=None, min_length=1)
    text: str | None = None
    concurrency: Whole | None = Field(default=None, ge=1, le=MAX_COUNT)

    @field_validator("text")
    @classmethod
    def _is_read(cls, text: str | None) -> str | None:
        _, wrong = read_trace(SHORTEST_TRACE if text is None else text)
        if wrong:
            raise ValueError("; ".join(f"line {each.line}: {each.said}" for each in wrong))
        return text

    @model_validator(mode="after")
    def _one_place(self) -> Self:
        if (self.file is None) == (self.text is None):
            raise ValueError("give either file or text")
        return self

    @property
    def jobs(self) -> tuple[TracedJob, ...]:
        """Its jobs, in the order of their lines."""
        return read_trace(SHORTEST_TRACE if self.text is None else self.text)[0]

    @property
    def has_durations(self) -> bool:
        """Whether it says how long its jobs took."""
        return self.jobs[0].takes_ms is not None


class Arrival(OneOf):
    """When a writer starts its jobs."""

    closed: Closed | None = None
    open: Open | None = None
    schedule: Schedule | None = None
    trace: Trace | None = None

    def jobs(self, duration_ms: float, job_ms: float) -> float:
        """About how many jobs one writer starts, if each takes at least `job_ms`."""
        match self.chosen:
            case Open(rate=rate):
                return duration_ms * rate
            case Schedule(every=every, at=at) as schedule:
                count = len(at or ()) if every is None else duration_ms / every
                return count * schedule.share_of_days
            case Trace(jobs=jobs):
                return len(jobs)
            case Closed(think=think):
                gap_ms = think.mean_ms() + job_ms
                return duration_ms / gap_ms if gap_ms else 0.0
        raise AssertionError("validated: one way is given")
