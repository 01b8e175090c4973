"""Names of columns as SQL writes them: quoted, below each other, in a list, or twice."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

ColumnPath = tuple[str, ...]
"""A column's name, and below it those of fields of structs."""

_STEP = r"(?:`(?:[^`]|``)+`|\w+)"
_PATH = re.compile(rf"{_STEP}(?:\.{_STEP})*")
_PATHS = re.compile(rf"\s*(?:{_PATH.pattern}\s*(?:,\s*{_PATH.pattern}\s*)*)?")
# Source: Spark's QuotingUtils.quoteIfNeeded.
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def quoted_name(name: str) -> str:
    """A column's name as SQL takes any name."""
    return "`" + name.replace("`", "``") + "`"


def quoted_if_needed(name: str) -> str:
    """A column's name as Spark shows it."""
    return name if _PLAIN.fullmatch(name) else quoted_name(name)


def column_paths(text: str) -> tuple[ColumnPath, ...]:
    """The columns and fields of a list such as ``k, payload.user, `a-b` ``.

    Raises `ValueError` for what is no such list. Source: SqlParser.parseMultipartIdentifierList.
    """
    if not _PATHS.fullmatch(text):
        raise ValueError("expected names of columns, separated by commas")
    return tuple(tuple(map(plain_name, re.findall(_STEP, path))) for path in _PATH.findall(text))


def plain_name(step: str) -> str:
    """The name that SQL writes so, quoted or not."""
    return step[1:-1].replace("``", "`") if step.startswith("`") else step


def paths_text(paths: Iterable[ColumnPath]) -> str:
    """Such a list as Delta writes it, quoted where a name needs it."""
    return ",".join(".".join(map(quoted_if_needed, path)) for path in paths)


def repeated(names: Sequence[str]) -> str | None:
    """The first name that stands there twice, in any case."""
    seen: set[str] = set()
    for name in names:
        if name.lower() in seen:
            return name
        seen.add(name.lower())
    return None
