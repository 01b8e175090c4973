"""The evidence in a draft's text: what stands above each key, as a reader of the file has it.

It is read back from the text, so that nothing can be told otherwise here than there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import yaml
from msgspec import Struct

from whitecap.sim.inferring.evidence.figures import Surety
from whitecap.sim.scenario.yaml.loader import Loader

_SAID = re.compile(rf"({'|'.join(surety.value for surety in Surety)}): (.+)")


class FigureEvidence(Struct, frozen=True):
    """A key by its dotted path, its value as it is written, and one reason for it."""

    path: str
    text: str
    surety: Surety
    because: str


def evidence_in(text: str) -> list[FigureEvidence]:
    """All evidence of a draft, from top to bottom; a key may have several pieces of it."""
    lines = text.splitlines()
    return [
        FigureEvidence(path, value, surety, because)
        for path, line, value in _keys(text, Loader(text, "the draft").get_single_node(), ())
        for surety, because in _above(lines, line)
    ]


def _keys(
    text: str, node: yaml.Node | None, above: tuple[str, ...]
) -> Iterator[tuple[str, int, str]]:
    """Every key that has a line of its own, with that line and its value as it is written."""
    if isinstance(node, yaml.SequenceNode) and not node.flow_style:
        for number, item in enumerate(node.value, start=1):
            yield from _keys(text, item, (*above, str(number)))
    if not isinstance(node, yaml.MappingNode) or node.flow_style:
        return
    for key, value in node.value:
        path = (*above, str(key.value))
        is_plain = not isinstance(value, yaml.CollectionNode) or value.flow_style
        written = text[value.start_mark.index : value.end_mark.index] if is_plain else ""
        yield ".".join(path), key.start_mark.line, " ".join(written.removeprefix(">-").split())
        yield from _keys(text, value, path)


def _above(lines: Sequence[str], line: int) -> list[tuple[Surety, str]]:
    """The reasons in the comment just above a line, each of which may fill several lines."""
    first = line
    while first and lines[first - 1].lstrip().startswith("#"):
        first -= 1
    reasons: list[tuple[Surety, list[str]]] = []
    for comment in lines[first:line]:
        words = comment.strip().removeprefix("# ")
        if said := _SAID.fullmatch(words):
            reasons.append((Surety(said[1]), [said[2]]))
        elif reasons:
            reasons[-1][1].append(words)
    return [(surety, " ".join(words)) for surety, words in reasons]
