"""How documents lie on disk: JSON that people can read and any parser takes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path


def write_document(path: Path, document: Mapping[str, object]) -> None:
    """Write it in a folder that is made if need be.

    Raises `ValueError` for numbers that JSON does not know.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False)
    path.write_text(text + "\n", encoding="utf-8")
