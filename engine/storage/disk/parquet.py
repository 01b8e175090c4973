"""Data files in Parquet: rows of Python values to bytes and back, in the types of Spark.

Written so that Spark and other readers of Delta tables take them; partition columns are left out
of a file and come back from its partition values. Source: PROTOCOL.md "Data Files".
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from whitecap.engine.errors import DamagedFile, InvalidInput, Problem
from whitecap.engine.log.ddl import read_type
from whitecap.engine.storage.requests import ReadRows, Row, WriteRows
from whitecap.engine.values.texts import from_text

_ARROW_TYPES: Mapping[str, pa.DataType] = {
    "tinyint": pa.int8(),
    "smallint": pa.int16(),
    "int": pa.int32(),
    "bigint": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "string": pa.string(),
    "boolean": pa.bool_(),
    "binary": pa.binary(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us", "UTC"),
    "timestamp_ntz": pa.timestamp("us"),
    "void": pa.null(),
}


def arrow_type(type_name: str) -> pa.DataType:
    """The Arrow type of a Spark simple type string. Raises `InvalidInput`."""
    return _arrow_type(read_type(type_name))


def encode_rows(request: WriteRows) -> bytes:
    """A data file, snappy-compressed; the same rows are always the same bytes."""
    table = _table(request)
    sink = pa.BufferOutputStream()
    # The Arrow schema is left out: Parquet's own types say all that readers of Delta need.
    pq.write_table(table, sink, compression="snappy", store_schema=False)
    return bytes(sink.getvalue())


def decode_rows(content: bytes, request: ReadRows, at: int) -> list[Row]:
    """The rows of the request's file number `at`, in file order.

    A column that the file lacks is null (it was added later). Without `columns` in the request
    the columns are those of the file.

    Raises `DamagedFile` for bytes that are no such file, `InvalidInput` for one with other types.
    """
    key = request.keys[at]
    try:
        return _decode_rows(_read_table(content, key), request, at)
    except (pa.ArrowException, OSError) as error:
        raise InvalidInput([Problem(key, f"cannot be read: {error}")]) from error


def _read_table(content: bytes, key: str) -> pa.Table:
    try:
        return pq.read_table(pa.BufferReader(content))
    except (pa.ArrowInvalid, OSError) as error:
        raise DamagedFile([Problem(key, f"cannot be read: {error}")]) from error


def _decode_rows(table: pa.Table, request: ReadRows, at: int) -> list[Row]:
    columns = request.columns or tuple(table.column_names)
    types = request.types or ("",) * len(columns)
    values = request.partition_values[at] if request.partition_values else None
    lists = [
        _column(table, name, type_name, values or {})
        for name, type_name in zip(columns, types, strict=True)
    ]
    return list(zip(*lists, strict=True)) if lists else [()] * table.num_rows


def _table(request: WriteRows) -> pa.Table:
    left_out = {name.lower() for name in request.partition_columns}
    arrays, names = [], []
    for at, (name, type_name) in enumerate(zip(request.columns, request.types, strict=True)):
        if name.lower() not in left_out:
            arrays.append(pa.array([row[at] for row in request.rows], arrow_type(type_name)))
            names.append(name)
    return pa.Table.from_arrays(arrays, names=names)


def _column(
    table: pa.Table, name: str, type_name: str, partition_values: Mapping[str, str | None]
) -> list[Any]:
    if name in partition_values:
        return [_partition_value(partition_values[name], type_name)] * table.num_rows
    if name not in table.column_names:
        return [None] * table.num_rows
    stored = table.column(name)
    if type_name and stored.type != arrow_type(type_name):
        stored = stored.cast(arrow_type(type_name))
    return _python_values(stored)


def _partition_value(text: str | None, type_name: str) -> Any:
    # Source: PROTOCOL.md "Partition Value Serialization": an empty string stands for null.
    if not text:
        return None
    return from_text(text, type_name) if type_name else text


def _python_values(column: pa.ChunkedArray) -> list[Any]:
    values: list[Any] = column.to_pylist()
    if pa.types.is_timestamp(column.type) and column.type.tz:
        return [_in_utc(value) for value in values]
    return values


def _in_utc(value: datetime | None) -> datetime | None:
    return None if value is None else value.astimezone(UTC)


def _arrow_type(parsed: Any) -> pa.DataType:
    match parsed:
        case str() if parsed.startswith("decimal"):
            precision, scale = parsed.removeprefix("decimal(").removesuffix(")").split(",")
            return pa.decimal128(int(precision), int(scale))
        case str():
            return _ARROW_TYPES[parsed]
        case ("array", element):
            return pa.list_(_arrow_type(element))
        case ("map", key, value):
            return pa.map_(_arrow_type(key), _arrow_type(value))
        case ("struct", *members):
            return pa.struct([(name, _arrow_type(kind)) for name, kind in members])
        case _:
            raise AssertionError(parsed)
