"""The Spark job of a command: what it read and wrote, which its time follows from."""

from __future__ import annotations

from collections.abc import Iterable

from whitecap.engine.log.actions import AddFile
from whitecap.engine.row_level.data_files import FileRows
from whitecap.engine.storage.requests import Compute, Steps
from whitecap.engine.writing.files import FileWriter


def job(
    name: str,
    read: Iterable[FileRows] = (),
    writer: FileWriter | None = None,
    scan: Iterable[AddFile] | None = None,
) -> Steps[None]:
    """Spend the time of the command's Spark job, told what it read and wrote.

    `scan`: all files that it looked through, where that is more than what it read.
    """
    files = list(read)
    yield Compute(
        name,
        rows_read=sum(len(loaded.rows) for loaded in files),
        bytes_read=sum(loaded.file.size for loaded in files),
        bytes_written=0 if writer is None else writer.bytes_written,
        scanned=files if scan is None else scan,
        paths_read=tuple([loaded.file.path for loaded in files]),
    )
