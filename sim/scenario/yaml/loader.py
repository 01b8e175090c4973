"""YAML as scenarios use it: plain values, in bounds that no honest file comes near.

A file from somebody else may be made to fill the memory (aliases of aliases), to exhaust the stack
(deep nesting, an alias within what it names), or to construct objects (tags). All of it is refused
while it is read, before anything is built from it.
"""

from __future__ import annotations

import re
from collections.abc import Hashable
from typing import Any, NoReturn

import yaml
from yaml.composer import Composer
from yaml.constructor import ConstructorError, SafeConstructor
from yaml.resolver import Resolver

from whitecap.engine.errors import InvalidInput, Problem

try:
    from yaml.cyaml import CParser as Events  # type: ignore[attr-defined]
except ImportError:  # PyYAML was built without libyaml: slower, otherwise the same.
    from yaml.parser import Parser
    from yaml.reader import Reader
    from yaml.scanner import Scanner

    class Events(Reader, Scanner, Parser):  # type: ignore[no-redef]
        """Events from text, in Python alone."""

        def __init__(self, text: str) -> None:
            Reader.__init__(self, text)
            Scanner.__init__(self)
            Parser.__init__(self)


MAX_BYTES = 1 << 20
"""250 times our largest scenario; reading as much takes about a second."""

MAX_DEPTH = 32
"""The deepest key of a scenario stands at 11; far below Python's limit of recursion."""

MAX_VALUES = 100_000
"""Keys and values with every alias written out, each of which is looked at more than once."""


YAML_TAGS = "tag:yaml.org,2002:"
MERGE = f"{YAML_TAGS}merge"

NUMBERS = frozenset({f"{YAML_TAGS}int", f"{YAML_TAGS}float"})

_OTHER_BASE = re.compile(r"[-+]?0[0-7_]*[1-7][0-7_]*|.*:.*")
"""Numbers that only YAML 1.1 (and so PyYAML) reads to the base 8 or 60: `010`, `1:30`."""


class Loader(Composer, Events, SafeConstructor, Resolver):
    """Reads one text; every problem names the text and the line."""

    def __init__(self, text: str, name: str) -> None:
        Events.__init__(self, text)
        Composer.__init__(self)
        SafeConstructor.__init__(self)
        Resolver.__init__(self)
        self._name = name
        self._open: list[str | None] = []
        self._sizes: dict[int, int] = {}
        self._values = 0

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        """One value with all that it holds."""
        event: Any = self.peek_event()
        if isinstance(event, yaml.AliasEvent):
            return self._alias(event, parent, index)
        if getattr(event, "tag", None) not in (None, "!"):
            tag = event.tag.replace(YAML_TAGS, "!!")
            self._refuse(event, f"the tag {_short(tag)} is not used here: write a plain value")
        if len(self._open) == MAX_DEPTH:
            self._refuse(event, f"is nested more than {MAX_DEPTH} levels deep")
        before = self._values
        self._count(event, 1)
        self._open.append(event.anchor)
        node = super().compose_node(parent, index)
        self._open.pop()
        self._sizes[id(node)] = self._values - before
        return node

    def _alias(self, event: Any, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        if event.anchor in self._open:
            self._refuse(event, f"*{event.anchor} stands within what it names")
        node = super().compose_node(parent, index)
        self._count(event, self._sizes[id(node)])
        return node

    def _count(self, event: Any, values: int) -> None:
        self._values += values
        if self._values > MAX_VALUES:
            said = f"more than {MAX_VALUES:,} values are too many, with every alias written out"
            self._refuse(event, said)

    def _refuse(self, event: Any, said: str) -> NoReturn:
        raise InvalidInput([Problem(f"{self._name}:{event.start_mark.line + 1}", said)])

    def construct_object(self, node: Any, deep: bool = False) -> Any:
        """A node's value; what looks like a date or number and is none, or another one, is told
        with its line."""
        try:
            value = super().construct_object(node, deep)
        except ValueError as error:
            problem = f"{_short(str(node.value))}: {str(error).partition(';')[0]}"
            raise ConstructorError(None, None, problem, node.start_mark) from None
        if node.tag in NUMBERS and _OTHER_BASE.fullmatch(node.value):
            read = f"{_short(node.value)} is read as {value} by YAML"
            self._refuse(node, f"{read}: write that number, or the text in quotes")
        return value

    def key_of(self, node: yaml.Node) -> Hashable:
        """A key's value. Raises `InvalidInput` for one that is a list or holds keys itself."""
        if not isinstance(node, yaml.ScalarNode):
            self._refuse(node, "a key must be a word")
        if node.tag == MERGE:
            return "<<"
        key: Hashable = self.construct_object(node)
        return key


def _short(text: str, longest: int = 40) -> str:
    return text if len(text) <= longest else f"{text[: longest - 1]}…"
