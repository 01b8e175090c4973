"""How often the jobs of a group come: by a timetable, one after the other, or by chance.

Only jobs that committed are in a log; those that failed for good are missing from these rates.
"""

from __future__ import annotations

import cmath
import math
from collections.abc import Iterable, Sequence
from itertools import accumulate, pairwise
from statistics import fmean, stdev

from msgspec import Struct
from msgspec.structs import replace

from whitecap.sim.inferring.durations.windows import STATED, TransactionWindow
from whitecap.sim.inferring.evidence.figures import (
    DraftFigure,
    assumed,
    counted,
    duration_text,
    fitted,
    many,
    rate_interval_text,
    rate_text,
)
from whitecap.sim.inferring.log.observed import ObservedCommit
from whitecap.sim.inferring.profiles import profile_of
from whitecap.sim.quantities.units import MS_PER, show_duration

_PERIODS = [
    *(minutes * MS_PER["min"] for minutes in (1, 2, 3, 4, 5, 6, 10, 12, 15, 20, 30)),
    *(hours * MS_PER["h"] for hours in (1, 2, 3, 4, 6, 8, 12)),
    MS_PER["d"],
    7 * MS_PER["d"],
]
"""Periods that a timetable may have."""

FEWEST_REGULAR = 8
"""Jobs that show a timetable: so many by chance point the same way once in 600 tries."""

SAME_PHASE = 0.9
"""The length of the mean direction of instants on the circle of a period: 1 if all are equal."""

EVEN = 0.35
"""The coefficient of variation below which gaps are even; that of a Poisson process is 1."""

NEVER_IDLE = 0.8
"""The share of their time that writers are in a transaction from which on they are taken to follow
their own pace: an open queue as busy would have jobs wait for four times as long as they take."""

MOST_WRITERS = 64
"""Writers of a drafted group at most, however many transactions ran at one time. Ours."""

SHORTEST_SPAN_MS = MS_PER["s"]
"""A log that spans less tells no rates."""

ASSUMED_RATE = 1 / MS_PER["h"]
"""The rate of a group with too few commits to tell one."""


class Timetable(Struct, frozen=True):
    """Jobs that begin each `period_ms`, `phase_ms` after its beginning in UTC, or a bit later."""

    period_ms: float
    phase_ms: float
    jitter_ms: float

    def arrival(self, start_ms: float) -> str:
        """The `arrival` of a scenario that starts at this instant."""
        parts = [f"every: {show_duration(self.period_ms)}"]
        offset_ms = (self.phase_ms - start_ms) % self.period_ms
        if offset_ms >= 1:
            parts.append(f"offset: {duration_text(offset_ms)}")
        if self.jitter_ms:
            parts.append(
                f"jitter: {{uniform: {{low: 0 s, high: {duration_text(self.jitter_ms)}}}}}"
            )
        return f"{{schedule: {{{', '.join(parts)}}}}}"


class Cadence(Struct, frozen=True):
    """A group's `count` and when its jobs come, with what is to be said; `rate` is per ms, of all.

    They come by a `timetable`, one after the other with a `pause_ms` between, or as an `otherwise`
    says.
    """

    count: DraftFigure
    otherwise: str
    evidence: Sequence[DraftFigure]
    rate: float
    timetable: Timetable | None = None
    pause_ms: float | None = None

    def arrival(self, start_ms: float) -> str:
        """The `arrival` of a scenario that starts then, on one line."""
        if self.timetable is not None:
            return self.timetable.arrival(start_ms)
        if self.pause_ms is None:
            return self.otherwise
        think = duration_text(self.pause_ms) if self.pause_ms >= 1 else "0 s"
        return f"{{closed: {{think: {think}}}}}"

    def without(self, outside_ms: float) -> Cadence:
        """A pause less what a run of the draft spends outside of windows in any case."""
        if self.pause_ms is None or min(outside_ms, self.pause_ms) < 1:
            return self
        less = duration_text(min(outside_ms, self.pause_ms))
        said = f"less {less} that a run spends between windows on the log and what is refused"
        evidence = [replace(each, because=f"{each.because}; {said}") for each in self.evidence]
        pause_ms = max(self.pause_ms - outside_ms, 0.0)
        return replace(self, pause_ms=pause_ms, evidence=evidence)


