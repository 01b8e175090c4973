"""Statements that differ in their literals alone are translated once, then filled in.

To read a statement costs more than to run it, and a writer's statements are of one shape.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from msgspec import Struct

_LITERAL = re.compile(
    r"`[^`]*`|\"[^\"]*\"|(?P<text>'[^'\\]*')"
    r"|(?<![\w.])(?P<number>\d+(?P<fraction>\.\d+)?)(?=(?:[DLSYF]|BD)?(?![\w.]))"
)
"""Plain strings, and numbers without their suffix; names in quotes are stepped over."""

_STANDS_FOR = re.compile(r"'whitecap literal (\d{6})'|9173(\d{6})5(?:\.5)?")

_COMMENTS = ("--", "/*")


class Shape(Struct, frozen=True):
    """A statement in which every literal is one that only stands for it."""

    text: str
    literals: tuple[str, ...]

    def filled(self, translated: str) -> str:
        """A translation of `text` with this statement's own literals."""
        return _STANDS_FOR.sub(lambda hit: self.literals[int(hit[1] or hit[2])], translated)


def shape_of(statement: str) -> Shape | None:
    """The shape of a statement; `None` if it has comments, or literals that look like stand-ins."""
    if any(mark in statement for mark in _COMMENTS) or _STANDS_FOR.search(statement):
        return None
    literals: list[str] = []
    text = _LITERAL.sub(_stands_in(literals), statement)
    return Shape(text, tuple(literals))


def _stands_in(literals: list[str]) -> Callable[[re.Match[str]], str]:
    def replace(hit: re.Match[str]) -> str:
        if hit["text"] is None and hit["number"] is None:
            return hit[0]
        literals.append(hit[0])
        number = f"{len(literals) - 1:06d}"
        if hit["text"] is not None:
            return f"'whitecap literal {number}'"
        return f"9173{number}5" + (".5" if hit["fraction"] else "")

    return replace
