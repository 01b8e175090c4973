"""A sweep as data: its cells and replications. Replication r has the same seed in every cell."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from whitecap.engine.errors import InvalidInput, Problem, gathered, noted
from whitecap.engine.recorded import SWEEP_FORMAT, AxisRole
from whitecap.sim.loading import cell_of, load_scenario
from whitecap.sim.loading.axis_roles import lightest_first, role_of
from whitecap.sim.loading.objectives import readable_objectives
from whitecap.sim.machine.code_version import code_version
from whitecap.sim.quantities.bounds import MAX_REPLICATIONS
from whitecap.sim.quantities.whole_numbers import seed_or_none, whole_or_none
from whitecap.sim.recording.dataset.place import CELLS
from whitecap.sim.scenario.cells import cell_name
from whitecap.sim.scenario.model import Scenario
from whitecap.sim.scenario.sweep import Axes, axes_as_written, is_shared
from whitecap.sim.scenario.yaml.text import show_document
from whitecap.sim.sweeps.axes import axes_over, chosen_axes
from whitecap.sim.sweeps.planned import PlannedRun

QuickAxes = Mapping[str, Sequence[Any]]
"""Dotted path -> its values."""

NO_SWEEP = (
    "has no sweep: give it `sweep.axes`, or an axis such as --set store.profile=s3,gcs "
    "(axes={'store.profile': ['s3', 'gcs']})"
)


class SweepCell(Struct, frozen=True):
    """One combination of labels: the name of its directory and its scenario."""

    name: str
    labels: Mapping[str, str]
    scenario: Scenario


class Experiment(Struct, frozen=True):
    """A scenario with the axes of its sweep, how often each cell is run, and from which seed."""

    scenario: Scenario
    axes: Axes
    roles: Mapping[str, AxisRole]
    cells: tuple[SweepCell, ...]
    replications: int
    seed: int
    until: tuple[str, ...] = ()
    """How exactly what is to be known; replications are added until it is (`rounds.py`)."""
    most: int | None = None
    begun_with: int | None = None
    """With how many replications it began, where that is known to be fewer."""

    @property
    def fewest(self) -> int:
        """With how many replications it began."""
        begun_with = self.replications if self.begun_with is None else self.begun_with
        return min(begun_with, self.replications)

    def grown(self, replications: int, fewest: int) -> Experiment:
        """The same with as many replications as another has, if these are more, and the fewest of
        both to begin with."""
        return replace(
            self,
            replications=max(self.replications, replications),
            begun_with=min(self.fewest, fewest),
        )

    def definition(self) -> dict[str, Any]:
        """What `sweep.json` holds: everything that decides the results."""
        definition = {
            "format_version": SWEEP_FORMAT,
            "scenario_name": self.scenario.name,
            "scenario_hash": self.scenario.hash,
            "code_version": code_version(),
            "dialect": self.scenario.dialects,
            "seed": self.seed,
            "replications": self.replications,
            **({"begun_with": self.fewest} if self.fewest < self.replications else {}),
            **({"until": self.until, "max_replications": self.most} if self.until else {}),
            "axes": self.axes,
            "axis_roles": self.roles,
            "lightest_first": {
                axis: lightest_first(self.axes[axis], self.scenario.document)
                for axis, role in self.roles.items()
                if role is AxisRole.LOAD
            },
            "objectives": [each.as_row() for each in self.scenario.objectives],
            "cells": [
                {"name": c.name, "labels": dict(c.labels), "scenario_hash": c.scenario.hash}
                for c in self.cells
            ],
            "scenario": {k: v for k, v in self.scenario.document.items() if k != "sweep"},
        }
        plain: dict[str, Any] = json.loads(json.dumps(definition, default=str))
        return plain

    def runs(self, place: str) -> Iterator[PlannedRun]:
        """Every run, one replication of all cells after the other: a sweep that is interrupted
        has then compared as many cells as it could."""
        texts = {cell.name: show_document(cell.scenario.document) for cell in self.cells}
        for replication in range(self.replications):
            for cell in self.cells:
                yield PlannedRun(
                    cell=cell.name,
                    labels=dict(cell.labels),
                    replication=replication,
                    seed=self.seed,
                    scenario=texts[cell.name],
                    scenario_file=f"{place}/{CELLS}/{cell.name}.yaml",
                    code_version=code_version(),
                )


def load_experiment(
    path: Path,
    *,
    quick_axes: QuickAxes | None = None,
    only: Mapping[str, Sequence[Any]] | None = None,
    replications: int | None = None,
    seed: int | None = None,
    objective: Sequence[str] = (),
) -> Experiment:
    """The sweep of a scenario file.

    `quick_axes` (dotted path -> values) are added to the scenario's own axes, but a single value of
    what all cells share (`seed`) is set for all; `only` names the axes to keep and, where given,
    their labels. `objective` takes the place of the scenario's.

    Raises `InvalidInput`: the scenario or one of its cells is wrong, there is no axis, or an axis
    or label to keep does not exist.
    """
    with gathered() as problems:
        with noted(problems):
            seed = seed_or_none(seed)
        count: int | None = None
        with noted(problems):
            count = whole_or_none("replications", replications, 1, MAX_REPLICATIONS)
        readable = readable_objectives(objective, problems)
        shared, given_axes = _apart(quick_axes or {})
        stated = load_scenario(path, shared)
        count = stated.replications if count is None else count
        quick = axes_over(given_axes, problems)
        axes = chosen_axes(stated.axes, only, quick, problems)
        if not (axes or problems):
            problems.append(Problem(str(path), NO_SWEEP))
        scenario = load_scenario(path, shared | _changes_of(stated, axes, count, readable))
    return Experiment(
        scenario=scenario,
        axes=axes,
        roles=_roles(stated, axes, quick),
        cells=_cells(scenario),
        replications=count,
        seed=stated.seed if seed is None else seed,
    )


def _apart(quick_axes: QuickAxes) -> tuple[dict[str, Any], QuickAxes]:
    """What is set for the whole sweep, by a single value, and what makes an axis."""
    shared = {
        path: values[0]
        for path, values in quick_axes.items()
        if is_shared(path) and len(values) == 1
    }
    return shared, {path: v for path, v in quick_axes.items() if path not in shared}


def _changes_of(
    scenario: Scenario, axes: Axes, replications: int, objective: Sequence[str]
) -> dict[str, Any]:
    """The sweep over these axes, and what their cells are held to, as changes."""
    changes: dict[str, Any] = {}
    if axes:
        stated = {axis: role for axis, role in scenario.axis_roles.items() if axis in axes}
        written = axes_as_written(axes, stated)
        changes["sweep"] = {"axes": written, "replications": replications}
    if scenario.expect:
        changes["expect"] = _still_meant(scenario, axes)
    if objective:
        changes["objective"] = list(objective)
    return changes


def _roles(scenario: Scenario, axes: Axes, quick: Axes) -> dict[str, AxisRole]:
    """What is stated of each axis, or follows from all of its variants, kept or not."""
    stated, variants = scenario.axis_roles, {**scenario.axes, **quick}
    return {axis: stated.get(axis) or role_of(variants[axis], scenario.document) for axis in axes}


def _still_meant(scenario: Scenario, axes: Axes) -> list[Any]:
    """The expectations but for those of variants that are left out."""
    return [
        said
        for said, expectation in zip(scenario.document["expect"], scenario.expect, strict=True)
        if all(variant in axes.get(axis, ()) for axis, variant in expectation.when.items())
    ]


def _cells(scenario: Scenario) -> tuple[SweepCell, ...]:
    assert scenario.sweep is not None
    cells: dict[str, SweepCell] = {}
    for labels in scenario.sweep.cells():
        name = cell_name(labels)
        if name in cells:
            earlier = dict(cells[name].labels)
            raise InvalidInput([Problem("sweep.axes", f"{labels} and {earlier} are both {name!r}")])
        cells[name] = SweepCell(name, labels, cell_of(scenario, labels))
    return tuple(cells.values())
