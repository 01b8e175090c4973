"""The command line as tests call it: words in, what it printed and its exit code out."""

from __future__ import annotations

from click.testing import CliRunner, Result

from whitecap.cli import main


def invoked(*words: object, columns: int | None = None) -> Result:
    """The command of these words, ended; printed as wide as elsewhere, or in so many columns."""
    environment = None if columns is None else {"COLUMNS": str(columns)}
    return CliRunner().invoke(main, [*map(str, words)], env=environment)
