"""What a run leaves in cycles is freed before a later run, when there is much of it."""

from __future__ import annotations

import weakref

import pytest

from whitecap.sim.time import kernel
from whitecap.sim.time.kernel import OldObjects, seldom_collecting


class Cycle:
    """Knows itself, as a run's world knows its processes and they know it."""

    def __init__(self) -> None:
        self.myself = self


def _left_by_a_run() -> weakref.ref[Cycle]:
    with seldom_collecting():
        return weakref.ref(Cycle())


def _a_later_run() -> None:
    with seldom_collecting():
        pass


@pytest.mark.parametrize(("blocks", "is_kept"), [(1, False), (1 << 60, True)])
def test_it_is_searched_for_where_memory_has_grown_much(
    blocks: int, is_kept: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = _left_by_a_run()
    assert left() is not None
    monkeypatch.setattr(kernel, "OLD_OBJECTS", OldObjects(blocks))
    _a_later_run()
    assert (left() is not None) is is_kept


def test_the_first_run_of_a_process_searches_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    left = _left_by_a_run()
    monkeypatch.setattr(kernel, "OLD_OBJECTS", OldObjects())
    _a_later_run()
    assert left() is not None
    assert kernel.OLD_OBJECTS.blocks > 0
