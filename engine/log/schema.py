"""A table's columns: Delta's `schemaString` and Spark's DDL text, both to and from `Schema`.

Types are Spark's simple strings (`int`, `bigint`, `decimal(10,2)`, `array<string>`); the log's own
JSON of a nested type is kept beside its simple string, so that reading and writing lose nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import msgspec
from msgspec import Struct

from whitecap.engine.column_names import ColumnPath, quoted_if_needed
from whitecap.engine.errors import InvalidLog, Problem
from whitecap.engine.log.actions import Metadata
from whitecap.engine.log.column_keys import PHYSICAL_NAME
from whitecap.engine.log.ddl import ColumnText, read_columns, read_type

# Spark's names of the same type: in DDL and messages on the left, in the log's JSON on the right.
# Source: PROTOCOL.md "Primitive Types"; the others are equal in both.
_LOG_NAMES = {"int": "integer", "bigint": "long", "smallint": "short", "tinyint": "byte"}
_SIMPLE_NAMES = {log: simple for simple, log in _LOG_NAMES.items()}
_SAME_NAMES = frozenset(
    {"string", "date", "timestamp", "timestamp_ntz", "double", "float", "boolean", "binary"}
    | {"void", "variant"}
)


class Field(Struct, frozen=True):
    """One column. `nested` is the log's JSON text of a struct, array or map type, else `None`."""

    name: str
    type: str
    nullable: bool = True
    metadata: Mapping[str, Any] = msgspec.field(default_factory=dict)
    nested: str | None = None

    @property
    def physical_name(self) -> str:
        """The name used in data files and partition values under column mapping."""
        return str(self.metadata.get(PHYSICAL_NAME, self.name))

    @property
    def leaves(self) -> Iterator[Leaf]:
        """The column itself, or the fields at the bottom of a struct."""
        kind = msgspec.json.decode(self.nested) if self.nested else log_name(self.type)
        return _leaves((self.name,), kind)


class Leaf(Struct, frozen=True):
    """What Delta counts and bounds one by one: its path from the column down, and its type."""

    path: ColumnPath
    type: str


def _leaves(path: ColumnPath, kind: Any) -> Iterator[Leaf]:
    if isinstance(kind, str) or kind["type"] != "struct":
        yield Leaf(path, simple_type(kind))
        return
    for part in kind["fields"]:
        yield from _leaves((*path, part["name"]), part["type"])


# No slots: what is derived from the columns is kept in the instance's dictionary.
@dataclass(frozen=True)
class Schema:
    """The columns of a table, in order. Names are looked up without regard to case, as in Spark."""

    fields: tuple[Field, ...] = ()

    def __iter__(self) -> Iterator[Field]:
        return iter(self.fields)

    def __len__(self) -> int:
        return len(self.fields)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The columns' names, as written."""
        return tuple(column.name for column in self.fields)

    @cached_property
    def physical_names(self) -> tuple[str, ...]:
        """The columns' names in data files and partition values."""
        return tuple(column.physical_name for column in self.fields)

    @cached_property
    def types(self) -> tuple[str, ...]:
        """The columns' types, as Spark simple strings."""
        return tuple(column.type for column in self.fields)

    def get(self, name: str) -> Field | None:
        """The column of that name in any case, `None` without one."""
        position = self._positions.get(name.lower())
        return None if position is None else self.fields[position]

    def index(self, name: str) -> int:
        """The column's position in a row. Raises `KeyError`."""
        position = self._positions.get(name.lower())
        if position is None:
            raise KeyError(name)
        return position

    @cached_property
    def _positions(self) -> Mapping[str, int]:
        """By names in lower case; the first of two columns that differ in case only."""
        last_first = reversed(list(enumerate(self.fields)))
        return {column.name.lower(): position for position, column in last_first}

    def select(self, names: list[str] | tuple[str, ...]) -> Schema:
        """Those of the named columns that exist, in the order named."""
        columns = (self.get(name) for name in names)
        return Schema(tuple(column for column in columns if column is not None))


EMPTY_SCHEMA = Schema()


@lru_cache(maxsize=1024)
def parse_schema(schema_string: str) -> Schema:
    """Read a `schemaString`.

    Raises `InvalidLog` for text that is not a struct of columns. Source: PROTOCOL.md "Schema
    Serialization Format".
    """
    try:
        struct = msgspec.json.decode(schema_string)
        columns = struct["fields"]
        if struct["type"] != "struct":
            raise KeyError("type")
        return Schema(tuple(_field_of_json(column) for column in columns))
    except (msgspec.DecodeError, KeyError, TypeError, AttributeError) as error:
        raise InvalidLog([Problem("schemaString", f"not a schema: {error}")]) from error


