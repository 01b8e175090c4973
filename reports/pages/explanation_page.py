"""The explanation of a conflict as HTML, a page or a part of a notebook, from plain values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from whitecap.reports.markup.templating import template

_Plain = Mapping[str, Any]


def explanation_html(explanation: _Plain) -> str:
    """A page that opens without a network."""
    return template("explanation.html").render(explanation=explanation)


def explanation_part(explanation: _Plain) -> str:
    """The same to stand inside another page; brings its own style."""
    return template("explanation_part.html").render(explanation=explanation)
