"""How far a sweep is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click

from whitecap.reports.words import counted
from whitecap.sim.sweeps.sweep_job import Progress
from whitecap.terminal.progress import progress


@contextmanager
def sweep_progress(title: str = "", *, quiet: bool = False) -> Iterator[Callable[[Progress], None]]:
    """Shows finished runs, those that were kept, and those that failed.

    The title comes first, and what is there already: once the sweep's place has taken it.
    """
    with progress("runs", quiet=quiet) as show:
        has_begun = quiet

        def tell(now: Progress) -> None:
            nonlocal has_begun
            if not has_begun:
                _tell_beginning(title, now)
                has_begun = True
            kept = f" ({now.kept} kept)" if now.kept else ""
            failed = f", {now.failed} failed" if now.failed else ""
            show(now.finished, now.total, f"{now.finished} of {now.total}{kept}{failed}")

        yield tell


def _tell_beginning(title: str, now: Progress) -> None:
    if title:
        click.echo(title, err=True)
    if now.kept:
        are = "is" if now.kept == 1 else "are"
        of_all = f"{now.kept:,} of {counted(now.total, 'run')}"
        click.echo(f"{of_all} {are} there already", err=True)
    if now.grown_to is not None:
        more = f"the sweep there went on to {counted(now.grown_to, 'replication')}"
        click.echo(f"{more}: the answer is over all its runs", err=True)
