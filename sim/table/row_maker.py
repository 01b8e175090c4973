"""Makes the rows of a table from their keys, whenever they are read.

What a row holds besides its slice follows from its key, so that rows need not be kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whitecap.engine.errors import DeltaError
from whitecap.engine.log.schema import Schema
from whitecap.engine.storage.requests import Row
from whitecap.engine.values.types import Session
from whitecap.engine.writing.generation import Completion
from whitecap.sim.table.column_makers import column_maker
from whitecap.sim.table.derived import completed_rows, completion_of, days_of_instants
from whitecap.sim.table.slices import Dimension, Slice, SliceColumns


class RowMaker:
    """Makes rows of a schema from a key and a slice; the table's `session` computes columns.

    `days` maps columns of instants to the listed columns that are their days.
    """

    def __init__(
        self,
        schema: Schema,
        key: str | None,
        dimensions: Sequence[Dimension],
        session: Session,
    ) -> None:
        self.schema = schema
        self.dimensions = tuple(dimensions)
        self.key_position = schema.names.index(key) if key in schema.names else None
        slots = {dimension.name: place for place, dimension in enumerate(dimensions)}
        self.days = days_of_instants(schema, slots, key)
        self._complete = completion_of(schema, slots, session)
        makers = [column_maker(column, key, slots, self.days, session) for column in schema]
        self._cells = [maker.cells for maker in makers]
        self._columns = [maker.column for maker in makers]

    def row(self, key: int, slice_: Slice) -> Row:
        """The row of `key`."""
        return self.rows((key,), (slice_,))[0]

    def rows(self, keys: Sequence[int], slices: Sequence[Slice], revision: int = 0) -> list[Row]:
        """The rows of some keys; another `revision` differs in all columns but key and slice.

        Where an expression fails, nothing is computed: a table refuses to write such a row.
        """
        made = [cells(keys, slices, revision) for cells in self._cells]
        rows = list(zip(*made, strict=True))
        complete = self._complete
        return rows if complete is None else [_completed(complete, row) for row in rows]

    def columns(self, keys: NDArray[np.int64], slices: SliceColumns) -> Iterator[Sequence[Any]]:
        """The columns of the rows of some keys, as they are at the start."""
        columns = (column(keys, slices) for column in self._columns)
        if self._complete is None:
            return columns
        rows = zip(*columns, strict=True)
        return zip(*completed_rows(rows, self._complete, self.schema), strict=True)

    def column(self, position: int, keys: NDArray[np.int64], slices: SliceColumns) -> Sequence[Any]:
        """One of these columns."""
        if self.is_computed(position):
            return list(self.columns(keys, slices))[position]
        return self._columns[position](keys, slices)

    def is_computed(self, position: int) -> bool:
        """Whether a column's values follow from its row's others by an expression."""
        return self._complete is not None and self._complete.computes(position)


def _completed(complete: Completion, row: Row) -> Row:
    try:
        return complete(row)
    except DeltaError:
        return row
