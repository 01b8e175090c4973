"""A finding's transactions as lanes beside each other, at most 80 columns wide."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from whitecap.sim.chaos.timeline import Lane

BAR = 20
NAME = 18
"""Columns of a bar, and of a name, of which the end is kept: it has the number."""


def lane_lines(lanes: Sequence[Lane]) -> Iterator[str]:
    """One line per transaction: `>` marks those of the finding, `|` the end that was told."""
    if not lanes:
        return
    first = min(lane.began_ms for lane in lanes)
    last = max(lane.began_ms if lane.ended_ms is None else lane.ended_ms for lane in lanes)
    yield f"from {first / 1000:,.1f} s to {last / 1000:,.1f} s; > is of the finding"
    for lane in lanes:
        mark = ">" if lane.is_named else " "
        yield f"{mark} {lane.name[-NAME:]:{NAME}} {_bar(lane, first, last)} {_said(lane)}"


def _bar(lane: Lane, first: float, last: float) -> str:
    scale = (BAR - 1) / max(last - first, 1e-9)
    begin = int((lane.began_ms - first) * scale)
    end = BAR - 1 if lane.ended_ms is None else int((lane.ended_ms - first) * scale)
    closing = ">" if lane.ended_ms is None else "|"
    return (" " * begin + "-" * (end - begin) + closing).ljust(BAR)


def _said(lane: Lane) -> str:
    read = "" if lane.read_version is None else f"read {lane.read_version}, "
    wrote = "".join(f"wrote {version}, " for version in lane.wrote[:1])
    return f"{read}{wrote}{lane.outcome.value.replace('_', ' ')}"
