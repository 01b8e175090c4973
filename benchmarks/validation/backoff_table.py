"""What the published simulator of AWS says, and what comes out here, side by side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from msgspec import Struct

from benchmarks.validation.backoff import ALGORITHMS, contest
from whitecap.reports.statistics import Estimate, mean

CONFIDENCE = 0.99

CLOSE = 0.03
"""How far the calls may be off, as a share of the published ones."""

_TO_99 = 2.626 / 1.984
"""From a 95 % margin of 100 samples to a 99 % one (Student's t, 99 degrees of freedom)."""

Figures = tuple[float, float, float, float]
"""Calls and their 95 % margin, milliseconds until all have written and theirs."""

_NAMES = tuple(ALGORITHMS)


def _row(*figures: Figures) -> Mapping[str, Figures]:
    return MappingProxyType(dict(zip(_NAMES, figures, strict=True)))


PUBLISHED: Mapping[int, Mapping[str, Figures]] = MappingProxyType(
    {
        1: _row(*[(1.0, 0, 40, 1)] * 5),
        2: _row(
            (3.0, 0, 81, 1), (3.0, 0, 92, 1), (3.0, 0, 90, 1), (3.0, 0, 86, 1), (3.0, 0, 92, 1),
        ),
        3: _row(
            (6.0, 0, 123, 1), (6.0, 0, 154, 1), (6.0, 0, 147, 1), (6.0, 0, 139, 2),
            (6.0, 0, 154, 3),
        ),
        5: _row(
            (14.9, 0.1, 206, 2), (14.9, 0.1, 353, 5), (14.8, 0.1, 311, 7), (14.1, 0.2, 249, 10),
            (13.8, 0.2, 254, 9),
        ),
        10: _row(
            (50.4, 0.8, 375, 7), (50.8, 0.8, 3419, 258), (42.6, 0.5, 722, 33),
            (39.4, 0.5, 479, 21), (37.8, 0.5, 438, 21),
        ),
        50: _row(
            (688, 3, 1136, 8), (622, 6, 36403, 693), (347.4, 1.2, 4308, 112),
            (333.3, 1.1, 2854, 115), (372.5, 2.4, 2243, 94),
        ),
        100: _row(
            (2415, 6, 2028, 9), (1854, 12, 63841, 813), (812.1, 1.4, 6661, 141),
            (796.2, 1.1, 4972, 101), (1001, 6, 4642, 134),
        ),
    }
)  # fmt: skip
"""By clients and algorithm: 100 samples of the published code, ported to Python 3."""


class Contests(Struct, frozen=True):
    """So many clients with one algorithm: what comes out here, beside the published figures."""

    clients: int
    algorithm: str
    calls: Estimate
    time_ms: Estimate
    published: Figures

    @property
    def calls_off(self) -> float:
        """By which share the calls differ from the published ones."""
        return self.calls.point / self.published[0] - 1

    @property
    def holds(self) -> bool:
        """Whether both intervals overlap with the published ones, and calls are close."""
        calls, margin, time_ms, time_margin_ms = self.published
        return (
            abs(self.calls_off) <= CLOSE
            and _overlap(self.calls, calls, margin)
            and _overlap(self.time_ms, time_ms, time_margin_ms)
        )


def contests(clients: Sequence[int], replications: int) -> Iterator[Contests]:
    """Every algorithm for some of the published numbers of clients."""
    for count in clients:
        for algorithm, published in PUBLISHED[count].items():
            calls, times_ms = estimates(count, algorithm, replications)
            yield Contests(count, algorithm, calls, times_ms, published)


def estimates(clients: int, algorithm: str, replications: int) -> tuple[Estimate, Estimate]:
    """Calls, and milliseconds until all have written."""
    ended = [contest(clients, algorithm, replication) for replication in range(replications)]
    calls = mean([float(each.calls) for each in ended], exposure=1, confidence=CONFIDENCE)
    return calls, mean([each.time_ms for each in ended], confidence=CONFIDENCE)


def _overlap(estimate: Estimate, published: float, margin: float) -> bool:
    """Published figures are rounded: half of their last digit belongs to the margin."""
    rounded = 0.5 if published == round(published) else 0.05
    wide = margin * _TO_99 + rounded
    return estimate.low <= published + wide and published - wide <= estimate.high
