"""YAML with the line of every key, so that a problem can say where it is."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from copy import copy
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml
from yaml.constructor import ConstructorError

from whitecap.engine.errors import InvalidInput, Problem, unreadable
from whitecap.sim.scenario.yaml.loader import MAX_BYTES, Loader

KeyPath = tuple[str | int, ...]
"""The keys and list positions that lead to a value."""

PlacedProblem = tuple[KeyPath, str, str | None]
"""What is wrong at a place of a scenario, and the nearest valid name if there is one.

The place is relative to the part that was checked; `within` puts that part's own place before it.
"""


def within(place: KeyPath, problems: Iterable[PlacedProblem]) -> Iterator[PlacedProblem]:
    """The problems of the part at `place`, with places relative to what holds that part."""
    for inner, text, nearest_name in problems:
        yield (*place, *inner), text, nearest_name


class YamlText:
    """A parsed YAML file: its `content`, and where each part of it stands.

    Raises `InvalidInput`: not YAML, larger or deeper than anybody needs.
    """

    def __init__(self, text: str, name: str, path: str = "") -> None:
        self.name = name
        self.path = path
        self._has_lines = True
        self._lines: dict[KeyPath, int] = {}
        self._changed: list[KeyPath] = []
        self._set_at: dict[KeyPath, KeyPath] = {}
        self.repeated_keys: list[Problem] = []
        """Keys that are given twice: who reads `last_given` tells of them."""
        self.last_given: Any = self._read(text)
        """The content, as if only the last of keys given twice were there."""

    @property
    def content(self) -> Any:
        """What the file says. Raises `InvalidInput` where it gives a key twice."""
        if self.repeated_keys:
            raise InvalidInput(self.repeated_keys)
        return self.last_given

    @classmethod
    def unwritten(cls, content: Any, name: str) -> YamlText:
        """Of what never was a text: its parts have places and no lines."""
        text = cls("", name)
        text.last_given = content
        text._has_lines = False
        return text

    def where(self, place: KeyPath) -> str:
        """`file:line path` of the nearest part that the file has; what was set has no line."""
        if any(self._is_set_by(changed, place) for changed in self._changed):
            return f"{self.name} {_dotted(place)}, as it was set"
        for changed, at in self._set_at.items():
            if place[: len(changed)] == changed:
                return f"{self.name}:{self.line_of(at)} {_dotted(place)}"
        written = self._written(place)
        line = f":{self.line_of(written)}" if self._has_lines else ""
        return f"{self.name}{line} {_dotted(written)}".rstrip()

    def _is_set_by(self, changed: KeyPath, place: KeyPath) -> bool:
        """Whether a place is in what was set, or came to be on the way there."""
        is_on_the_way = bool(place) and changed[: len(place)] == place and place not in self._lines
        return is_on_the_way or place[: len(changed)] == changed

    def problems(self, placed: Iterable[PlacedProblem]) -> list[Problem]:
        """Problems at places of this file, each with its line."""
        return [
            Problem(self.where(place), text, nearest_name) for place, text, nearest_name in placed
        ]

    def in_order(self, problems: Iterable[Problem]) -> list[Problem]:
        """Problems once each, down the file; those that are at no line of it stand behind."""
        at_line = re.compile(rf"{re.escape(self.name)}:(\d+)\b")

        def line(problem: Problem) -> float:
            match = at_line.match(problem.place)
            return int(match.group(1)) if match else math.inf

        return sorted(dict.fromkeys(problems), key=line)

    def line_of(self, place: KeyPath) -> int:
        """The line of the nearest part that the file has."""
        return self._lines.get(self._written(place), 1)

    def notes_changes(self, paths: Iterable[str]) -> None:
        """From now on these dotted paths are not what the file says."""
        self._changed = [tuple(path.split(".")) for path in paths]

    def setting(self, places: Mapping[str, KeyPath]) -> YamlText:
        """The same text where these dotted paths are what it says at other places: in a cell."""
        text = copy(self)
        text._set_at = {tuple(path.split(".")): at for path, at in places.items()}
        return text

    def _written(self, place: KeyPath) -> KeyPath:
        """`place` without the parts that validation adds and the file does not spell out."""
        if not self._has_lines and not self._lines:
            self._lines = dict.fromkeys(_places_in(self.last_given), 1)
        written: KeyPath = ()
        for part in place:
            if (*written, part) in self._lines:
                written = (*written, part)
        return written

    def _read(self, text: str) -> Any:
        if len(text) > MAX_BYTES:
            raise InvalidInput([_too_large(self.name)])
        try:
            loader = Loader(text, self.name)
            root = loader.get_single_node()
            if root is None:
                return None
            self._note(loader, root, ())
            return loader.construct_document(root)
        except yaml.YAMLError as error:
            mark = getattr(error, "problem_mark", None)
            place = f"{self.name}:{mark.line + 1}{self._key_of(error)}" if mark else self.name
            reason = getattr(error, "problem", None) or str(error)
            raise InvalidInput([Problem(place, f"is not YAML: {reason}")]) from error

    def _key_of(self, error: yaml.YAMLError) -> str:
        """The key, after a blank, whose value could not be constructed; nothing of other errors."""
        if not isinstance(error, ConstructorError) or error.problem_mark is None:
            return ""
        line = error.problem_mark.line + 1
        there = [place for place, at in self._lines.items() if at == line and place]
        return f" {_dotted(there[-1])}" if there else ""

    def _note(self, loader: Loader, node: yaml.Node, place: KeyPath) -> None:
        """Remember the lines of everything within a node, and the keys that it gives twice."""
        last_given: dict[Any, yaml.Node] = {}
        spelt: dict[Any, yaml.Node] = {}
        for part, at, value in _parts(loader, node):
            inner, line = (*place, part), at.start_mark.line + 1
            if part in last_given:
                said = f"is given twice: on line {self._lines[inner]} as well"
                if spelt[part].value != at.value:  # Python takes yes for 1.0, as it does 8 for 0x8
                    same = f"{spelt[part].value} on line {self._lines[inner]}"
                    said = f"is the same key as {same}: put both in quotes"
                self.repeated_keys.append(Problem(f"{self.name}:{line} {_dotted(inner)}", said))
            spelt[part] = at
            self._lines[inner] = line
            last_given[part] = value
        for part, value in last_given.items():
            self._note(loader, value, (*place, part))


def _parts(loader: Loader, node: yaml.Node) -> Iterator[tuple[Any, yaml.Node, yaml.Node]]:
    """Each key or position within a node, what stands at its line, and its value."""
    match node:
        case yaml.MappingNode():
            for key, value in node.value:
                yield loader.key_of(key), key, value
        case yaml.SequenceNode():
            for position, item in enumerate(node.value):
                yield position, item, item


def _places_in(content: Any, place: KeyPath = ()) -> Iterator[KeyPath]:
    """The places of everything within a value, each before what it holds."""
    match content:
        case Mapping():
            parts: Iterable[tuple[Any, Any]] = content.items()
        case list() | tuple():
            parts = enumerate(content)
        case _:
            return
    for part, value in parts:
        yield (*place, part)
        yield from _places_in(value, (*place, part))


def _dotted(place: KeyPath) -> str:
    return ".".join(str(part) for part in place)


def read_yaml(path: Path, name: str = "") -> YamlText:
    """Read a YAML file, called by its path in messages unless it has a `name`.

    Raises `InvalidInput` if it is not there or is not YAML.
    """
    try:
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
        if len(content) > MAX_BYTES:
            raise InvalidInput([_too_large(str(path))])
        text = content.decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise unreadable(path, error) from error
    return YamlText(text, name or str(path), str(path))


@lru_cache(maxsize=64)
def read_shipped(path: Path) -> YamlText:
    """A file that comes with Whitecap, read once in a process: nobody changes what it holds."""
    return read_yaml(path)


def read_value(text: str, name: str) -> Any:
    """What a piece of YAML says, such as one given on the command line. Raises `InvalidInput`."""
    return YamlText(text, name).content


def show_document(document: Mapping[str, Any]) -> str:
    """A document as YAML text, keys in their order."""
    return yaml.safe_dump(document, sort_keys=False, allow_unicode=True, width=100)


def _too_large(name: str) -> Problem:
    return Problem(name, f"is larger than {MAX_BYTES >> 20} MiB, which no scenario needs")
