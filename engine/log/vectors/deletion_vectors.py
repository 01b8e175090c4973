"""Deletion vectors: which row positions of a data file are deleted, as a roaring bitmap.

A vector is kept inside the log (`i`), in a file of the table (`u`, named by a UUID), or in a file
anywhere (`p`). Source: PROTOCOL.md "Deletion Vectors", "Deletion Vector Format", "Deletion Vector
File Storage Format"; RoaringBitmapArray.scala; DeletionVectorDescriptor.
"""

from __future__ import annotations

import struct
import uuid
import zlib
from collections.abc import Iterable

from pyroaring import BitMap64

from whitecap.engine.errors import InvalidLog, Problem
from whitecap.engine.log.actions import DeletionVector
from whitecap.engine.log.vectors import z85
from whitecap.engine.storage.paths import data_key
from whitecap.engine.storage.requests import Body, Get, NewId, Put, Steps

INLINE, RELATIVE_FILE, ABSOLUTE_FILE = "i", "u", "p"

# Source: PROTOCOL.md "Deletion Vector Format": the portable 64-bit roaring format follows it.
_MAGIC_NUMBER = 1681511377
_MAGIC = struct.pack("<i", _MAGIC_NUMBER)
# Source: PROTOCOL.md "Deletion Vector File Storage Format".
_FILE_VERSION = b"\x01"
# A file holds a big-endian size before each vector and a big-endian CRC-32 after it.
_NUMBER = struct.Struct(">I")
_ENCODED_UUID_LENGTH = 20
"""Letters of 16 bytes in Z85. Source: PROTOCOL.md "Deletion Vector Descriptor Schema"."""


class VectorIsGone(InvalidLog):
    """The file of a deletion vector does not exist (any more)."""


def encode_positions(positions: Iterable[int]) -> bytes:
    """The bitmap of some row positions: magic number, then roaring's portable 64-bit form."""
    bitmap = BitMap64(positions)
    bitmap.run_optimize()
    return _MAGIC + bytes(bitmap.serialize())


def decode_positions(payload: bytes) -> BitMap64:
    """The row positions of a bitmap. Raises `InvalidLog`."""
    if payload[:4] != _MAGIC:
        raise _broken("bitmap", f"has another magic number than {_MAGIC_NUMBER}")
    try:
        return BitMap64.deserialize(payload[4:])
    except ValueError as error:
        raise _broken("bitmap", str(error)) from error


def write_vectors(groups: Iterable[Iterable[int]]) -> Steps[tuple[DeletionVector, ...]]:
    """Store vectors together in one new file of the table; an id names it.

    Source: DeletionVectorStore.scala.
    """
    file_id = uuid.UUID((yield NewId()))
    bitmaps = [BitMap64(positions) for positions in groups]
    body = _FILE_VERSION
    vectors = []
    for bitmap in bitmaps:
        payload = encode_positions(bitmap)
        vectors.append(_file_vector(file_id, len(body), len(payload), len(bitmap)))
        body += _NUMBER.pack(len(payload)) + payload + _NUMBER.pack(zlib.crc32(payload))
    yield Put(vector_key(vectors[0]), body)
    return tuple(vectors)


def read_vector(vector: DeletionVector) -> Steps[BitMap64]:
    """The row positions that a vector deletes. Raises `VectorIsGone`, `InvalidLog`."""
    if vector.storage_type == INLINE:
        return decode_positions(_inline_payload(vector))
    key = vector_key(vector)
    answer = yield Get(key)
    if not isinstance(answer, Body):
        raise VectorIsGone([Problem(key, "deletion vector file is missing")])
    return decode_positions(_payload_of_file(answer.content, vector, key))


def vector_key(vector: DeletionVector) -> str:
    """The storage key of a vector's file. Raises `InvalidLog` for an inline one."""
    text = vector.path_or_inline_dv
    if vector.storage_type == ABSOLUTE_FILE:
        return data_key(text)
    if vector.storage_type != RELATIVE_FILE:
        raise _broken(text, f"no file belongs to storage type {vector.storage_type!r}")
    prefix, encoded = text[:-_ENCODED_UUID_LENGTH], text[-_ENCODED_UUID_LENGTH:]
    name = f"deletion_vector_{_decode_uuid(encoded)}.bin"
    return f"{prefix}/{name}" if prefix else name


def _file_vector(file_id: uuid.UUID, offset: int, size: int, count: int) -> DeletionVector:
    return DeletionVector(RELATIVE_FILE, z85.encode(file_id.bytes), offset, size, count)


def _decode_uuid(encoded: str) -> uuid.UUID:
    try:
        return uuid.UUID(bytes=z85.decode(encoded))
    except ValueError as error:
        raise _broken(encoded, f"not an encoded UUID: {error}") from error


def _inline_payload(vector: DeletionVector) -> bytes:
    try:
        return z85.decode(vector.path_or_inline_dv)[: vector.size_in_bytes]
    except ValueError as error:
        raise _broken(vector.path_or_inline_dv, str(error)) from error


def _payload_of_file(content: bytes, vector: DeletionVector, key: str) -> bytes:
    """The checked payload at a vector's offset; without an offset it is the file's first."""
    start = 1 if vector.offset is None else vector.offset
    end = start + _NUMBER.size + vector.size_in_bytes
    if content[:1] != _FILE_VERSION or len(content) < end + _NUMBER.size:
        raise _broken(key, f"holds no deletion vector at {start}")
    size, payload = _NUMBER.unpack_from(content, start)[0], content[start + _NUMBER.size : end]
    if size != vector.size_in_bytes:
        raise _broken(key, f"vector at {start} has {size} bytes, not {vector.size_in_bytes}")
    if _NUMBER.unpack_from(content, end)[0] != zlib.crc32(payload):
        raise _broken(key, f"checksum of the vector at {start} does not match")
    return payload


def _broken(place: str, text: str) -> InvalidLog:
    return InvalidLog([Problem(place, text)])
