"""What was decided, given: to files, and to the terminal or to a program that asked for JSON."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeVar

from rich.console import Console
from rich.text import Text

from whitecap.terminal.as_json import print_json


class Decision(Protocol):
    """What plans, sensitivities and advice have in common."""

    @property
    def document(self) -> dict[str, Any]:
        """All of it, made of what JSON knows."""

    def write(self, directory: Path) -> Sequence[Path]:
        """The files of it, which are returned."""


D = TypeVar("D", bound=Decision)


def give(
    decision: D, show: Callable[[D, Sequence[Path]], None], out: Path | None, as_json: bool
) -> None:
    """Write it to the directory `out`, if any, and print it: by `show`, or as one JSON object."""
    files = () if out is None else decision.write(out)
    if as_json:
        print_json({**decision.document, "files": files})
    else:
        show(decision, files)


def print_files(console: Console, names: Sequence[str], files: Sequence[Path]) -> None:
    """A line for each file that was written, behind what it is; none is broken."""
    width = max(map(len, names))
    for name, path in zip(names, files, strict=False):
        console.print(Text(f"{name:{width}}  {path}"), soft_wrap=True)
