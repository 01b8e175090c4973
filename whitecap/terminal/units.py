"""Texts for rich, which keep numbers together with their units."""

from __future__ import annotations

from rich.text import Text

from whitecap.reports.measures.units import units_held

HELD = "\ue000"
"""Stands for the blank before a unit while lines are broken. Rich breaks at every blank, those of
Unicode that should not be broken at included; this one is for private use and as wide as they."""


def held(text: str) -> str:
    """A text of the same length whose units cannot be parted from their numbers."""
    return units_held(text, HELD)


def released(text: str) -> str:
    """The text as it was."""
    return text.replace(HELD, " ")


def with_held(text: str | Text) -> Text:
    """A text as rich breaks it, styled as it was."""
    return _changed(Text(text) if isinstance(text, str) else text.copy(), held(str(text)))


def with_released(text: Text) -> Text:
    """A line as it is printed, styled as it was."""
    return _changed(text, released(text.plain))


def _changed(text: Text, plain: str) -> Text:
    text.plain = plain
    return text
