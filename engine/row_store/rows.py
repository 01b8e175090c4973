"""What commands do with the rows of files: a handful of verbs, for lists and for stored rows.

Rows are a list of tuples, and stored rows behave like one. What a verb costs on stored rows follows
from the rows that change; the others cost a little, at the speed of arrays.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate, chain
from math import nan
from typing import Any

import numpy as np

from whitecap.engine.row_store.columns import Ids
from whitecap.engine.row_store.row_store import OfArrays
from whitecap.engine.row_store.stored_rows import Origin, StoredRows, Wanted, together
from whitecap.engine.row_store.summaries import Extent, extent_of
from whitecap.engine.storage.requests import Row


def edited(rows: Sequence[Row], changes: Mapping[int, Row | None]) -> Sequence[Row]:
    """Rows with some replaced by position; those that are replaced by `None` are left out."""
    if not changes:
        return rows
    if isinstance(rows, StoredRows):
        return rows.edited(changes)
    kept = (changes.get(at, row) for at, row in enumerate(rows))
    return [row for row in kept if row is not None]


def assigned(
    parts: Sequence[tuple[Sequence[Row], Sequence[int]]],
    changes: Mapping[int, OfArrays],
    alone: bool = False,
) -> list[StoredRows] | None:
    """The rows of each part with new values in some columns at some positions.

    `None` if only row by row. `alone`: the changed rows by themselves, with those that they were
    made of.
    """
    before = together([rows_at(rows, positions) for rows, positions in parts])
    versions = None if before is None else before.store.assigned(before.ids, changes)
    if before is None or versions is None:
        return None
    counts = [len(positions) for _, positions in parts]
    gone, new = _split(before.ids, counts), _split(versions, counts)
    if alone:
        return [StoredRows(before.store, ids) for ids in new]
    before.store.continue_lines(versions, before.ids)
    return [
        rows.replaced(positions, Origin((rows,), gone_ids, new_ids, changes))
        for (rows, positions), gone_ids, new_ids in zip(parts, gone, new, strict=True)
        if isinstance(rows, StoredRows)
    ]


def joined(parts: Sequence[Sequence[Row]]) -> Sequence[Row]:
    """The rows of all parts in order; if any are stored rows, the result is in their store."""
    parts = [part for part in parts if len(part)]
    if len(parts) == 1:
        return parts[0]
    store = next((part.store for part in parts if isinstance(part, StoredRows)), None)
    if store is None or any(isinstance(p, StoredRows) and p.store is not store for p in parts):
        return list(chain.from_iterable(parts))
    stored = [part if isinstance(part, StoredRows) else store.stored(part) for part in parts]
    none = stored[0].ids[:0]
    ids = np.concatenate([part.ids for part in stored])
    return StoredRows(store, ids, Origin(tuple(stored), none, none))


def rows_at(rows: Sequence[Row], positions: Sequence[int]) -> Sequence[Row]:
    """The rows at some positions, in that order."""
    if isinstance(rows, StoredRows):
        return rows.at(positions)
    return [rows[at] for at in positions]


def positions_with(
    parts: Sequence[Sequence[Row]], wanted: Wanted, or_null: bool = False
) -> list[list[int] | None]:
    """Per part the positions of rows whose columns have a `wanted` value, or NULL if `or_null`.

    No wanted value is NULL. `None` where only looking at every row would tell.
    """
    rows = together(parts)
    if rows is None and len(parts) > 1:
        return [at for part in parts for at in positions_with([part], wanted, or_null)]
    positions = rows.positions_with(wanted, or_null) if rows is not None and wanted else None
    if positions is None:
        return [None] * len(parts)
    return [*_by_part(positions, [len(part) for part in parts])]


def _split(ids: Ids, counts: Sequence[int]) -> list[Ids]:
    """So many ids for each, one after the other."""
    return [ids[end - count : end] for end, count in zip(accumulate(counts), counts, strict=True)]


def _by_part(positions: Ids, counts: Sequence[int]) -> Iterator[list[int]]:
    """Positions in parts one after the other, of so many rows each, as positions in each part."""
    begin = first = 0
    for count in counts:
        last = int(positions.searchsorted(begin + count))
        yield (positions[first:last] - begin).tolist()
        begin, first = begin + count, last


def holds(rows: Sequence[Row], position: int, value: Any) -> bool:
    """Whether some row has a value, other than NULL, in a column."""
    if isinstance(rows, StoredRows):
        mask = rows.store.columns[position].among(rows.cells(position), (value,))
        if mask is not None:
            return bool(mask.any())
    return any(row[position] == value for row in rows)


def grouped(rows: Sequence[Row], places: Sequence[int]) -> list[Sequence[Row]]:
    """Rows by their values at some places, in the order of the first of each group."""
    if not len(rows):
        return []
    if isinstance(rows, StoredRows):
        groups = rows.groups(places)
        if groups is not None:
            return list(groups)
    if len(places) == 1 and _are_alike([row[places[0]] for row in rows]):
        return [rows if isinstance(rows, list) else list(rows)]
    parts: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        parts.setdefault(tuple([_shown(row[at]) for at in places]), []).append(row)
    return list(parts.values())


def _are_alike(values: Sequence[Any]) -> bool:
    """Whether all are one value; of zeros nothing is said, since there are two of fractions."""
    begin = values[0]
    return begin != 0.0 and values.count(begin) == len(values)


def _shown(value: Any) -> Any:
    """What tells a value from others that are written otherwise, as they name partitions.

    NaN is one value, and the two zeros are two, as in Spark.
    """
    if type(value) is not float:
        return value
    return repr(value) if value == 0 else nan if value != value else value


def first(rows: Sequence[Row], position: int) -> Any:
    """What the first row has in a column."""
    if isinstance(rows, StoredRows):
        return rows.store.columns[position].values(rows.ids[:1])[0]
    return rows[0][position]


def extent(rows: Sequence[Sequence[Any]], position: int) -> Extent:
    """NULLs and bounds of a column of a type that has an order."""
    if isinstance(rows, StoredRows):
        return rows.extent(position)
    return extent_of([row[position] for row in rows])


def count_nulls(rows: Sequence[Sequence[Any]], position: int) -> int:
    """How many values of a column are NULL."""
    if isinstance(rows, StoredRows):
        return int(np.count_nonzero(rows.store.columns[position].nulls(rows.cells(position))))
    return sum(row[position] is None for row in rows)
