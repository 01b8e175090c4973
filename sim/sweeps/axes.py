"""The axes of a sweep: those of the scenario that are kept, and those that are added."""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping, Sequence
from typing import Any

from whitecap.engine.errors import InvalidInput, Problem, noted, unknown_name
from whitecap.sim.scenario.sweep import Axes


def chosen_axes(
    stated: Axes, only: Mapping[str, Sequence[Any]] | None, quick: Axes, problems: list[Problem]
) -> Axes:
    """The stated axes that are kept, and those that are added; notes which cannot be."""
    axes = dict(quick)
    with noted(problems):
        axes = kept_axes(stated, only) | quick
    problems += _two_axes_for_one_parameter(axes)
    return axes


def kept_axes(axes: Axes, only: Mapping[str, Sequence[Any]] | None) -> Axes:
    """The axes that `only` names, with the labels, or values, that it names; all without it.

    Raises `InvalidInput` for axes and labels that are not there.
    """
    if only is None:
        return dict(axes)
    kept = {name: [_label(value) for value in values] for name, values in only.items()}
    problems = [Problem("", *unknown_name("axis", name, axes)) for name in kept if name not in axes]
    problems += [
        Problem(f"axis {name!r}", *unknown_name("label", label, axes[name]))
        for name, labels in kept.items()
        for label in labels
        if name in axes and label not in axes[name]
    ]
    if problems:
        raise InvalidInput(problems)
    return {
        name: {label: axes[name][label] for label in labels or axes[name]}
        for name, labels in kept.items()
    }


def axes_over(given: Mapping[str, Sequence[Any]], problems: list[Problem]) -> Axes:
    """An axis for each dotted path, with its values by their labels; notes those given twice."""
    axes: Axes = {}
    for dotted, values in given.items():
        labels = [_label(value) for value in values]
        twice = sorted({label for label in labels if labels.count(label) > 1})
        if twice:
            problems.append(Problem(dotted, f"has {', '.join(twice)} more than once"))
        axes[dotted] = {label: {dotted: value} for label, value in zip(labels, values, strict=True)}
    return axes


def _label(value: Any) -> str:
    """How a value is called as a label: `8`, `none`, `date, country`."""
    match value:
        case list() | tuple():
            return ", ".join(str(part) for part in value) or "none"
        case bool() | None:
            return json.dumps(value)
        case dict():
            return json.dumps(value, sort_keys=True)
        case _:
            return str(value)


def _two_axes_for_one_parameter(axes: Axes) -> list[Problem]:
    """Two axes that set one parameter, or a part of it, would silently overrule each other."""
    setting = [
        (dotted, axis)
        for axis, variants in axes.items()
        for dotted in dict.fromkeys(path for changes in variants.values() for path in changes)
    ]
    return [
        Problem(f"axes {axis!r} and {other!r}", f"both set {max(dotted, again, key=len)}")
        for (dotted, axis), (again, other) in itertools.combinations(setting, 2)
        if axis != other and overlap(dotted, again)
    ]


def overlap(path: str, other: str) -> bool:
    """Whether two dotted paths set one parameter, or a part of it."""
    return f"{path}.".startswith(f"{other}.") or f"{other}.".startswith(f"{path}.")
