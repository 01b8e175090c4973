"""Comparing the partition values of files as typed values rather than as text.

Source: `actions.scala: Action.normalizePartitionValues`; `OptimisticTransaction.scala:
filterFiles(newFiles)`. A dynamic partition overwrite finds its partitions by this.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from whitecap.engine.errors import DeltaError
from whitecap.engine.log.actions import PartitionValues
from whitecap.engine.log.schema import Schema
from whitecap.engine.refusals import commit_errors
from whitecap.engine.values.texts import from_text

TypedValues = frozenset[tuple[str, Any]]

_TYPE_NAMES = {
    "int": "IntegerType",
    "bigint": "LongType",
    "smallint": "ShortType",
    "tinyint": "ByteType",
    "timestamp_ntz": "TimestampNTZType",
}


class PartitionNormalizer(Struct, frozen=True):
    """Reads partition value maps; with `typed` off, as the text that they are."""

    types: Mapping[str, str]
    time_zone: str
    typed: bool

    @classmethod
    def of(cls, schema: Schema, time_zone: str, typed: bool) -> PartitionNormalizer:
        """For a table's partition schema; files name partition columns by physical name."""
        return cls({field.physical_name: field.type for field in schema}, time_zone, typed)

    def normalize(self, values: PartitionValues) -> TypedValues:
        """The map as a comparable set.

        Raises `DeltaError` (`DELTA_PARTITION_COLUMN_CAST_FAILED`) for text that does not parse.
        """
        if not self.typed:
            return frozenset(values.items())
        return frozenset((name, self._typed(name, text)) for name, text in values.items())

    def _typed(self, name: str, text: str | None) -> Any:
        type_name = self.types.get(name, "string")
        if text is None or (text == "" and type_name != "string"):
            return None
        try:
            value = from_text(text, type_name, self.time_zone)
        except DeltaError:
            kind = _TYPE_NAMES.get(type_name, type_name.capitalize() + "Type")
            raise commit_errors.partition_cast_failed(text, kind, name) from None
        return math.nan if value != value else value  # one NaN, which equals itself in a set