def cadence_of(
    commits: Sequence[ObservedCommit],
    window: TransactionWindow,
    span_ms: float,
    is_stream: bool,
    excludes_itself: bool = False,
) -> Cadence:
    """The cadence of one group, in a log that spans so long.

    Of a group that `excludes_itself` two jobs at a time may refuse each other.
    """
    together = most_in_flight(commits)
    count = counted("1", "its application id") if is_stream else _count(together, excludes_itself)
    writers = int(count.text)
    begun = sorted(_begun(commit, window) for commit in commits)
    if len(begun) < 2 or span_ms < SHORTEST_SPAN_MS:
        said = f"{many(len(begun), 'commit')} in {duration_text(span_ms)} tell no rate"
        arrival = f"{{open: {{rate: 1 per h{', concurrency: 1' if is_stream else ''}}}}}"
        return Cadence(count, arrival, [assumed("", said)], ASSUMED_RATE)
    own_ms = _own_span(begun, span_ms)
    rate = len(begun) / own_ms
    said = _rate_said(len(begun), own_ms, span_ms)
    period = regular_period(begun, own_ms) if writers == 1 else None
    if period is not None:
        return _timetable(count, period, begun, rate, said)
    if writers == 1 and (is_stream or _is_even(begun)):
        return _one_after_another(count, window, rate, said)
    if together is not None and _busy_share(count, window, rate) > NEVER_IDLE:
        return _without_pause(count, window, rate, said)
    return _by_chance(count, begun, rate, said, together is not None)


def most_in_flight(commits: Sequence[ObservedCommit]) -> int | None:
    """The most transactions of these that ran at one time; `None` where they do not say it.

    One runs from the version after the one that it read to its own.
    """
    steps: dict[int, int] = {}
    for commit in commits:
        if commit.read_version is None:
            return None
        for version, step in ((commit.read_version + 1, 1), (commit.version + 1, -1)):
            steps[version] = steps.get(version, 0) + step
    return max(accumulate(steps[version] for version in sorted(steps)), default=0)


def _count(together: int | None, excludes_itself: bool) -> DraftFigure:
    if together is None:
        said = "its commits do not say which version they read: one writer, of many jobs at a time"
        return counted("1", said)
    writers = min(max(together, 1), MOST_WRITERS)
    if writers == 1:
        said = "by the versions that they read, no two of its jobs ran at a time"
        return counted("1", f"{said} and committed" if excludes_itself else said)
    said = f"by the versions that they read, up to {together} of its jobs ran at a time"
    return counted(str(writers), said)


def _begun(commit: ObservedCommit, window: TransactionWindow) -> float:
    stated = commit.metric(*STATED)
    return commit.timestamp_ms - (window.median_ms if stated is None else stated)


def _own_span(begun: Sequence[float], span_ms: float) -> float:
    """The log's time, or the group's own where it was there for less than two thirds of it."""
    own_ms = (begun[-1] - begun[0]) * len(begun) / max(len(begun) - 1, 1)
    is_short = len(begun) >= FEWEST_REGULAR and own_ms < span_ms * 2 / 3
    return max(own_ms if is_short else span_ms, 1.0)


def _rate_said(count: int, own_ms: float, span_ms: float) -> str:
    since = " in which it was there" if own_ms < span_ms else ""
    rate = rate_interval_text(count, own_ms)
    return f"{many(count, 'commit')} in the {duration_text(own_ms)}{since}: {rate}"


def regular_period(begun: Sequence[float], span_ms: float) -> float | None:
    """The period of a timetable, if the instants point the same way on its circle."""
    if len(begun) < FEWEST_REGULAR:
        return None
    for period in reversed(_PERIODS):
        due = span_ms / period
        if 0.5 * due <= len(begun) <= 1.2 * due + 1 and abs(_direction(begun, period)) > SAME_PHASE:
            return period
    return None


