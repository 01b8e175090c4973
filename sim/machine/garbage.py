"""When Python searches for garbage in cycles: seldom during a run, and once before it.

At Python's own thresholds this takes a fifth of a run's time.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from msgspec import Struct

MOST_GROWTH = 2.0
"""By what factor memory may grow before old objects are searched again, so that a search goes
through as much as it may free. A run is freed only in this way, as its world and its processes
refer to each other."""

SELDOM = (5_000, 500, 100)
"""Thresholds while a run is under way; ours."""

MOST_PASSES = 63
"""Searches that are skipped in a row at most, where none finds anything. What garbage is then made
until the run ends are some 300,000 objects at most. Ours."""


class OldObjects(Struct):
    """Objects that Python seldom searches for cycles, among them what ended runs have left.

    `blocks` of memory were in use after the last search; 0 before the first run.
    """

    blocks: int = 0

    def search(self) -> None:
        """Before a run, free what is in cycles, if memory has grown by `MOST_GROWTH`.

        During a run a search would go through all that the run keeps, and free nothing.
        """
        taken = sys.getallocatedblocks()
        if not self.blocks:
            self.blocks = taken
        elif taken > MOST_GROWTH * self.blocks:
            gc.collect()
            self.blocks = sys.getallocatedblocks()


OLD_OBJECTS = OldObjects()
"""The old objects of this process."""


class Search(Struct):
    """Searches of new objects: the longer they find nothing, the fewer there are.

    `passes` are skipped before the next one; objects that were new then count as old.
    """

    passes: int = 0
    _left: int = 0
    _is_passed: bool = False

    def note(self, phase: str, collection: Mapping[str, int]) -> None:
        """What Python calls before and after a search (`gc.callbacks`)."""
        if phase == "start":
            self._is_passed = self._left > 0
            if self._is_passed:
                self._left -= 1
                gc.freeze()  # nothing is left to search
        elif not self._is_passed:
            is_clean = not collection["collected"]
            self.passes = min(2 * self.passes + 1, MOST_PASSES) if is_clean else 0
            self._left = self.passes


@contextmanager
def seldom_collecting() -> Iterator[None]:
    """Look for garbage in cycles seldom: a run makes little of it, and keeps millions of objects.

    New objects are looked at while they are still in the processor's caches; those that stay are
    old, and looked at again before a later run (`OldObjects`).
    """
    usual, note = gc.get_threshold(), Search().note
    gc.set_threshold(*SELDOM)
    gc.callbacks.append(note)
    try:
        yield
    finally:
        gc.callbacks.remove(note)
        gc.freeze()
        gc.unfreeze()  # both together: whatever is there counts as old
        gc.set_threshold(*usual)
