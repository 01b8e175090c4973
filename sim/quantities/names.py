"""What the names that a scenario gives may be made of, as patterns, and how long they may be."""

from __future__ import annotations

import re

FILE_NAME = r"^\w[\w.-]*$"
"""Of a scenario, which directories and files are called by."""

TABLE_NAME = r"^[A-Za-z_]\w*$"
"""Of a table, which statements write without quotes."""

MOST_BYTES = 230
"""Of a name that files are called by: they add some letters to it, and file systems take 255."""


def too_long(name: str) -> str | None:
    """Why a name cannot be a file's, if it is for its length."""
    length = len(name.encode())
    if length <= MOST_BYTES:
        return None
    return f"files are called by it, and it has {length} bytes: {MOST_BYTES} are the most"


def is_file_name(name: str) -> bool:
    """Whether a scenario may be called so."""
    return bool(re.fullmatch(FILE_NAME, name)) and not too_long(name)
