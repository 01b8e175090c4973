"""What identifies a logical file."""

from __future__ import annotations

from whitecap.engine.log.actions import AddFile, RemoveFile

FileKey = tuple[str, str | None]
"""What identifies a logical file: its path and the id of its deletion vector, if it has one."""


def file_key(file: AddFile | RemoveFile) -> FileKey:
    """A file's identity in the log. Source: PROTOCOL.md "Add File and Remove File"."""
    return (file.path, file.dv_id)
