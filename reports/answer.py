"""The answer on top of a report: which cell gets the most work through, and is that certain?

Cells are ranked by mean goodput; of a sweep that also counts up writers, those with the most.
Whether the best can be told apart from another is decided by their paired difference
(`whitecap.reports.tables.paired_differences`), not by overlapping intervals.
"""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass
from pathlib import Path

from whitecap.reports.layout import Layout
from whitecap.reports.measures import MEASURES, written
from whitecap.reports.statistics import (
    Difference,
    Estimate,
    Statement,
    written_difference,
    written_estimate,
)
from whitecap.reports.tables import Tables, difference_in

RANKED_BY = "goodput_per_minute"
TIE_BROKEN_BY = "wasted_compute_share"


@dataclass(frozen=True, slots=True)
class Answer:
    """`best` and `next` are cells; `tied` are those that cannot be told apart from the best."""

    best: str
    next: str | None
    distinguishable: bool
    tied: tuple[str, ...]
    headline: str
    sentences: tuple[str, ...]

    def write(self, path: Path) -> None:
        """As JSON, for the replay and for scripts."""
        path.parent.mkdir(parents=True, exist_ok=True)
        text = json.dumps(asdict(self), indent=1, ensure_ascii=False)
        path.write_text(text + "\n", encoding="utf-8")


def answer_of(tables: Tables, layout: Layout) -> Answer | None:
    """The answer of a sweep; `None` where there is nothing to compare."""
    goodput = tables.of(RANKED_BY)
    compared = _under_most_load(layout)
    known = {
        cell: interval
        for cell, interval in goodput.items()
        if cell in compared and not math.isnan(interval.point)
    }
    ranked = sorted(known, key=lambda cell: -known[cell].point)
    if len(ranked) < 2:
        return None
    best, following = ranked[0], ranked[1]
    differences = {cell: difference(tables, RANKED_BY, best, cell) for cell in ranked[1:]}
    tied = tuple(cell for cell, each in differences.items() if not each.is_distinguishable)
    return Answer(
        best=best,
        next=following,
        distinguishable=differences[following].is_distinguishable,
        tied=tied,
        headline=_headline(layout.title(best), len(tied), goodput[best].is_known),
        sentences=tuple(_sentences(tables, layout, ranked, differences, tied)),
    )


def _under_most_load(layout: Layout) -> set[str]:
    """The cells to compare: of a sweep that also counts up writers, those with the most.

    More writers get more work through whatever the layout; which layout bears them is the question.
    """
    axis = layout.numeric
    if axis is None or not _counts_writers(axis) or layout.varying == (axis,):
        return {cell.name for cell in layout.cells}
    most = max(layout.axes[axis], key=float)
    return {cell.name for cell in layout.cells if cell.labels.get(axis) == most}


def _counts_writers(axis: str) -> bool:
    return axis == "writers" or axis.endswith(".count")


def _headline(title: str, tied: int, has_intervals: bool) -> str:
    if not (tied and has_intervals):
        return f"Best by goodput: {title}"
    others = "one other" if tied == 1 else f"{tied} others"
    return f"Best by goodput, though not distinguishable from {others}: {title}"


def difference(tables: Tables, measure: str, first: str, second: str) -> Difference:
    """The paired difference `first - second` of a measure."""
    frame = tables.differences[tables.differences["measure"] == measure]
    for a, b in ((first, second), (second, first)):
        found = frame[(frame["first"] == a) & (frame["second"] == b)].to_dict("records")
        if found:
            gap = difference_in(found[0])
            return gap if a == first else -gap
    return Difference(math.nan, math.nan, math.nan, Statement.NONE, 0)


def _sentences(
    tables: Tables,
    layout: Layout,
    ranked: list[str],
    differences: dict[str, Difference],
    tied: tuple[str, ...],
) -> list[str]:
    best, following, worst = ranked[0], ranked[1], ranked[-1]
    goodput = tables.of(RANKED_BY)
    sentences = [_of_best(goodput[best])]
    sentences.append(_of_next(layout.title(following), goodput[following], differences[following]))
    if tied and goodput[best].is_known:
        sentences.append(_of_tied(tables, layout, best, tied))
    conflicts = tables.of("conflict_rate")
    sentences.append(
        f"Of its attempts to commit {_value('conflict_rate', conflicts[best])} are refused by a "
        f"conflict check; in {layout.title(worst)}, the lowest in goodput "
        f"({_value(RANKED_BY, goodput[worst])}), it is "
        f"{_value('conflict_rate', conflicts[worst])}."
    )
    return sentences


def _of_best(estimate: Estimate) -> str:
    unit = MEASURES[RANKED_BY].unit
    if estimate.statement is Statement.NONE:
        return (
            f"Goodput is {written(estimate.point, unit)}. One replication says nothing about "
            "chance: run at least five for intervals."
        )
    return f"Goodput is {written_estimate(estimate, unit)}, with 95 % confidence."


def _of_next(title: str, interval: Estimate, gap: Difference) -> str:
    unit = MEASURES[RANKED_BY].unit
    text = f"The next, {title}, reaches {written(interval.point, unit)}"
    if gap.statement is Statement.NONE:
        return f"{text}."
    verdict = (
        "which is distinguishably less"
        if gap.is_distinguishable
        else "which cannot be told apart from the best"
    )
    return f"{text}, {verdict}: the paired difference is {written_difference(gap, unit)}."


def _of_tied(tables: Tables, layout: Layout, best: str, tied: tuple[str, ...]) -> str:
    wasted = tables.of(TIE_BROKEN_BY)
    alike = [best, *tied]
    least = min(alike, key=lambda cell: wasted[cell].point)
    whose = "the best itself" if least == best else layout.title(least)
    return (
        f"Of the {len(alike)} cells that cannot be told apart by goodput, {whose} wastes the least "
        f"compute: {_value(TIE_BROKEN_BY, wasted[least])}."
    )


def _value(measure: str, estimate: Estimate) -> str:
    return written(estimate.point, MEASURES[measure].unit)
