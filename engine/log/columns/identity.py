"""Identity columns: what a column's metadata says of them, and how their values count up.

Source: IdentityColumn.scala.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct
from msgspec.structs import replace

from whitecap.engine.log.column_keys import (
    GENERATION_EXPRESSION,
    IDENTITY_ALLOWS_EXPLICIT_INSERT,
    IDENTITY_HIGH_WATER_MARK,
    IDENTITY_START,
    IDENTITY_STEP,
)
from whitecap.engine.log.schema import Field, Schema


class Identity(Struct, frozen=True):
    """How one column's values are generated."""

    start: int
    step: int
    high_water_mark: int | None
    allows_explicit_insert: bool

    @property
    def next_value(self) -> int:
        """The first value of the next rows."""
        return self.start if self.high_water_mark is None else self.high_water_mark + self.step

    def farthest(self, values: list[int]) -> int:
        """The value that counted farthest."""
        return max(values) if self.step > 0 else min(values)

    def at_or_after(self, value: int) -> int:
        """The value itself if the column can generate it, else the next one that it can."""
        if (value - self.start) % self.step == 0:
            return value
        return self.start + self.step * (_towards_zero(value - self.start, self.step) + 1)

    def is_before_start(self, value: int) -> bool:
        """Whether a value lies on the wrong side of the first one."""
        return value < self.start if self.step > 0 else value > self.start


def _towards_zero(value: int, step: int) -> int:
    quotient = abs(value) // abs(step)
    return quotient if (value < 0) == (step < 0) else -quotient


def is_computed(column: Field) -> bool:
    """Whether the table makes a column's values: an identity's, or those of an expression."""
    return IDENTITY_START in column.metadata or GENERATION_EXPRESSION in column.metadata


def identity_of(column: Field) -> Identity | None:
    """The column's identity, `None` for any other column."""
    column_metadata = column.metadata
    if IDENTITY_START not in column_metadata:
        return None
    mark = column_metadata.get(IDENTITY_HIGH_WATER_MARK)
    return Identity(
        int(column_metadata[IDENTITY_START]),
        int(column_metadata[IDENTITY_STEP]),
        None if mark is None else int(mark),
        bool(column_metadata.get(IDENTITY_ALLOWS_EXPLICIT_INSERT, False)),
    )


def with_marks(schema: Schema, marks: Mapping[str, int]) -> Schema:
    """The columns with new high-water marks, by physical name; a mark never moves back.

    Source: IdentityColumn.scala: updateSchema.
    """
    return Schema(tuple(_advanced(column, marks) for column in schema))


def marks_of(schema: Schema) -> dict[str, int]:
    """The high-water marks that there are, by physical name."""
    identities = ((column.physical_name, identity_of(column)) for column in schema)
    return {
        name: identity.high_water_mark
        for name, identity in identities
        if identity is not None and identity.high_water_mark is not None
    }


def with_mark(column: Field, mark: int) -> Field:
    """The column with this high-water mark."""
    return replace(column, metadata={**column.metadata, IDENTITY_HIGH_WATER_MARK: mark})


def _advanced(column: Field, marks: Mapping[str, int]) -> Field:
    identity, mark = identity_of(column), marks.get(column.physical_name)
    if identity is None or mark is None:
        return column
    old = identity.high_water_mark
    return with_mark(column, mark if old is None else identity.farthest([old, mark]))
