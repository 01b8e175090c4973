"""Log actions in Parquet: one row per action, one struct column per kind of action.

Source: PROTOCOL.md "Checkpoints", "Checkpoint Schema"; what delta-spark writes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime
from functools import cache
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
from msgspec import Struct

from whitecap.engine.errors import InvalidLog, Problem
from whitecap.engine.log.actions import (
    AddFile,
    AnyAction,
    DomainMetadata,
    Metadata,
    Protocol,
    RemoveFile,
    SetTransaction,
)
from whitecap.engine.log.statistics import FileStatistics, statistics_text

_STRINGS = pa.map_(pa.string(), pa.string())
_VECTOR = pa.struct(
    [
        ("storageType", pa.string()),
        ("pathOrInlineDv", pa.string()),
        ("offset", pa.int32()),
        ("sizeInBytes", pa.int32()),
        ("cardinality", pa.int64()),
    ]
)
_ROW_TRACKING = [("baseRowId", pa.int64()), ("defaultRowCommitVersion", pa.int64())]
_COLUMNS: Mapping[str, pa.DataType] = {
    "txn": pa.struct(
        [("appId", pa.string()), ("version", pa.int64()), ("lastUpdated", pa.int64())]
    ),
    "add": pa.struct(
        [
            ("path", pa.string()),
            ("partitionValues", _STRINGS),
            ("size", pa.int64()),
            ("modificationTime", pa.int64()),
            ("dataChange", pa.bool_()),
            ("tags", _STRINGS),
            ("deletionVector", _VECTOR),
            *_ROW_TRACKING,
            ("clusteringProvider", pa.string()),
            ("stats", pa.string()),
        ]
    ),
    "remove": pa.struct(
        [
            ("path", pa.string()),
            ("deletionTimestamp", pa.int64()),
            ("dataChange", pa.bool_()),
            ("extendedFileMetadata", pa.bool_()),
            ("partitionValues", _STRINGS),
            ("size", pa.int64()),
            ("tags", _STRINGS),
            ("deletionVector", _VECTOR),
            *_ROW_TRACKING,
        ]
    ),
    "metaData": pa.struct(
        [
            ("id", pa.string()),
            ("name", pa.string()),
            ("description", pa.string()),
            ("format", pa.struct([("provider", pa.string()), ("options", _STRINGS)])),
            ("schemaString", pa.string()),
            ("partitionColumns", pa.list_(pa.string())),
            ("configuration", _STRINGS),
            ("createdTime", pa.int64()),
        ]
    ),
    "protocol": pa.struct(
        [
            ("minReaderVersion", pa.int32()),
            ("minWriterVersion", pa.int32()),
            ("readerFeatures", pa.list_(pa.string())),
            ("writerFeatures", pa.list_(pa.string())),
        ]
    ),
    "domainMetadata": pa.struct(
        [("domain", pa.string()), ("configuration", pa.string()), ("removed", pa.bool_())]
    ),
}
_V2_COLUMN = pa.struct([("version", pa.int64()), ("tags", _STRINGS)])
_KINDS: Mapping[str, type[Any]] = {
    "txn": SetTransaction,
    "add": AddFile,
    "remove": RemoveFile,
    "metaData": Metadata,
    "protocol": Protocol,
    "domainMetadata": DomainMetadata,
}


class Sidecar(Struct, frozen=True, rename="camel"):
    """A file beside a V2 checkpoint that holds some of its file actions."""

    path: str
    size_in_bytes: int
    modification_time: int


def encode_actions(actions: Sequence[AnyAction], v2_version: int | None = None) -> bytes:
    """A checkpoint file of `actions`; `v2_version` marks it as a V2 checkpoint of that version.

    The same actions are always the same bytes.
    """
    columns = {name: _column_of(actions, kind, name) for name, kind in _COLUMNS.items()}
    table = pa.table(columns)
    if v2_version is not None:
        table = pa.concat_tables([table, _v2_mark(v2_version)], promote_options="default")
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, compression="snappy", store_schema=False)
    return bytes(sink.getvalue())


def decode_actions(content: bytes, place: str) -> tuple[list[AnyAction], list[Sidecar]]:
    """The actions of a checkpoint or sidecar file, and the sidecars that it names.

    Raises `InvalidLog` naming `place`.
    """
    try:
        # Not `read_table`: it sets up a data set, which costs more than to read such a file.
        table = pq.ParquetFile(pa.BufferReader(content)).read()
        actions = [
            action
            for name in _KINDS
            if name in table.column_names
            for action in _actions_of(table.column(name), name)
        ]
        return actions, list(_sidecars(table))
    except (pa.ArrowException, msgspec.ValidationError, KeyError) as error:
        raise InvalidLog([Problem(place, f"cannot be read: {error}")]) from error


def _actions_of(column: pa.ChunkedArray, name: str) -> Iterable[AnyAction]:
    kind = _KINDS[name]
    for fields in _values(column.drop_null()):
        if name == "add" and "stats" not in fields and "stats_parsed" in fields:
            fields["stats"] = _statistics_of(fields["stats_parsed"])
        yield msgspec.convert(fields, kind)


def _sidecars(table: pa.Table) -> Iterable[Sidecar]:
    if "sidecar" in table.column_names:
        for row in table.column("sidecar").drop_null().to_pylist():
            yield msgspec.convert(row, Sidecar)


def _values(column: pa.ChunkedArray | pa.Array) -> list[Any]:
    """Arrow's values as JSON's: maps are dictionaries, absent fields are left out.

    Field by field rather than row by row, which is several times faster.
    """
    kind = column.type
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    if pa.types.is_map(kind):
        return [None if pairs is None else dict(pairs) for pairs in column.to_pylist()]
    if not pa.types.is_struct(kind):
        return list(column.to_pylist())
    names = [field.name for field in _fields(kind)]
    fields = [_values(part) for part in column.flatten()]
    rows = zip(*fields, strict=True)
    there = column.is_valid().to_pylist()
    return [_present(names, row) if valid else None for row, valid in zip(rows, there, strict=True)]


def _present(names: list[str], row: tuple[Any, ...]) -> dict[str, Any]:
    return {name: value for name, value in zip(names, row, strict=True) if value is not None}


@cache
def _fields(kind: pa.DataType) -> tuple[pa.Field, ...]:
    return tuple(kind.field(at) for at in range(kind.num_fields))


def _column_of(actions: Sequence[AnyAction], kind: pa.DataType, name: str) -> pa.Array:
    """The column of one kind of action: null in the rows of the others."""
    wanted = _KINDS[name]
    if not any(type(action) is wanted for action in actions):
        return pa.nulls(len(actions), kind)
    rows = [msgspec.to_builtins(a) if type(a) is wanted else None for a in actions]
    return _array(rows, kind)


def _array(values: list[Any], kind: pa.DataType) -> pa.Array:
    """JSON's values as Arrow's, field by field; maps are pairs, ordered by key."""
    if pa.types.is_map(kind):
        return pa.array([None if v is None else sorted(v.items()) for v in values], kind)
    if not pa.types.is_struct(kind):
        return pa.array(values, kind)
    parts = [
        _array([None if v is None else v.get(field.name) for v in values], field.type)
        for field in _fields(kind)
    ]
    absent = pa.array([v is None for v in values], pa.bool_())
    return pa.StructArray.from_arrays(parts, fields=list(_fields(kind)), mask=absent)


def _statistics_of(parsed: Mapping[str, Any]) -> str:
    """The JSON text of statistics that a checkpoint keeps as a struct only."""
    return statistics_text(
        FileStatistics(
            parsed.get("numRecords"),
            _json_values(parsed.get("minValues") or {}),
            _json_values(parsed.get("maxValues") or {}),
            dict(parsed.get("nullCount") or {}),
            parsed.get("tightBounds"),
        )
    )


def _json_values(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _json_value(value) for name, value in values.items()}


def _json_value(value: Any) -> Any:
    match value:
        case datetime():
            return value.isoformat(timespec="milliseconds")
        case date():
            return value.isoformat()
        case dict():
            return _json_values(value)
        case _:
            return value


def _v2_mark(version: int) -> pa.Table:
    return pa.table({"checkpointMetadata": pa.array([{"version": version}], _V2_COLUMN)})
