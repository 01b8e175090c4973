"""How far the run that a campaign waits for is with a finding, told from process to process."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from msgspec import Struct

BYTES = 4
"""Of the number that a run has in the file."""

Tell = Callable[[int], None]
"""Told how many smaller scenarios have been tried."""


def tell_nobody(tried: int) -> None:
    """For those who do not ask."""


class Trials(Struct, frozen=True):
    """For each run how many smaller scenarios were tried, in a file with a place for each run.

    Each place is written by one process and needs no lock. Workers of another machine have no such
    file, and tell nobody.
    """

    file: Path

    def note(self, run: int, tried: int) -> None:
        """So many were tried; 0 while the cause is looked for."""
        with suppress(OSError), self.file.open("r+b") as places:
            places.seek(run * BYTES)
            places.write((tried + 1).to_bytes(BYTES, "little"))

    def of(self, run: int) -> int | None:
        """How many were tried, `None` of a run in which nothing was found until now.

        That is said too if somebody has tidied the file away: it holds nothing that is needed.
        """
        noted = 0
        with suppress(OSError), self.file.open("rb") as places:
            places.seek(run * BYTES)
            noted = int.from_bytes(places.read(BYTES), "little")
        return noted - 1 if noted else None


@contextmanager
def shared_trials() -> Iterator[Trials]:
    """Those of a campaign that is under way."""
    with TemporaryDirectory(prefix="whitecap-chaos-", ignore_cleanup_errors=True) as directory:
        file = Path(directory, "trials")
        file.touch()
        yield Trials(file)
