"""What identifies files and partitions: by paths, deletion vectors, and values of partitions."""

from __future__ import annotations

from whitecap.engine.log.actions import AddFile, RemoveFile

FileKey = tuple[str, str | None]
"""What identifies a logical file: its path and the id of its deletion vector, if it has one."""

PartitionKey = tuple[str | None, ...]
"""A file's partition values, in the order of the table's partition columns."""

NamedValues = frozenset[tuple[str, str | None]]
"""The values of a partition, by column as in the log."""


def file_key(file: AddFile | RemoveFile) -> FileKey:
    """A file's identity in the log. Source: PROTOCOL.md "Add File and Remove File"."""
    return (file.path, file.dv_id)


def by_path(file: AddFile | RemoveFile) -> tuple[str, str]:
    """The order of files by path, and of one path by deletion vector."""
    return (file.path, file.dv_id or "")


def partition_of(file: AddFile | RemoveFile) -> NamedValues:
    """The partition that a file is in."""
    return frozenset((file.partition_values or {}).items())