def schema_string(schema: Schema) -> str:
    """Write a schema as Delta's `schemaString`."""
    struct = {"type": "struct", "fields": [_json_of_field(column) for column in schema]}
    return msgspec.json.encode(struct).decode()


def schema_of_metadata(metadata: Metadata | None) -> Schema:
    """The columns that a `metaData` action names; none without a schema."""
    if metadata is None or not metadata.schema_string:
        return EMPTY_SCHEMA
    return parse_schema(metadata.schema_string)


@lru_cache(maxsize=1024)
def parse_ddl(text: str) -> Schema:
    """Read column definitions such as `x INT, v BIGINT NOT NULL COMMENT 'value'`.

    Raises `InvalidInput` with every column that cannot be read.
    """
    return Schema(tuple(_field_of_text(column) for column in read_columns(text)))


def ddl(schema: Schema) -> str:
    """Write column definitions that `parse_ddl` and Spark read."""
    return ", ".join(_definition(column) for column in schema)


def simple_type(json_type: Any) -> str:
    """The simple string of a type in the log's JSON. Raises `KeyError` for an unknown one."""
    if isinstance(json_type, str):
        return _simple_name(json_type)
    match json_type["type"]:
        case "array":
            return f"array<{simple_type(json_type['elementType'])}>"
        case "map":
            key, value = json_type["keyType"], json_type["valueType"]
            return f"map<{simple_type(key)},{simple_type(value)}>"
        case "struct":
            parts = (f"{part['name']}:{simple_type(part['type'])}" for part in json_type["fields"])
            return f"struct<{','.join(parts)}>"
        case other:
            raise KeyError(f"unknown type {other!r}")


def _json_of_simple(simple: str) -> Any:
    """The log's JSON of a simple type string; the nested parts of one are nullable."""
    return _json_of_type(read_type(simple))


def log_name(simple: str) -> str:
    """The log's name of a type without parts."""
    return _LOG_NAMES.get(simple, simple)


def _json_of_type(parsed: Any) -> Any:
    match parsed:
        case str():
            return log_name(parsed)
        case ("array", element):
            return {
                "type": "array",
                "elementType": _json_of_type(element),
                "containsNull": True,
            }
        case ("map", key, value):
            return {
                "type": "map",
                "keyType": _json_of_type(key),
                "valueType": _json_of_type(value),
                "valueContainsNull": True,
            }
        case ("struct", *parts):
            return {"type": "struct", "fields": [_part(name, kind) for name, kind in parts]}
        case _:
            raise AssertionError(parsed)


def _part(name: str, kind: Any) -> dict[str, Any]:
    return {"name": name, "type": _json_of_type(kind), "nullable": True, "metadata": {}}


def _simple_name(log_name: str) -> str:
    if log_name in _SAME_NAMES or log_name.startswith(("decimal", "char(", "varchar(")):
        return log_name
    return _SIMPLE_NAMES[log_name]


def _field_of_json(column: Any) -> Field:
    kind = column["type"]
    nested = None if isinstance(kind, str) else msgspec.json.encode(kind).decode()
    return Field(
        str(column["name"]), simple_type(kind), column["nullable"], column["metadata"], nested
    )


def _json_of_field(column: Field) -> dict[str, Any]:
    kind = msgspec.json.decode(column.nested) if column.nested else _json_of_simple(column.type)
    return {
        "name": column.name,
        "type": kind,
        "nullable": column.nullable,
        "metadata": dict(column.metadata),
    }


def _field_of_text(column: ColumnText) -> Field:
    kind = _json_of_type(column.type)
    nested = None if isinstance(kind, str) else msgspec.json.encode(kind).decode()
    return Field(column.name, simple_type(kind), column.nullable, column.metadata, nested)


def _definition(column: Field) -> str:
    name = quoted_if_needed(column.name)
    required = "" if column.nullable else " NOT NULL"
    comment = column.metadata.get("comment")
    quoted = "" if comment is None else " COMMENT '" + str(comment).replace("'", "\\'") + "'"
    return f"{name} {column.type.upper() if column.nested is None else column.type}" + (
        required + quoted
    )
