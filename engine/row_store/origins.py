"""How rows follow from others: what is known of those, in their order, is arranged as they are."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whitecap.engine.row_store.columns import Ids
from whitecap.engine.storage.requests import Row

Arranged = Callable[[Sequence[NDArray[Any]], NDArray[Any]], NDArray[Any]]
"""What there is for each row, in order, of what there is for the rows that they were made from, and
for the new ones."""


MANY_PIECES = 64
"""Up to so many rows are taken out by joining the pieces between them: a copy at memory's speed."""


@dataclass(frozen=True, slots=True)
class Edit:
    """New rows in place of those at some positions; then some go."""

    places: Ids
    gone: Sequence[int] = ()

    @classmethod
    def of(cls, changes: Mapping[int, Row | None]) -> Edit:
        """What changes do; `None` for a row that goes."""
        places = [at for at, row in changes.items() if row is not None]
        gone = [at for at, row in changes.items() if row is None]
        return cls(np.array(places, np.intp), sorted(gone))

    def __call__(self, parts: Sequence[NDArray[Any]], new: NDArray[Any]) -> NDArray[Any]:
        """See `Arranged`."""
        (edited,) = parts
        if len(self.places):
            edited = edited.copy()
            edited[self.places] = new
        if not self.gone:
            return edited
        if len(self.gone) > MANY_PIECES:
            return np.delete(edited, self.gone)
        begins = [0, *(at + 1 for at in self.gone)]
        ends = [*self.gone, len(edited)]
        return np.concatenate([edited[i:j] for i, j in zip(begins, ends, strict=True)])


def one_after_the_other(parts: Sequence[NDArray[Any]], _: NDArray[Any]) -> NDArray[Any]:
    """See `Arranged`."""
    return np.concatenate(parts)
