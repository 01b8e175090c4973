"""All checks of what must agree, in the order in which their problems are told.

They work on those parts that are well formed, so that all problems of a file are told together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

from msgspec import Struct

from whitecap.engine.errors import Problem
from whitecap.sim.loading.checks.clusters import idle_clusters
from whitecap.sim.loading.checks.expectations import expectation_problems
from whitecap.sim.loading.checks.faults import fault_problems
from whitecap.sim.loading.checks.log_stores import log_store_problems
from whitecap.sim.loading.checks.platform import GivenPlatform
from whitecap.sim.loading.checks.prices import costs_without_price
from whitecap.sim.loading.checks.sweep import axes_of
from whitecap.sim.loading.checks.tables import GivenTable, given_tables
from whitecap.sim.loading.checks.well_formed import well_formed, well_formed_items
from whitecap.sim.loading.checks.writers import GivenWriters, writer_problems
from whitecap.sim.scenario.expect import Expectation
from whitecap.sim.scenario.faults import Fault
from whitecap.sim.scenario.objective import (
    StatedObjective,
    listed,
    unknown_writers,
    vain_objectives,
    writers_of_misread,
)
from whitecap.sim.scenario.store import StoreSection
from whitecap.sim.scenario.yaml.text import YamlText


class Parts(Struct, frozen=True):
    """The well formed parts of a scenario; items of lists by their positions.

    Of `misread_objectives` the writer group that each names. `axes` are those of its sweep with
    their variants, `None` where there is no sweep.
    """

    platform: GivenPlatform
    tables: Sequence[GivenTable]
    writers: GivenWriters
    clusters: Sequence[str]
    store: StoreSection | None
    faults: Mapping[int, Fault]
    axes: Mapping[str, Sequence[str]] | None
    expectations: Mapping[int, Expectation]
    objectives: Mapping[int, StatedObjective]
    misread_objectives: Mapping[int, str]
    is_priced: bool

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> Self:
        """Pick what is well formed."""
        clusters = document.get("clusters")
        stated = listed(document.get("objective"))
        objectives = well_formed_items(StatedObjective, stated)
        return cls(
            platform=GivenPlatform.of(document),
            tables=given_tables(document),
            writers=GivenWriters.of(document.get("writers")),
            clusters=tuple(map(str, clusters)) if isinstance(clusters, dict) else (),
            store=well_formed(StoreSection, document.get("store")),
            faults=well_formed_items(Fault, document.get("faults")),
            axes=axes_of(document.get("sweep")),
            expectations=well_formed_items(Expectation, document.get("expect")),
            objectives=objectives,
            misread_objectives=writers_of_misread(stated, objectives),
            is_priced=document.get("price") is not None,
        )


def disagreements(parts: Parts, text: YamlText) -> list[Problem]:
    """Every way in which the parts do not fit together."""
    platform, tables, writers = parts.platform, parts.tables, parts.writers
    problems = [
        *platform.problems(),
        *(wrong for each in tables for wrong in each.problems(platform.dialect, platform.start_ms)),
        *writer_problems(writers, tables, platform),
        *idle_clusters(parts.clusters, writers),
        *fault_problems(parts.faults, writers, parts.store),
        *log_store_problems(writers.groups, parts.store),
        *expectation_problems(parts.expectations, parts.axes, writers, len(tables)),
        *vain_objectives(parts.objectives, writers.names),
        *unknown_writers(parts.misread_objectives, writers.names),
    ]
    if not parts.is_priced:
        problems += costs_without_price(parts.objectives, parts.expectations)
    return text.problems(problems)
