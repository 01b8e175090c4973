"""What callers from Python give as one text or as several."""

from __future__ import annotations

from collections.abc import Sequence


def texts_of(given: str | Sequence[str]) -> Sequence[str]:
    """All of them; one alone is no sequence of its letters."""
    return [given] if isinstance(given, str) else given
