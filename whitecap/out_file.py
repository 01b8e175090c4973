"""Where a command writes what it made; checked before the work begins."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import click

from whitecap.engine.errors import InvalidInput, Problem


def form_of(form: str, out: Path | None, forms: Mapping[str, str]) -> str:
    """The format to write, by the ending of `out` if none was chosen; `forms` by their endings.

    Raises `InvalidInput` for an ending that says nothing, and for a place that cannot be written.
    """
    if out is None:
        return form
    _check(out)
    found = forms.get(out.suffix.lower()) if form == "terminal" else form
    if found is None:
        names = ", ".join(dict.fromkeys(forms.values()))
        raise InvalidInput([Problem("--out", f"{out} needs --format, one of {names}")])
    return found


def _check(out: Path) -> None:
    """What can be known before anything is written."""
    if out.is_dir():
        raise InvalidInput([Problem("--out", f"{out} is a directory")])
    there = next(place for place in (out, *out.absolute().parents) if place.exists())
    if there != out and not there.is_dir():
        raise InvalidInput([Problem("--out", f"{there} is not a directory")])
    if not os.access(there, os.W_OK):
        raise InvalidInput([Problem("--out", f"{there} cannot be written")])


def write_out(out: Path | None, text: str, name: str) -> None:
    """Write a text there and say so, or print it. Raises `InvalidInput` if that fails."""
    if out is None:
        click.echo(text)
        return
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InvalidInput([Problem("--out", f"{out}: {error.strerror}")]) from None
    click.echo(f"{name}  {out}")
