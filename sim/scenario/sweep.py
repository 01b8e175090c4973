"""The `sweep:` of a scenario: axes of variants, each a set of changes to the scenario."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import product
from math import prod
from typing import Any, Final, Self

from pydantic import (
    Field,
    ModelWrapValidatorHandler,
    PrivateAttr,
    ValidationError,
    field_validator,
    model_validator,
)
from pydantic_core import InitErrorDetails

from whitecap.engine.errors import Problem
from whitecap.engine.recorded import AxisRole
from whitecap.sim.quantities.bounds import MAX_CELLS, MAX_REPLICATIONS
from whitecap.sim.quantities.names import too_long
from whitecap.sim.quantities.section import Section
from whitecap.sim.quantities.units import Whole
from whitecap.sim.scenario.cells import CellChoice, Labels, cell_name, chosen_cell, whole_labels

Changes = Mapping[str, Any]
"""Dotted path in the scenario file -> the value to put there."""

Axes = dict[str, dict[str, dict[str, Any]]]
"""Axis -> variant -> its changes."""


DEFAULT_REPLICATIONS = 5
"""Of a scenario that says nothing: the t quantile falls fast up to four degrees of freedom."""

ROLE = "role"
"""The key of an axis that names no variant but says what the axis is: `role: load`."""

SHARED_BY_ALL_CELLS: Final[Mapping[str, str]] = {
    "seed": "replication by replication: --seed takes another, --replications makes more runs",
    "objective": "by one objective: --objective takes another for all",
    "expect": "and says itself by `when` which cells are meant",
    "may_change": "",
    "name": "",
    "format_version": "",
    "sweep": "",
}
"""Keys of a scenario that belong to a sweep as a whole -> what to use instead of an axis."""


class SweepSection(Section):
    """A grid: every combination of one variant per axis, each run `replications` times."""

    axes: Axes = Field(min_length=1)
    replications: Whole = Field(default=DEFAULT_REPLICATIONS, ge=1, le=MAX_REPLICATIONS)

    _roles: dict[str, AxisRole] = PrivateAttr(default_factory=dict)

    @model_validator(mode="wrap")
    @classmethod
    def _roles_apart(cls, given: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:
        axes = given.get("axes") if isinstance(given, dict) else None
        if not isinstance(axes, dict):
            return handler(given)
        stated = {
            axis: variants[ROLE]
            for axis, variants in axes.items()
            if isinstance(variants, dict) and ROLE in variants
        }
        _refuse_other_roles(stated)
        plain = {axis: _without_role(variants) for axis, variants in axes.items()}
        sweep = handler({**given, "axes": plain})
        sweep._roles = {axis: AxisRole(role) for axis, role in stated.items()}
        return sweep

    @property
    def roles(self) -> Mapping[str, AxisRole]:
        """The roles that are stated, by their axis."""
        return self._roles

    @field_validator("axes")
    @classmethod
    def _set_what_may_differ(cls, axes: Axes) -> Axes:
        wrong = [
            InitErrorDetails(
                type="value_error",
                loc=(axis, variant, problem.place),
                input=None,
                ctx={"error": ValueError(problem.text)},
            )
            for axis, variants in axes.items()
            for variant, changes in variants.items()
            for problem in shared_by_all_cells(changes)
        ]
        if wrong:
            raise ValidationError.from_exception_data(SweepSection.__name__, wrong)
        return axes

    @field_validator("axes")
    @classmethod
    def _cells_to_run(cls, axes: Axes) -> Axes:
        empty = [name for name, variants in axes.items() if not variants]
        if empty:
            raise ValueError(f"axis without variants: {', '.join(empty)}")
        cells = prod(len(variants) for variants in axes.values())
        if cells > MAX_CELLS:
            raise ValueError(f"{cells:,} cells are more than {MAX_CELLS:,}")
        if said := too_long(_longest_name(axes)):
            raise ValueError(f"shorten labels, which make the names of cells: {said}")
        return axes

    def cells(self) -> list[dict[str, str]]:
        """Every combination, as axis -> name of the variant."""
        names = [list(variants) for variants in self.axes.values()]
        return [dict(zip(self.axes, combination, strict=True)) for combination in product(*names)]

    def cell(self, choice: CellChoice) -> Labels:
        """One of `cells`, asked for by its labels or its name.

        Raises `InvalidInput`: there is no such cell, or an axis is left open.
        """
        if not isinstance(choice, str):
            return whole_labels(choice, self.axes)
        named = {cell_name(labels): labels for labels in self.cells()}
        return named[chosen_cell(choice, named)]

    def places(self, cell: Labels) -> dict[str, tuple[str, ...]]:
        """Where each of a cell's changes stands, below `sweep`."""
        return {
            path: ("axes", axis, variant, path)
            for axis, variant in cell.items()
            for path in self.axes[axis][variant]
        }

    def changes(self, cell: Labels) -> dict[str, Any]:
        """All changes of a cell together."""
        together: dict[str, Any] = {}
        for axis, variant in cell.items():
            together.update(self.axes[axis][variant])
        return together


def is_shared(path: str) -> bool:
    """Whether a dotted path is one of the `SHARED_BY_ALL_CELLS`, or a part of one."""
    return path.partition(".")[0] in SHARED_BY_ALL_CELLS


def shared_by_all_cells(paths: Iterable[str]) -> list[Problem]:
    """Those of these dotted paths that nothing that is compared can differ in, and why."""
    return [
        Problem(path, f"is the same in all that is compared{said and ', '}{said}")
        for path in paths
        if is_shared(path)
        for said in [SHARED_BY_ALL_CELLS[path.partition(".")[0]]]
    ]


def _longest_name(axes: Axes) -> str:
    """Of all cells the one whose labels are longest."""
    return cell_name({axis: max(labels, key=_bytes) for axis, labels in axes.items()})


def _bytes(label: str) -> int:
    return len(cell_name({"": label}).encode())


def _without_role(variants: Any) -> Any:
    if not isinstance(variants, dict):
        return variants
    return {name: changes for name, changes in variants.items() if name != ROLE}


def _refuse_other_roles(stated: Mapping[str, Any]) -> None:
    wrong = [
        InitErrorDetails(
            type="enum",
            loc=("axes", axis, ROLE),
            input=role,
            ctx={"expected": ", ".join(f"'{member}'" for member in AxisRole)},
        )
        for axis, role in stated.items()
        if role not in list(AxisRole)
    ]
    if wrong:
        raise ValidationError.from_exception_data(SweepSection.__name__, wrong)


def axes_as_written(
    axes: Mapping[str, Mapping[str, Changes]], roles: Mapping[str, AxisRole]
) -> dict[str, dict[str, Any]]:
    """Axes as a scenario file holds them, with the roles that are stated of them."""
    return {
        axis: {**({ROLE: roles[axis].value} if axis in roles else {}), **variants}
        for axis, variants in axes.items()
    }
