"""Work in several processes, which end when the work is interrupted."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import active_children, get_context
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")


def in_processes(
    work: Callable[[T], R],
    items: Sequence[T],
    jobs: int,
    start: Callable[[], None] | None = None,
) -> Iterator[R]:
    """The results in the order of the items, `jobs` at a time; `start` is called in each process.

    Spawned, not forked: the caller may have threads, for instance those of a Spark session.
    """
    others = set(active_children())
    context = get_context("spawn")
    with ProcessPoolExecutor(min(jobs, len(items)), context, _begin, (start,)) as pool:
        try:
            yield from pool.map(work, items)
        except BaseException:
            for child in set(active_children()) - others:
                child.terminate()
            raise


def _begin(start: Callable[[], None] | None) -> None:
    """Ctrl-C reaches every process of a terminal; one that only works says nothing of it."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    if start is not None:
        start()
