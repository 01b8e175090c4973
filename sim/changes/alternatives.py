"""What a user allows to be changed, as the changes that there are of it.

A kind (`partitioning`, `retries`, ...) stands for the alternatives that follow from the scenario,
an axis of its sweep for its labels. Each alternative is a set of dotted paths.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from whitecap.engine.dialects import Vendor, newest
from whitecap.engine.errors import InvalidInput, Problem, unknown_name
from whitecap.engine.log.properties import DELETION_VECTORS
from whitecap.engine.log.schema import parse_ddl
from whitecap.engine.values.types import INSTANT_TYPES
from whitecap.sim.loading.axis_roles import brings_data
from whitecap.sim.quantities.units import show_duration
from whitecap.sim.scenario.model import Scenario
from whitecap.sim.scenario.sweep import Axes, Changes
from whitecap.sim.scenario.table import TableSection
from whitecap.sim.sweeps.variants import plain_of

Labelled = Iterator[tuple[str, Changes]]

BUDGETS = (0, 1, 3, 10)
"""How often a job may be run again."""

BASE_MS, CAP_MS = 2_000.0, 60_000.0
"""Of the wait before a job is run again, where the scenario has no policy that grows."""


class Alternatives(Struct, frozen=True):
    """By kind the changes that are allowed, by what they are called; and what is refused, why."""

    kinds: Mapping[str, Mapping[str, Changes]]
    refused: Mapping[str, str]

    @property
    def designs(self) -> int:
        """How many combinations there are, the one that stands included."""
        count = 1
        for labels in self.kinds.values():
            count *= 1 + len(labels)
        return count


def alternatives_of(scenario: Scenario, allowed: Sequence[str]) -> Alternatives:
    """Of these kinds and axes those that give another scenario, and one that can be run.

    Without any, of those that the scenario's `may_change` names. Raises `InvalidInput` for what is
    neither kind nor axis, or where nothing is left.
    """
    place = "allow" if allowed else f"{scenario.source} may_change"
    allowed, axes = allowed or scenario.may_change, scenario.axes
    choices = dict.fromkeys((*KINDS, *axes))
    if unknown := [name for name in allowed if name not in choices]:
        raise InvalidInput(_unknown(place, unknown, choices))
    if not allowed:
        said = "say what may be changed, here or as `may_change:` in the scenario"
        raise InvalidInput([Problem("allow", f"{said}: {', '.join(choices)}")])
    alternatives = _alternatives(scenario, dict.fromkeys(allowed), axes)
    if not alternatives.kinds:
        refusals = "; ".join(f"{label}: {why}" for label, why in alternatives.refused.items())
        reason = "leaves nothing to change" + (f" ({refusals})" if refusals else "")
        raise InvalidInput([Problem(f"{place} {', '.join(allowed)}", reason)])
    return alternatives


def _alternatives(scenario: Scenario, allowed: Iterable[str], axes: Axes) -> Alternatives:
    """Those of each kind or axis that can be run, each scenario once."""
    kinds: dict[str, dict[str, Changes]] = {}
    refused: dict[str, str] = {}
    seen = {plain_of(scenario, {}).hash}
    for name in allowed:
        given = axes[name].items() if name in axes else KINDS[name](scenario)
        for label, changes in given:
            try:
                made = plain_of(scenario, changes).hash
            except InvalidInput as error:
                refused[label] = error.problems[0].text
                continue
            if made not in seen:
                seen.add(made)
                kinds.setdefault(name, {})[label] = changes
    return Alternatives(kinds, refused)


def _unknown(place: str, unknown: Sequence[str], choices: Iterable[str]) -> list[Problem]:
    said = "kind of change or axis"
    return [Problem(place, *unknown_name(said, name, choices)) for name in unknown]


def _tables(scenario: Scenario) -> Iterator[tuple[str, TableSection]]:
    """Each with the dotted path of its section."""
    if scenario.table is not None:
        yield "table", scenario.table
    for name, table in scenario.tables.items():
        yield f"tables.{name}", table


def _partitioning(scenario: Scenario) -> Labelled:
    for path, table in _tables(scenario):
        unclustered: Changes = {f"{path}.cluster_by": []}
        yield f"{table.name} unpartitioned", {f"{path}.partition_by": [], **unclustered}
        for column in _listed_values(table):
            changes = {f"{path}.partition_by": [column], **unclustered}
            yield f"{table.name} partitioned by {column}", changes


def _listed_values(table: TableSection) -> Iterator[str]:
    """Columns of which values are listed, and not only the days of instants."""
    columns = parse_ddl(table.columns).select(tuple(table.values))
    return (column.name for column in columns if column.type not in INSTANT_TYPES)


def _clustering(scenario: Scenario) -> Labelled:
    for path, table in _tables(scenario):
        for column in (*table.values, *([table.key] if table.key else [])):
            changes = {f"{path}.cluster_by": [column], f"{path}.partition_by": []}
            yield f"{table.name} clustered by {column}", changes


def _isolation(scenario: Scenario) -> Labelled:
    for path, table in _tables(scenario):
        for level in ("WriteSerializable", "Serializable"):
            yield f"{table.name} {level}", {f"{path}.isolation": level}


def _row_level(scenario: Scenario) -> Labelled:
    """Deletion vectors on Databricks, and where the table is partitioned without that, too."""
    name = newest(Vendor.DATABRICKS).name
    for path, table in _tables(scenario):
        properties = {**table.properties, DELETION_VECTORS.key: True}
        changes = {"dialect": name, f"{path}.properties": properties}
        label = f"{table.name} with deletion vectors on {name}"
        yield label, changes
        if table.partition_by:
            yield f"{label}, unpartitioned", {**changes, f"{path}.partition_by": []}


def _retries(scenario: Scenario) -> Labelled:
    """All groups by the same number of tries, each with its own waits if they grow."""
    for budget in BUDGETS:
        changes: dict[str, Any] = {}
        for name, group in scenario.writers.items():
            own = group.rerun.exponential
            changes[f"writers.{name}.rerun"] = {
                "exponential": {
                    "base": show_duration(BASE_MS if own is None else own.base),
                    "cap": show_duration(CAP_MS if own is None else own.cap),
                    "jitter": "full" if own is None else own.jitter,
                    "budget": budget,
                    "after_unknown": own is not None and own.after_unknown,
                }
            }
        times = "never" if not budget else f"at most {budget} time{'s' if budget > 1 else ''}"
        yield f"jobs run again {times}", changes


def _schedules(scenario: Scenario) -> Labelled:
    """Of every group with a schedule another beginning; of those that bring no data, more or less
    often too."""
    for name, group in scenario.writers.items():
        schedule = group.arrival.schedule
        if schedule is None or schedule.every is None:
            continue
        path = f"writers.{name}.arrival.schedule"
        for part in (1, 2, 3):
            offset = (schedule.offset + schedule.every * part / 4) % schedule.every
            shown = show_duration(round(offset))
            yield f"{name} {shown} into its period", {f"{path}.offset": shown}
        if not brings_data(group):
            for factor in (0.5, 2.0):
                shown = show_duration(round(schedule.every * factor))
                yield f"{name} every {shown}", {f"{path}.every": shown}


KINDS: Mapping[str, Callable[[Scenario], Labelled]] = {
    "partitioning": _partitioning,
    "clustering": _clustering,
    "isolation": _isolation,
    "row-level": _row_level,
    "retries": _retries,
    "schedules": _schedules,
}
"""What may be allowed by name."""
