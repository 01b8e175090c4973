"""Where a command writes what it made; checked before the work begins."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path

import click

from whitecap.engine.errors import InvalidInput, Problem
from whitecap.sim.machine.places import (
    NotWritten,
    refused_places,
    require_file,
    require_new_file,
    written,
)


def overwriting_nothing(overwrite: bool, places: Mapping[str, Path | None]) -> Iterator[Problem]:
    """`--overwrite` where none of the options, by their names, says what would be replaced."""
    if overwrite and not any(places.values()):
        yield Problem("", f"--overwrite goes with {' or '.join(places)}")


def refused_files(overwrite: bool, places: Mapping[str, Path | None]) -> Iterator[Problem]:
    """What is wrong with files that are not to be there yet, by the options that name them."""
    yield from overwriting_nothing(overwrite, places)
    yield from refused_places(partial(require_new_file, overwrite=overwrite), *places.values())


def form_of(form: str, out: Path | None, forms: Mapping[str, str]) -> str:
    """The format to write, by the ending of `out` if none was chosen; `forms` by their endings.

    Raises `InvalidInput` for an ending that says nothing, and for a place that cannot be written.
    """
    if out is None:
        return form
    require_file(out)
    chosen = forms.get(out.suffix.lower()) if form == "terminal" else form
    if chosen is None:
        names = ", ".join(dict.fromkeys(forms.values()))
        raise InvalidInput([Problem("--out", f"{out} needs --format, one of {names}")])
    return chosen


def write_out(out: Path | None, text: str, name: str) -> None:
    """Write a text there and say so, or print it.

    Raises `NotWritten` where it cannot be written, after it was printed.
    """
    if out is None:
        _print(text)
        return
    try:
        written(text, partial(_write, text), out)
    except NotWritten:
        _print(text)
        raise
    click.echo(f"{name}  {out}")


def _print(text: str) -> None:
    click.echo(text, nl=not text.endswith("\n"))


def _write(text: str, out: Path) -> None:
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(text, encoding="utf-8")
