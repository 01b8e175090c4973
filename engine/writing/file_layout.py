"""What a table's metadata says of every data file: columns, partitions, statistics.

Made once for each metadata. Source: TransactionalWrite.scala (writeFiles), StatisticsCollection.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import UTC, datetime
from typing import Any

from msgspec import Struct

from whitecap.engine.log import properties
from whitecap.engine.log.actions import Metadata, PartitionValues
from whitecap.engine.log.indexed_columns import (
    UNORDERED,
    Indexed,
    columns_with_statistics,
    indexed_by,
)
from whitecap.engine.log.schema import Field, Schema, schema_of_metadata
from whitecap.engine.log.statistics import extents_of, statistics_of, statistics_text
from whitecap.engine.remembered import once_for_each
from whitecap.engine.row_store.row_store import FileColumns
from whitecap.engine.row_store.rows import first, grouped, holds
from whitecap.engine.storage.paths import NULL_PARTITION
from whitecap.engine.storage.requests import Row
from whitecap.engine.values.texts import shortest_single, to_text


class FileLayout(Struct, frozen=True):
    """How rows of a table are laid out in files. Made by `file_layout`."""

    schema: Schema
    columns: FileColumns
    partition_names: tuple[str, ...]
    places: tuple[int, ...]
    text_places: tuple[int, ...]
    with_statistics: Sequence[tuple[int, Field]]
    indexed: Indexed
    tight_bounds: bool | None

    def logged(self, values: PartitionValues) -> PartitionValues:
        """The values that name a partition as they are read from the log: by name."""
        return values if len(values) < 2 else dict(sorted(values.items()))

    def by_partition(self, rows: Sequence[Row]) -> list[tuple[PartitionValues, Sequence[Row]]]:
        """Rows by the partitions that they fall in, with the values that name these."""
        if not self.places:
            return [({}, rows)] if rows else []
        parts = grouped(_without_empty(rows, self.text_places), self.places)
        return [(self._values(part), part) for part in parts]

    def as_kept(self, rows: Sequence[Row]) -> Sequence[Row]:
        """The rows of one partition as they are read again: a text that names none is NULL."""
        if not self.text_places:
            return rows
        lost = frozenset(at for at in self.text_places if first(rows, at) == NULL_PARTITION)
        return _without(rows, lost) if lost else rows

    def _values(self, rows: Sequence[Row]) -> PartitionValues:
        pairs = ((first(rows, at), self.schema.fields[at].type) for at in self.places)
        values = [
            shortest_single(value) if type_name == "float" and value is not None else value
            for value, type_name in pairs
        ]
        return dict(zip(self.partition_names, map(logged_partition, values), strict=True))

    def statistics(
        self,
        rows: Sequence[Row],
        unordered: frozenset[str] = UNORDERED,
        finite_only: bool = False,
    ) -> str:
        """What the log says of a file that holds these rows; `unordered` types have no bounds, and
        with `finite_only` neither have columns in which one is no number."""
        columns = self.with_statistics
        extents = extents_of(rows, columns, unordered)
        statistics = statistics_of(
            len(rows), columns, extents, self.indexed, self.tight_bounds, finite_only
        )
        return statistics_text(statistics)

    def file_name(self, kind: str, number: int, job: str) -> str:
        """The name of a job's file. Source: DelayedCommitProtocol.scala."""
        separator = "." if self.places else "-"
        return f"{kind}-{number:05d}-{job}{separator}c000.snappy.parquet"


@once_for_each
def file_layout(metadata: Metadata) -> FileLayout:
    """The layout that a table's metadata asks for."""
    schema, configuration = schema_of_metadata(metadata), metadata.configuration
    places = tuple(schema.index(name) for name in metadata.partition_columns)
    indexed = indexed_by(configuration)
    return FileLayout(
        schema,
        (schema.physical_names, schema.types),
        tuple(schema.fields[at].physical_name for at in places),
        places,
        tuple(at for at in places if schema.fields[at].type == "string"),
        columns_with_statistics(schema, metadata.partition_columns, indexed),
        indexed,
        True if properties.DELETION_VECTORS.of(configuration) else None,
    )


def _without_empty(rows: Sequence[Row], texts: Sequence[int]) -> Sequence[Row]:
    """Rows with NULL for the empty texts of partition columns: a path has no name for them.

    Source: Spark's V1WritesUtils.convertEmptyToNull (Empty2Null).
    """
    if not (texts and any(holds(rows, at, "") for at in texts)):
        return rows
    empty = frozenset(texts)
    return [
        tuple(None if at in empty and value == "" else value for at, value in enumerate(row))
        for row in rows
    ]


def _without(rows: Sequence[Row], places: Collection[int]) -> Sequence[Row]:
    return [tuple(None if at in places else value for at, value in enumerate(row)) for row in rows]


def logged_partition(value: Any) -> str | None:
    """A partition value as the log writes it; a FLOAT is given in its own digits.

    Source: PROTOCOL.md "Partition Value Serialization"; that instants without a time zone have no
    zeros at their end was observed.
    """
    if value is None or value == NULL_PARTITION:
        return None
    if isinstance(value, datetime) and value.tzinfo:
        return value.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"
    return to_text(value)