def _direction(begun: Iterable[float], period: float) -> complex:
    """The mean direction of instants on the circle of a period."""
    turns = [cmath.exp(2j * math.pi * instant / period) for instant in begun]
    return sum(turns) / len(turns)


def _timetable(
    count: DraftFigure, period: float, begun: Sequence[float], rate: float, said: str
) -> Cadence:
    phase = cmath.phase(_direction(begun, period)) / (2 * math.pi) % 1 * period
    late = sorted((instant - phase + period / 2) % period - period / 2 for instant in begun)
    spread = late[-1 - len(late) // 20] - late[len(late) // 20]
    jitter_ms = spread if spread > period / 50 else 0.0
    begins = (phase - spread / 2) % period
    missing = max(round((begun[-1] - begun[0]) / period) + 1 - len(begun), 0)
    because = f"{said}; most begin {duration_text(begins)} after each {show_duration(period)} (UTC)"
    if missing:
        because += (
            f"; {missing} of these instants have no commit (skipped, refused, or nothing new)"
        )
    return Cadence(count, "", [fitted("", because)], rate, Timetable(period, begins, jitter_ms))


def _is_even(begun: Sequence[float]) -> bool:
    gaps = [later - earlier for earlier, later in pairwise(begun)]
    return len(gaps) >= FEWEST_REGULAR and stdev(gaps) < EVEN * fmean(gaps)


def _one_after_another(
    count: DraftFigure, window: TransactionWindow, rate: float, said: str
) -> Cadence:
    because = f"{said}; one after the other, with what is left of the mean gap between them"
    pause_ms = _pause_ms(count, window, rate)
    return Cadence(count, "", [fitted("", because)], rate, pause_ms=pause_ms)


def _pause_ms(count: DraftFigure, window: TransactionWindow, rate: float) -> float:
    """What is left of the mean gap of each of so many writers."""
    return max(int(count.text) / rate - window.mean_ms, 0.0)


def _busy_share(count: DraftFigure, window: TransactionWindow, rate: float) -> float:
    """The share of their time that the writers are in a transaction which commits."""
    return rate * window.mean_ms / int(count.text) if window.is_known else 0.0


def _without_pause(
    count: DraftFigure, window: TransactionWindow, rate: float, said: str
) -> Cadence:
    """Writers that have no queue to wait in, since they begin a job as soon as one has ended."""
    share = round(100 * min(_busy_share(count, window, rate), 1.0))
    of = f", of {count.text} writers" if count.text != "1" else ""
    because = (
        f"{said}{of}; in a transaction for {share} % of their time, so each job follows the one"
        " before it, with what is left of the mean gap between them"
    )
    pause_ms = _pause_ms(count, window, rate)
    return Cadence(count, "", [fitted("", because)], rate, pause_ms=pause_ms)


def _by_chance(
    count: DraftFigure, begun: Sequence[float], rate: float, said: str, is_limited: bool
) -> Cadence:
    profile = profile_of(begun)
    if profile is not None:
        rate = len(begun) / profile.mean_hours_ms
        said += _in_mean_hours(len(begun), profile.mean_hours_ms)
    each = rate / int(count.text)
    parts = [f"rate: {rate_text(each, 1.0)}"]
    evidence = [
        counted(parts[0], said + (f", of {count.text} writers" if count.text != "1" else ""))
    ]
    if is_limited:
        parts.append("concurrency: 1")
    if profile is not None:
        parts.append(f"profile: {profile.figure.text}")
        evidence.append(profile.figure)
    return Cadence(count, f"{{open: {{{', '.join(parts)}}}}}", evidence, rate)


def _in_mean_hours(count: int, mean_hours_ms: float) -> str:
    """What a rate with a profile means, which is that of a whole week, and the log is none."""
    as_long = duration_text(mean_hours_ms)
    rate = rate_interval_text(count, mean_hours_ms)
    return f"; as many as {as_long} of a week's mean bring, by the profile: {rate}"
