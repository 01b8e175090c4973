"""The console that commands print to."""

from __future__ import annotations

from rich.console import Console

WIDTH_IN_A_FILE = 120


def new_console() -> Console:
    """As wide as the terminal; wide enough for tables where there is none."""
    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = WIDTH_IN_A_FILE
    return console
