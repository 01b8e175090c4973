"""YAML with the line of every key, so that a problem can say where it is."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from whitecap.engine.errors import InvalidInput, Problem

Place = tuple[str | int, ...]
"""The keys and list positions that lead to a value."""


class YamlText:
    """A parsed YAML file: its `content`, and where each part of it stands."""

    def __init__(self, text: str, name: str, path: str = "") -> None:
        self.name = name
        self.path = path
        root = _compose(text, name)
        self._lines: dict[Place, int] = {} if root is None else dict(_lines_of(root, ()))
        twice = [] if root is None else list(_duplicates(root, (), name))
        if twice:
            raise InvalidInput(twice)
        self.content: Any = yaml.safe_load(text)

    def where(self, place: Place) -> str:
        """`file:line path` of the nearest part that the file has; changes made later have none."""
        known = self._known(place)
        path = ".".join(str(part) for part in known)
        return f"{self.name}:{self._lines.get(known, 1)} {path}".rstrip()

    def _known(self, place: Place) -> Place:
        """`place` without the parts that validation adds and the file does not spell out."""
        known: Place = ()
        for part in place:
            if (*known, part) in self._lines:
                known = (*known, part)
        return known


def read_yaml(path: Path) -> YamlText:
    """Read a YAML file. Raises `InvalidInput` if it is not there or is not YAML."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InvalidInput([Problem(str(path), f"cannot be read: {reason}")]) from error
    return YamlText(text, path.name, str(path))


def _compose(text: str, name: str) -> yaml.Node | None:
    try:
        node: yaml.Node | None = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f"{name}:{mark.line + 1}" if mark else name
        reason = getattr(error, "problem", None) or str(error)
        raise InvalidInput([Problem(place, f"is not YAML: {reason}")]) from error
    return node


def _lines_of(node: yaml.Node, place: Place) -> Iterator[tuple[Place, int]]:
    match node:
        case yaml.MappingNode():
            for key, value in node.value:
                yield (*place, key.value), key.start_mark.line + 1
                yield from _lines_of(value, (*place, key.value))
        case yaml.SequenceNode():
            for position, item in enumerate(node.value):
                yield (*place, position), item.start_mark.line + 1
                yield from _lines_of(item, (*place, position))


def _duplicates(node: yaml.Node, place: Place, name: str) -> Iterator[Problem]:
    match node:
        case yaml.MappingNode():
            seen: set[str] = set()
            for key, value in node.value:
                inner = (*place, key.value)
                if key.value in seen:
                    path = ".".join(str(part) for part in inner)
                    yield Problem(f"{name}:{key.start_mark.line + 1} {path}", "is given twice")
                seen.add(key.value)
                yield from _duplicates(value, inner, name)
        case yaml.SequenceNode():
            for position, item in enumerate(node.value):
                yield from _duplicates(item, (*place, position), name)
