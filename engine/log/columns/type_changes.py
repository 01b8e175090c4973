"""Changed column types, as a schema notes them.

Source: TypeWideningMetadata.scala; PROTOCOL.md "Type Change Metadata"; Spark's CharVarcharUtils
(a text's limit stands in the column's metadata).
"""

from __future__ import annotations

from collections.abc import Collection

from msgspec import Struct
from msgspec.structs import replace

from whitecap.engine.log.column_keys import LIMITED_TEXT, TYPE_CHANGES
from whitecap.engine.log.schema import Field, Schema, log_name
from whitecap.engine.values.types import LIMITED_TYPE


def declared_type(column: Field) -> str:
    """The type that a column was given: a limited text is more than a STRING."""
    return str(column.metadata.get(LIMITED_TEXT, column.type))


class TextLimit(Struct, frozen=True):
    """How many letters a text may have, and whether shorter ones are shown with blanks."""

    letters: int
    is_padded: bool


def text_limit(column: Field) -> TextLimit | None:
    """The limit of a CHAR or VARCHAR column, `None` for other columns."""
    limited = column.metadata.get(LIMITED_TEXT)
    declared = None if limited is None else LIMITED_TYPE.fullmatch(limited)
    return None if declared is None else TextLimit(int(declared[2]), declared[1] is None)


def char_letters(column: Field | None) -> int | None:
    """How many letters every text of a CHAR column has, `None` for other columns."""
    limit = None if column is None else text_limit(column)
    return limit.letters if limit is not None and limit.is_padded else None


def widened(column: Field, type_name: str) -> Field:
    """The column with a wider type, and a note of it."""
    change = {"toType": log_name(type_name), "fromType": log_name(column.type)}
    changes = [*column.metadata.get(TYPE_CHANGES, []), change]
    metadata = {**column.metadata, TYPE_CHANGES: changes}
    return replace(column, type=type_name, metadata=metadata)


def with_limit_of(column: Field, other: Field) -> Field:
    """The column with another's limit for its texts, or with none."""
    kept = {key: value for key, value in column.metadata.items() if key != LIMITED_TEXT}
    if LIMITED_TEXT in other.metadata:
        kept[LIMITED_TEXT] = other.metadata[LIMITED_TEXT]
    return replace(column, metadata=kept)


def without_limits(schema: Schema, names: Collection[str]) -> Schema:
    """The schema whose columns of these names are texts of any length."""
    plain = Field("", "string")
    return Schema(tuple(with_limit_of(f, plain) if f.name in names else f for f in schema))


def has_type_changes(schema: Schema) -> bool:
    """Whether any column was widened. Source: TypeWideningMetadata.containsTypeWideningMetadata."""
    return any(map(is_noted, schema))


def is_noted(column: Field) -> bool:
    """Whether a column has notes of its changes."""
    return TYPE_CHANGES in column.metadata


def without_type_changes(schema: Schema) -> Schema:
    """The schema without the notes of its changes."""
    return Schema(tuple(_without_note(column) for column in schema))


def _without_note(column: Field) -> Field:
    kept = {key: value for key, value in column.metadata.items() if key != TYPE_CHANGES}
    return replace(column, metadata=kept)
