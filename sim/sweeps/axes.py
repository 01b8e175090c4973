"""The axes of a sweep: those of the scenario that are kept, and those that are added."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from whitecap.engine.errors import InvalidInput, Problem, noted, unknown_name
from whitecap.sim.scenario.sweep import Axes, is_shared, shared_by_all_cells


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

    One text may name several labels, parted by commas. Raises `InvalidInput` for axes and labels
    that are not there.
    """
    if only is None:
        return dict(axes)
    kept = {
        name: [label for value in values for label in _labels_in(_label(value), axes.get(name, ()))]
        for name, values in only.items()
    }
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


def _labels_in(text: str, labels: Iterable[str]) -> list[str]:
    """The labels that a text names: itself, or the longest ones that its commas part.

    What is none of them is given as it is. A label's own commas part nothing.
    """
    by_parts = {_parts(label): label for label in labels}
    if text in by_parts.values():
        return [text]
    named: list[str] = []
    left = _parts(text)
    while left:
        lengths = range(len(left), 0, -1)
        length = next((n for n in lengths if left[:n] in by_parts), 1)
        named.append(by_parts.get(left[:length], left[0]))
        left = left[length:]
    return list(filter(None, named))


def _parts(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(","))


def axes_over(given: Mapping[str, Sequence[Any]], problems: list[Problem]) -> Axes:
    """An axis for each dotted path, with its values by their labels.

    Notes values given twice, and paths that no two cells can differ in.
    """
    axes: Axes = {}
    problems += shared_by_all_cells(given)
    for dotted, values in given.items():
        if is_shared(dotted):
            continue
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
