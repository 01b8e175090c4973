"""The statistics of rows as a writer of a table without metadata would collect them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from whitecap.engine.log.indexed_columns import Indexed, columns_with_statistics
from whitecap.engine.log.schema import Schema
from whitecap.engine.log.statistics import FileStatistics, extents_of, statistics_of

INDEXED_BY_DEFAULT = Indexed()
"""The first columns, as many as Delta indexes where a table does not say."""


def collect_statistics(
    rows: Sequence[Sequence[Any]],
    schema: Schema,
    partition_columns: Sequence[str] = (),
    indexed: Indexed = INDEXED_BY_DEFAULT,
) -> FileStatistics:
    """The statistics of `rows`, in schema order, over the indexed columns but for partitions."""
    columns = columns_with_statistics(schema, partition_columns, indexed)
    return statistics_of(len(rows), columns, extents_of(rows, columns), indexed, None)
