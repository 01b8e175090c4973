"""How far a sweep is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from whitecap.sim.sweeps.sweep_job import Progress
from whitecap.terminal.progress import progress


@contextmanager
def sweep_progress(*, quiet: bool = False) -> Iterator[Callable[[Progress], None]]:
    """Shows finished runs, those that were kept, and those that failed."""
    with progress("runs", quiet=quiet) as show:

        def tell(now: Progress) -> None:
            kept = f" ({now.kept} kept)" if now.kept else ""
            failed = f", {now.failed} failed" if now.failed else ""
            show(now.finished, now.total, f"{now.finished} of {now.total}{kept}{failed}")

        yield tell
