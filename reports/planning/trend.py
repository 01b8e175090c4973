"""Is the response monotone, as a boundary takes for granted? The estimates may say otherwise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from whitecap.reports.answers.objectives import Held
from whitecap.reports.answers.phrases import held_text
from whitecap.reports.estimates import estimated
from whitecap.reports.planning.trying import Quantity, TriedValue
from whitecap.reports.statistics import EstimatedDifference, Standing, confidence_of, difference

_Step = tuple[int, int]
"""Two neighbouring positions that were tried."""


def contradictions(tried: Mapping[int, TriedValue], labels: Sequence[str]) -> tuple[str, ...]:
    """Warnings where what decides moves both ways along the parameter, or two things apart.

    By paired differences of neighbouring values, corrected for their number; objectives that are
    met everywhere decide nothing and may move as they like.
    """
    followed = _deciding(tried)
    steps = sum(len(along) - 1 for along in followed.values())
    if not steps:
        return ()
    confidence = confidence_of(steps)
    better: list[Held] = []
    worse: list[Held] = []
    warnings: list[str] = []
    for held, along in followed.items():
        ups, downs = _moves(along, confidence)
        if ups and downs:
            warnings.append(_both_ways(held, ups[0], downs[0], labels))
        elif ups or downs:
            (better if ups else worse).append(held)
    if better and worse:
        warnings.append(
            f"{held_text(better[0])} gets better with the value and {held_text(worse[0])} worse: "
            "what holds may have two ends, and this is one of them"
        )
    return tuple(warnings)


def _deciding(tried: Mapping[int, TriedValue]) -> dict[Held, dict[int, Quantity]]:
    """What is not met everywhere, by position."""
    by_held: dict[Held, dict[int, Quantity]] = {}
    for at, value in sorted(tried.items()):
        for quantity in value.judged:
            by_held.setdefault(quantity.held, {})[at] = quantity
    return {
        held: along
        for held, along in by_held.items()
        if any(each.standing is not Standing.MET for each in along.values())
    }


def _moves(along: Mapping[int, Quantity], confidence: float) -> tuple[list[_Step], list[_Step]]:
    """Between which neighbours it gets better for sure, and between which worse."""
    better: list[_Step] = []
    worse: list[_Step] = []
    for (at, quantity), (after, other) in pairwise(along.items()):
        gap = _gap(quantity, other, confidence)
        if gap is not None and gap.is_distinguishable:
            (better if other.margin > quantity.margin else worse).append((at, after))
    return better, worse


def _gap(quantity: Quantity, other: Quantity, confidence: float) -> EstimatedDifference | None:
    """The difference over the replications that both have."""
    both = min(len(quantity.tallies), len(other.tallies))
    measure = quantity.held.measure
    first, second = (estimated(measure, each.tallies[:both]) for each in (quantity, other))
    try:
        return difference(first, second, confidence=confidence)
    except ValueError:
        return None


def _both_ways(held: Held, up: _Step, down: _Step, labels: Sequence[str]) -> str:
    return (
        f"{held_text(held)} gets better from {_from_to(up, labels)} and worse from "
        f"{_from_to(down, labels)}: it is not monotone, as the interval assumes"
    )


def _from_to(step: _Step, labels: Sequence[str]) -> str:
    return f"{labels[step[0]]} to {labels[step[1]]}"
