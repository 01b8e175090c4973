"""Lines of a draft: keys with their evidence above them, no longer than a page is wide."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator

from msgspec import Struct

from whitecap.sim.inferring.evidence.figures import DraftFigure

WIDTH = 96
"""Letters of a line in a draft at most. Ours."""


class Options(Struct, frozen=True):
    """What a user says: the store if known, other names, which scenario name, whose files."""

    store: str | None = None
    anonymous: bool = False
    name: str = ""
    command: str = "whitecap from-log"
    from_files: bool = False


def entry(indent: str, key: str, figure: DraftFigure) -> Iterator[str]:
    """A key with the evidence above it."""
    yield from comment(figure.comment, indent)
    yield f"{indent}{key}: {figure.text}"


def comment(text: str, indent: str = "") -> Iterable[str]:
    """A comment, in several lines where it is long, of what YAML takes: names are anybody's."""
    readable = "".join(c if c.isprintable() or c.isspace() else "\ufffd" for c in text)
    return wrapped(readable, f"{indent}# ")


def wrapped(text: str, indent: str, after: str | None = None) -> list[str]:
    """A long line in several, which YAML joins again."""
    return textwrap.wrap(
        text, WIDTH, initial_indent=indent, subsequent_indent=after or indent,
        break_long_words=False, break_on_hyphens=False,
    )  # fmt: skip
