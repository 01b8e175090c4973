"""Options of the form `name=value`: changes of a scenario, axes, cells.

What is wrong with one hides nothing of the others: it is added to `problems`, and they are read.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from whitecap.engine.errors import InvalidInput, Problem, each_read, gathered
from whitecap.sim.scenario.cells import CellChoice, Labels
from whitecap.sim.scenario.yaml.text import read_value

T = TypeVar("T")


def changes_named(options: Sequence[str], problems: list[Problem]) -> dict[str, Any]:
    """`--set path=value`: dotted paths with their values, which are read as YAML.

    One that is no such thing is a problem, and a path that is given twice.
    """

    def parted(text: str) -> tuple[str, Any]:
        return _parted(f"--set {text}", text, "PATH=VALUE")

    return _each_once("--set", options, parted, problems)


def _parted(place: str, text: str, form: str) -> tuple[str, Any]:
    path, equals, value = text.partition("=")
    if not (path.strip() and equals):
        raise InvalidInput([Problem(place, f"is not {form}")])
    return path.strip(), read_value(value, f"--set {path.strip()}")


def values_named(options: Sequence[str], problems: list[Problem]) -> dict[str, list[Any]]:
    """`--set path=v1,v2`: dotted paths with several values each, lists included: `[],[date]`."""
    return _each_once("--set", options, _values, problems)


def _values(text: str) -> tuple[str, list[Any]]:
    path, equals, values = text.partition("=")
    if not (path.strip() and equals and values.strip()):
        raise InvalidInput([Problem(f"--set {text}", "is not PATH=V1,V2,...")])
    listed: list[Any] = read_value(f"[{values}]", f"--set {path.strip()}")
    return path.strip(), listed


def labels_named(options: Sequence[str], problems: list[Problem]) -> dict[str, list[str]]:
    """`--axis name` or `--axis name=label,label`: by the axis what is said of its labels.

    An axis may be given again for more labels, each of which may have commas (`kept_axes` tells
    them apart). One that is given with and without labels is a problem.
    """
    axes: dict[str, list[str]] = {}
    for option in options:
        name, _, labels = option.partition("=")
        axes.setdefault(name.strip(), []).append(labels.strip())
    problems += [
        Problem(f"--axis {name}", "is given with and without labels")
        for name, given in axes.items()
        if any(given) and not all(given)
    ]
    return {name: list(filter(None, given)) for name, given in axes.items()}


def variants_named(options: Sequence[str], problems: list[Problem]) -> dict[str, dict[str, Any]]:
    """`--variant name:path=value`: by their names what they set, which is read as YAML.

    A name alone (`as it is:`) sets nothing. One that is no such thing is a problem, and a path that
    a variant sets twice.
    """
    variants: dict[str, list[str]] = {}
    for option in options:
        name, colon, change = option.partition(":")
        if not (name.strip() and colon):
            problems.append(Problem(f"--variant {option}", "is not NAME:PATH=VALUE"))
            continue
        variants.setdefault(name.strip(), []).extend([change] if change.strip() else [])
    return {
        name: _set_by(f"--variant {name}:", changes, problems) for name, changes in variants.items()
    }


def _set_by(option: str, changes: Sequence[str], problems: list[Problem]) -> dict[str, Any]:
    def parted(text: str) -> tuple[str, Any]:
        return _parted(f"{option}{text}", text, "NAME:PATH=VALUE")

    return _each_once(option, changes, parted, problems)


def cell_named(options: Sequence[str]) -> CellChoice | None:
    """`--cell axis=label,axis=label`, or the name of a cell alone; `None` without the option.

    A comma within a label is part of it, unless what follows looks like another axis. Raises
    `InvalidInput`: a part of a cell is none.
    """
    match options:
        case []:
            return None
        case [name] if "=" not in name:
            return name.strip()
        case _:
            return _labels_named(options)


def _labels_named(options: Sequence[str]) -> Labels:
    labels: list[tuple[str, str]] = []
    for option in options:
        for part in option.split(","):
            axis, equals, label = part.partition("=")
            if equals:
                labels.append((axis.strip(), label.strip()))
            elif labels:
                axis, begun = labels[-1]
                labels[-1] = axis, f"{begun},{part}".rstrip()
            else:
                raise InvalidInput([Problem(f"--cell {option}", "is not AXIS=LABEL,...")])
    with gathered() as problems:
        return _each_once("--cell", labels, lambda pair: pair, problems)


def _each_once(
    option: str,
    given: Sequence[T],
    read: Callable[[T], tuple[str, Any]],
    problems: list[Problem],
) -> dict[str, Any]:
    """What is given by names, each of which is given once."""
    pairs = each_read(given, read, problems)
    names = [name for name, _ in pairs]
    twice = sorted({name for name in names if names.count(name) > 1})
    problems += [Problem(f"{option} {name}", "is given twice") for name in twice]
    return dict(pairs)
