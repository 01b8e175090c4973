"""Options of the form `name=value`: changes of a scenario, axes, cells."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from whitecap.engine.errors import InvalidInput, Problem
from whitecap.sim.scenario.yaml_text import read_value


def changes_named(options: Sequence[str]) -> dict[str, Any]:
    """`--set path=value`: dotted paths with their values, which are read as YAML.

    Raises `InvalidInput` for one that is no such thing, or a path that is given twice.
    """
    return _each_once("--set", [_parted(f"--set {text}", text, "PATH=VALUE") for text in options])


def _parted(place: str, text: str, form: str) -> tuple[str, Any]:
    path, equals, value = text.partition("=")
    if not (path.strip() and equals):
        raise InvalidInput([Problem(place, f"is not {form}")])
    return path.strip(), read_value(value, f"--set {path.strip()}")


def values_named(options: Sequence[str]) -> dict[str, list[Any]]:
    """`--set path=v1,v2`: dotted paths with several values each, lists included: `[],[date]`."""
    return _each_once("--set", [_values(text) for text in options])


def _values(text: str) -> tuple[str, list[Any]]:
    path, equals, values = text.partition("=")
    if not (path.strip() and equals and values.strip()):
        raise InvalidInput([Problem(f"--set {text}", "is not PATH=V1,V2,...")])
    listed: list[Any] = read_value(f"[{values}]", f"--set {path.strip()}")
    return path.strip(), listed


def labels_named(options: Sequence[str]) -> dict[str, list[str]]:
    """`--axis name` or `--axis name=label,label`."""
    parted = [text.partition("=") for text in options]
    return {
        name.strip(): [label.strip() for label in labels.split(",") if label.strip()]
        for name, _, labels in parted
    }


def variants_named(options: Sequence[str]) -> dict[str, dict[str, Any]]:
    """`--variant name:path=value`: by their names what they set, which is read as YAML.

    A name alone (`as it is:`) sets nothing. Raises `InvalidInput` for one that is no such thing,
    or a path that a variant sets twice.
    """
    variants: dict[str, list[tuple[str, Any]]] = {}
    for option in options:
        name, colon, change = option.partition(":")
        if not (name.strip() and colon):
            raise InvalidInput([Problem(f"--variant {option}", "is not NAME:PATH=VALUE")])
        changes = variants.setdefault(name.strip(), [])
        if change.strip():
            changes.append(_parted(f"--variant {option}", change, "NAME:PATH=VALUE"))
    return {name: _each_once(f"--variant {name}:", own) for name, own in variants.items()}


def cell_named(options: Sequence[str]) -> dict[str, str] | None:
    """`--cell axis=label,axis=label`: one label per axis; `None` without the option.

    A comma within a label is part of it, unless what follows looks like another axis.
    """
    if not options:
        return None
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
    return _each_once("--cell", labels)


def _each_once(option: str, pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    names = [name for name, _ in pairs]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise InvalidInput([Problem(f"{option} {name}", "is given twice") for name in twice])
    return dict(pairs)
