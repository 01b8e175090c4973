"""The consoles that commands print to."""

from __future__ import annotations

import os

from rich.console import Console

WIDTH_IN_A_FILE = 120


class QuietlyEnding(Console):
    """Leaves a reader that went away (`| head`) to the front door, which knows its exit code."""

    def on_broken_pipe(self) -> None:
        """Called where rich would exit with 1."""
        raise BrokenPipeError


def new_console(*, stderr: bool = False) -> Console:
    """As wide as the terminal or as COLUMNS says; without both, wide enough for tables."""
    console = QuietlyEnding(highlight=False, stderr=stderr)
    if not (console.is_terminal or os.environ.get("COLUMNS", "").isdigit()):
        console.width = WIDTH_IN_A_FILE
    return console
