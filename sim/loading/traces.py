"""Traces that a scenario names by their file: their text takes the place of the name.

So a recording holds all that its run was made of, and workers of a sweep need no file.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from msgspec import Struct, field

from whitecap.engine.errors import Problem, unreadable
from whitecap.sim.quantities.bounds import MAX_TRACE_BYTES
from whitecap.sim.scenario.model import Document
from whitecap.sim.scenario.traces import SHORTEST_TRACE, read_trace

TRACE, FILE, TEXT = "trace", "file", "text"


def with_traces(document: Document, folder: Path) -> tuple[Document, list[Problem]]:
    """The document with the text of its traces, and what is wrong with their files."""
    reader = _Reader(folder)
    return reader.filled(document), reader.problems


class _Reader(Struct):
    """Files are looked for from the `folder` of the scenario on."""

    folder: Path
    problems: list[Problem] = field(default_factory=list)

    def filled(self, value: Any, within: str = "") -> Any:
        """A part of a document; `within` is its key, or the dotted path that sets it."""
        match value:
            case dict():
                is_trace = within.split(".")[-1] == TRACE
                return dict(self._entry(key, part, is_trace) for key, part in value.items())
            case list():
                return [self.filled(part) for part in value]
            case _:
                return value

    def _entry(self, key: Any, value: Any, in_trace: bool) -> tuple[Any, Any]:
        *parents, last = str(key).split(".")
        if last == FILE and (in_trace or parents[-1:] == [TRACE]) and isinstance(value, str):
            return ".".join([*parents, TEXT]), self._text(value)
        return key, self.filled(value, str(key))

    def _text(self, name: str) -> str:
        path = self.folder / name
        try:
            with path.open(encoding="utf-8-sig", newline=None) as file:
                text = file.read(MAX_TRACE_BYTES + 1)
        except (OSError, UnicodeDecodeError, ValueError) as error:
            self.problems += unreadable(path, error).problems
            return SHORTEST_TRACE
        _, wrong = read_trace(text)
        self.problems += [Problem(f"{path}:{each.line}", each.said) for each in wrong]
        return SHORTEST_TRACE if wrong else text
