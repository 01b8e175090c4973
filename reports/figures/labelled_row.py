"""A row of marks with labels beside them: a label is left out where it would lie on something."""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum

LABEL_SIZE = 7.5
"""Points. Smaller than the names of rows, so that a label fits into a bar with its box."""

LABEL_GAP = 3.0
"""Points between a mark and its label, and on the label's other side: its box takes 1.1 of them
(`pad=0.15`), and the rest keeps it apart from what is next."""

_CHARACTER = 0.73 * LABEL_SIZE
"""Points. A digit of DejaVu Sans Bold is 0.696 of its size wide; the rest is for rounding."""


class LabelSide(IntEnum):
    """Where a label stands, seen from its mark."""

    LEFT = -1
    RIGHT = 1


class LabelledRow:
    """A row of some length, in points, with all its marks."""

    def __init__(self, length: float, marks: Iterable[float]) -> None:
        self._length = length
        self._marks = tuple(marks)
        self._taken: list[tuple[float, float]] = []

    def side_of(self, text: str, mark: float, *, may_cover: bool = False) -> LabelSide | None:
        """Where there is room for a label, which then takes it; `None` if there is none.

        One that matters more than other marks may cover them, if there is no better place.
        """
        free = {side: room for side, room in _rooms(text, mark).items() if self._is_free(*room)}
        clear = [side for side, room in free.items() if not self._is_marked(*room)]
        side = next(iter([*clear, *free] if may_cover else clear), None)
        if side is not None:
            self._taken.append(free[side])
        return side

    def _is_free(self, begin: float, end: float) -> bool:
        is_taken = any(begin < last and first < end for first, last in self._taken)
        return begin >= 0 and end <= self._length and not is_taken

    def _is_marked(self, begin: float, end: float) -> bool:
        return any(begin < mark < end for mark in self._marks)


def _rooms(text: str, mark: float) -> dict[LabelSide, tuple[float, float]]:
    """What a label takes on either side of its mark."""
    needed = 2 * LABEL_GAP + _CHARACTER * len(text)
    return {LabelSide.LEFT: (mark - needed, mark), LabelSide.RIGHT: (mark, mark + needed)}
