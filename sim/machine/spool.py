"""A temporary file for what a run has made and seldom needs again: memory is for what is in use."""

from __future__ import annotations

import os
import tempfile
from array import array
from errno import ENOSPC
from typing import BinaryIO


class Spool:
    """Blocks of bytes by number. The file has no name, and is made for the first block."""

    def __init__(self) -> None:
        self._file: BinaryIO | None = None
        self._ends = array("q", (0,))

    def __del__(self) -> None:
        if self._file is not None:
            self._file.close()

    def keep(self, block: bytes) -> int:
        """Write a block. Returns its number. Raises `OSError`, naming the full directory."""
        if self._file is None:
            self._file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115, open as long as this is
        try:
            written = os.pwrite(self._file.fileno(), block, self._ends[-1])
        except OSError as error:
            raise temporary_directory_is_full(error) from error
        if written < len(block):
            raise temporary_directory_is_full(OSError(ENOSPC, os.strerror(ENOSPC)))
        self._ends.append(self._ends[-1] + len(block))
        return len(self._ends) - 2

    def block(self, number: int) -> bytes:
        """Read a block. Raises `IndexError` for a number that was not given."""
        assert self._file is not None
        begin, end = self._ends[number], self._ends[number + 1]
        return os.pread(self._file.fileno(), end - begin, begin)


def temporary_directory_is_full(error: OSError) -> OSError:
    """The same, naming the directory.

    It is in the text: SimPy makes errors of a process anew from their arguments.
    """
    number = error.errno or ENOSPC
    return OSError(number, f"{os.strerror(number)}: {tempfile.gettempdir()}")
