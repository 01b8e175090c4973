"""Words as sentences have them: a count with its noun, a list, a capital letter and a full stop.

Importing it loads nothing else: commands count what they are at before anything is measured.
"""

from __future__ import annotations

from collections.abc import Sequence


def counted(number: float, noun: str) -> str:
    """`1 replication`, `2,431 values`."""
    return f"{number:,.0f} {noun}{'' if round(number) == 1 else 's'}"


def listed(parts: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    *others, last = parts
    return f"{', '.join(others)} and {last}" if others else last


def sentence(text: str) -> str:
    """With a capital letter and a full stop."""
    return f"{text[:1].upper()}{text[1:]}."
