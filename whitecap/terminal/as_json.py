"""What a command shows, as one JSON object on stdout: `--json` of every command that has it."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Mapping
from dataclasses import asdict, is_dataclass
from enum import Enum
from pathlib import Path
from typing import Any

import click
from msgspec import Struct, structs


def print_json(document: Mapping[str, Any]) -> None:
    """Print one JSON object: numbers as they are, `null` where nothing was measured."""
    is_ascii = not _has_all_characters(sys.stdout.encoding)
    click.echo(json.dumps(plain(document), indent=1, ensure_ascii=is_ascii, allow_nan=False))


def _has_all_characters(encoding: str) -> bool:
    """Of another one than UTF-8's, JSON spells what it may not have: `\\u2026`."""
    return encoding.lower().startswith("utf")


def plain(value: Any) -> Any:
    """A value made of what JSON knows; structs and dataclasses become objects."""
    match value:
        case Enum():
            return plain(value.value)
        case None | bool() | str() | int():
            return value
        case float():
            return value if math.isfinite(value) else None
        case Path():
            return str(value)
        case Mapping():
            return {str(key): plain(part) for key, part in value.items()}
        case list() | tuple() | set() | frozenset():
            return [plain(part) for part in value]
        case Struct():
            return plain(structs.asdict(value))
        case _ if is_dataclass(value) and not isinstance(value, type):
            return plain(asdict(value))
    if hasattr(value, "item"):  # a scalar of numpy
        return plain(value.item())
    raise TypeError(f"{type(value).__name__} is not written as JSON")
