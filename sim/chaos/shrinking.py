"""Makes a scenario that goes wrong smaller, for as long as it still goes wrong in the same way.

Greedy, as delta debugging (Zeller and Hildebrandt, "Simplifying and isolating failure-inducing
input", IEEE TSE 2002): the largest step is tried first, and after a step that holds, all again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from msgspec import Struct

from whitecap.sim.chaos.parts import scenario_if_any, tables_in, with_writers
from whitecap.sim.chaos.trials import Tell, tell_nobody
from whitecap.sim.loading.dotted_paths import changed
from whitecap.sim.oracles.finding import Finding
from whitecap.sim.quantities.units import parse_duration, show_duration
from whitecap.sim.scenario.model import Document, Scenario

MOST_TRIED = 300
"""Scenarios that are run for one finding: a minute or so of the shipped ones."""

StillFails = Callable[[Scenario], bool | Finding]


class Shrunk(Struct, frozen=True):
    """The smallest that was found, how many were tried for it, and what is wrong with it.

    `finding` is `None` where it is the scenario itself, or goes wrong without one.
    """

    scenario: Scenario
    tried: int
    finding: Finding | None = None


def shrink(
    scenario: Scenario,
    still_fails: StillFails,
    most: int = MOST_TRIED,
    tell: Tell = tell_nobody,
) -> Shrunk:
    """The smallest scenario found that `still_fails`; it itself, if nothing smaller does."""
    smallest, tried = scenario, 0
    finding: Finding | None = None
    progress = True
    while progress and tried < most:
        progress = False
        for candidate in _smaller(smallest.document):
            if tried >= most:
                break
            smaller = None if candidate == smallest.document else scenario_if_any(candidate)
            if smaller is None:
                continue
            tried += 1
            tell(tried)
            wrong = still_fails(smaller)
            if wrong:
                smallest, progress = smaller, True
                finding = wrong if isinstance(wrong, Finding) else None
                break
    return Shrunk(smallest, tried, finding)


def _smaller(document: Document) -> Iterator[Document]:
    """Scenarios with less in them, those with much less first."""
    yield from _without_faults(document)
    yield from _without_writers(document)
    yield from _without_statements(document)
    yield from _with_less_time(document)
    yield from _with_fewer_writers(document)
    yield from _with_fewer_rows(document)
    yield from _simpler(document)


def _without_faults(document: Document) -> Iterator[Document]:
    faults = document.get("faults", [])
    if faults:
        yield {key: part for key, part in document.items() if key != "faults"}
    for position in range(len(faults) if len(faults) > 1 else 0):
        yield {**document, "faults": faults[:position] + faults[position + 1 :]}


def _without_writers(document: Document) -> Iterator[Document]:
    writers = document["writers"]
    for name in writers if len(writers) > 1 else ():
        rest = {other: group for other, group in writers.items() if other != name}
        yield with_writers(document, rest)


def _without_statements(document: Document) -> Iterator[Document]:
    for name, group in document["writers"].items():
        parts = group.get("statements", [])
        for position in range(len(parts) if len(parts) > 1 else 0):
            rest = parts[:position] + parts[position + 1 :]
            fewer = {**document["writers"], name: {**group, "statements": rest}}
            yield with_writers(document, fewer)


def _with_less_time(document: Document) -> Iterator[Document]:
    """All that stops does so earlier, faults too; what is not begun until then was in vain."""
    for share in (0.25, 0.5, 0.8):
        writers = {
            name: {**group, "stops": _scaled(group["stops"], share)} if "stops" in group else group
            for name, group in document["writers"].items()
        }
        yield {**document, "writers": writers}


def _scaled(duration: Any, share: float) -> str:
    return show_duration(max(1.0, float(f"{parse_duration(duration) * share:.3g}")))


def _with_fewer_writers(document: Document) -> Iterator[Document]:
    for name, group in document["writers"].items():
        count = int(group.get("count", 1))
        for fewer in dict.fromkeys((1, count // 2, count - 1)):
            if 0 < fewer < count:
                yield changed(document, {f"writers.{name}.count": fewer})


def _with_fewer_rows(document: Document) -> Iterator[Document]:
    for place, table in tables_in(document).items():
        rows = int(table.get("initial", {}).get("rows", 0))
        for fewer in dict.fromkeys((0, rows // 10, rows // 2)):
            if fewer < rows:
                yield changed(document, {f"{place}.initial.rows": fewer})


SIMPLER_OF_A_TABLE = ("partition_by", "cluster_by", "properties", "isolation")

SIMPLER = ("settings", "load", "dialect")
"""Parts that a scenario can do without."""

SIMPLER_OF_A_WRITER = (
    "restart",
    "rerun",
    "deadline",
    "compute",
    "clock_skew",
    "cluster",
    "dialect",
)


def _simpler(document: Document) -> Iterator[Document]:
    for place in tables_in(document):
        for part in SIMPLER_OF_A_TABLE:
            yield from _without(document, (*place.split("."), part))
    for part in SIMPLER:
        yield from _without(document, (part,))
    for name in document["writers"]:
        for part in SIMPLER_OF_A_WRITER:
            yield from _without(document, ("writers", name, part))
    if document.get("store") != "instant":
        yield {**document, "store": "instant"}


def _without(document: Document, path: tuple[str, ...]) -> Iterator[Document]:
    """The document without that part, if it has it."""
    key, *deeper = path
    if key not in document:
        return
    if not deeper:
        yield {other: part for other, part in document.items() if other != key}
        return
    for smaller in _without(document[key], tuple(deeper)):
        yield {**document, key: smaller}
