"""When Python looks for garbage in cycles: seldom in a run, before one for what others left.

At Python's own thresholds a fifth of a run's time goes into the search.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

MOST_GROWTH = 2.0
"""How much more memory is taken than after the last search of old objects, until they are searched
again: so that a search goes through as much as it may free. A run is freed only so, as its world
and its processes know each other."""

SELDOM = (5_000, 500, 100)
"""Thresholds while a run is under way; ours."""


@dataclass(slots=True)
class OldObjects:
    """Objects that Python seldom searches for cycles: what ended runs leave is among them.

    `blocks` of memory were taken after the last search, 0 before the first run.
    """

    blocks: int = 0

    def search(self) -> None:
        """Before a run, free what is in cycles, if memory has grown by so much.

        In a run it would go through all that the run keeps and free nothing.
        """
        taken = sys.getallocatedblocks()
        if not self.blocks:
            self.blocks = taken
        elif taken > MOST_GROWTH * self.blocks:
            gc.collect()
            self.blocks = sys.getallocatedblocks()


OLD_OBJECTS = OldObjects()
"""Those of this process."""


@contextmanager
def seldom_collecting() -> Iterator[None]:
    """Look for garbage in cycles seldom: a run makes little of it, and keeps millions of objects.

    New objects are looked at while they are still in the processor's caches; those that stay are
    old, and looked at again before a later run (`OldObjects`).
    """
    usual = gc.get_threshold()
    gc.set_threshold(*SELDOM)
    try:
        yield
    finally:
        gc.freeze()
        gc.unfreeze()  # both together: whatever is there counts as old
        gc.set_threshold(*usual)
