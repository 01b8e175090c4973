"""Which axes of a sweep are load: they set how much work is offered, which nobody can choose.

An axis is known by what its variants set, never by its name: if they differ in the work that is
offered, it is load, and design otherwise. Work is offered by writer groups whose jobs bring data:
how many writers there are, by which arrival their jobs fall due and how often, how many at a time,
for how long, and how many rows each brings. Of a stream the arrival is its trigger, which somebody
chooses; so are the schedules of everything else (OPTIMIZE, REORG, VACUUM, ALTER TABLE, ...), and by
how much jobs of one schedule are apart (`offset`).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import ValidationError

from whitecap.engine.recorded import BRINGING_DATA, AxisRole
from whitecap.sim.loading.dotted_paths import changed
from whitecap.sim.quantities.units import MS_PER, parse_duration
from whitecap.sim.scenario.arrivals import Closed, Open, Schedule, Trace
from whitecap.sim.scenario.model import Document
from whitecap.sim.scenario.sweep import Changes
from whitecap.sim.scenario.vain import commands_of
from whitecap.sim.scenario.writers import WriterGroup

Offer = Mapping[str, Any]
"""Writer group -> all that decides how much work it offers."""


def role_of(variants: Mapping[str, Changes], document: Document) -> AxisRole:
    """What an axis with these variants is, if its scenario is written so and nothing is stated.

    An axis with one variant is compared with the scenario itself. Raises `InvalidInput` for a
    path that the document has no place for.
    """
    offers = [offered(changed(document, changes)) for changes in variants.values()]
    others = offers[1:] or [offered(document)]
    differs = any(other != offers[0] for other in others)
    return AxisRole.LOAD if differs else AxisRole.DESIGN


def lightest_first(variants: Mapping[str, Changes], document: Document) -> list[str]:
    """The variants of an axis by how much work they offer: jobs, and of as many jobs rows.

    Those that offer as much stay in their order. Raises `InvalidInput` as `role_of` does.
    """
    return sorted(variants, key=lambda name: _amount(changed(document, variants[name])))


def _amount(document: Document) -> tuple[float, float]:
    """About how many jobs that bring data fall due, and how many rows they bring."""
    duration_ms = _duration_ms(document)
    amounts = [
        (group.count * group.jobs(duration_ms, 0.0), _rows(group))
        for group in _bringing_data(document)
    ]
    return sum(jobs for jobs, _ in amounts), sum(jobs * rows for jobs, rows in amounts)


def _bringing_data(document: Document) -> Iterator[WriterGroup]:
    for given in _writers(document).values():
        try:
            group = WriterGroup.model_validate(given)
        except ValidationError:
            continue
        if brings_data(group):
            yield group


def _duration_ms(document: Document) -> float:
    try:
        return parse_duration(document.get("duration"))
    except ValueError:
        return MS_PER["h"]


def offered(document: Document) -> Offer:
    """The work that the writers of a scenario offer, group by group."""
    offers = {name: _offer(given) for name, given in _writers(document).items()}
    return {name: offer for name, offer in offers.items() if offer is not None}


def _writers(document: Document) -> Mapping[str, Any]:
    writers = document.get("writers")
    return writers if isinstance(writers, dict) else {}


def _offer(given: Any) -> Any:
    try:
        group = WriterGroup.model_validate(given)
    except ValidationError:
        # Another axis may complete it: what cannot be read is compared as it is written.
        return json.dumps(given, sort_keys=True, default=str)
    if not brings_data(group):
        return None
    active = None if group.stops is None else group.stops - group.starts
    pace = None if group.is_triggered else _pace(group)
    return group.count, pace, _rows(group), active


def brings_data(group: WriterGroup) -> bool:
    """Also if its statement cannot be read, which is told elsewhere."""
    return any(command is None or command in BRINGING_DATA for command in commands_of(group))


def _rows(group: WriterGroup) -> int:
    """How many rows each job brings."""
    rows = sum(each.rows.count for each in group.all_parameters if each.rows)
    return rows + (group.streaming.rows.count if group.streaming else 0)


def _pace(group: WriterGroup) -> Any:
    """How often jobs fall due, and how many of them may run at a time."""
    match group.arrival.chosen:
        case Closed(think=think):
            return "closed", think
        case Open() as arrivals:
            return "open", arrivals
        case Schedule(every=every, at=at, weekdays=weekdays):
            return "schedule", every, at and len(at), weekdays
        case Trace() as trace:
            return "trace", trace
    raise AssertionError("validated: one way is given")
