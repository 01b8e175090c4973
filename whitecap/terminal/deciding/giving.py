"""What was decided, given: to files, and to the terminal or to a program that asked for JSON."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeVar

from rich.console import Console
from rich.text import Text

from whitecap.sim.machine.places import NotWritten, written
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
    """Write it to the directory `out`, if any, and print it: by `show`, or as one JSON object.

    Raises `NotWritten` where it cannot be written, after it was printed: it took minutes to make.
    """
    files, refused = _written(decision, out)
    if as_json:
        print_json({**decision.document, "files": files})
    else:
        show(decision, files)
    if refused is not None:
        raise refused


def _written(decision: Decision, out: Path | None) -> tuple[Sequence[Path], NotWritten | None]:
    """The files of it, or what refused them."""
    if out is None:
        return (), None
    try:
        return written(decision, decision.write, out), None
    except NotWritten as refused:
        return (), refused


def print_files(console: Console, names: Sequence[str], files: Sequence[Path]) -> None:
    """A line for each file that was written, behind what it is; none is broken."""
    width = max(map(len, names))
    for name, path in zip(names, files, strict=False):
        console.print(Text(f"{name:{width}}  {path}"), soft_wrap=True)
