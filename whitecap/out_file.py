"""Where a command writes what it made; checked before the work begins."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import combinations
from pathlib import Path

import click

from whitecap.engine.errors import InvalidInput, Problem
from whitecap.sim.machine.places import (
    NotWritten,
    is_passed_on,
    refused_places,
    require_file,
    require_new_file,
    write_whole,
    written,
)

OptionPlaces = Mapping[str, Path | None]
"""What a command reads or writes, by the options that name it."""


def overwriting_nothing(overwrite: bool, places: OptionPlaces) -> Iterator[Problem]:
    """`--overwrite` where none of the options, by their names, says what would be replaced."""
    if overwrite and not any(places.values()):
        yield Problem("", f"--overwrite goes with {' or '.join(places)}")


def not_apart(files: OptionPlaces, directories: OptionPlaces | None = None) -> Iterator[Problem]:
    """Options of one command that name one place, however spelt, or a file within a directory that
    the command fills: the one would be written over the other."""
    given = {option: place for option, place in files.items() if place is not None}
    for (option, place), (second, same) in combinations(given.items(), 2):
        if _is_one(place, same):
            yield Problem("", f"{option} and {second} name one place: {same}")
    for into, directory in (directories or {}).items():
        for option, place in given.items():
            if directory is not None and _real(place).is_relative_to(_real(directory)):
                yield Problem("", f"{option} must not lie within {into}: {place}")


def _is_one(place: Path, same: Path) -> bool:
    if is_passed_on(place):
        return False
    is_linked = place.exists() and same.exists() and place.samefile(same)
    return is_linked or _real(place) == _real(same)


def _real(place: Path) -> Path:
    """Without links and `..`; it need not be there."""
    return Path(os.path.realpath(place))


def refused_files(overwrite: bool, places: OptionPlaces) -> Iterator[Problem]:
    """What is wrong with files that are not to be there yet, by the options that name them."""
    yield from overwriting_nothing(overwrite, places)
    yield from not_apart(places)
    yield from refused_places(partial(require_new_file, overwrite=overwrite), *places.values())


PAGE_BEGINS = b'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<meta name='
"""How a page begins that Whitecap wrote (`reports/templates/`)."""


def form_of(
    form: str, out: Path | None, forms: Mapping[str, str], begins: Mapping[str, bytes]
) -> str:
    """The format to write, by the ending of `out` if none was chosen; `forms` by their endings.

    A file that is there is replaced if it `begins` as results of the format do. Raises
    `InvalidInput` for an ending that says nothing or another format, and for a place that cannot
    be written.
    """
    if out is None:
        return form
    by_ending = forms.get(out.suffix.lower())
    chosen = by_ending if form == "terminal" else form
    if by_ending is not None and by_ending != chosen:
        said = f"{out} ends as {by_ending} does, and --format says {chosen}"
        raise InvalidInput([Problem("--out", said)])
    require_file(out, begins.get(chosen or "", b""))
    if chosen is None:
        names = ", ".join(dict.fromkeys(forms.values()))
        raise InvalidInput([Problem("--out", f"{out} needs --format, one of {names}")])
    return chosen


def each_done(*steps: Callable[[], object]) -> None:
    """Take all steps, whichever of them cannot write.

    Raises the `OSError` of the one that could not, or an `ExceptionGroup` of those of several.
    """
    failed: list[OSError] = []
    for step in steps:
        try:
            step()
        except OSError as error:
            failed.append(error)
    if failed[1:]:
        raise ExceptionGroup("several results could not be written", failed)
    if failed:
        raise failed[0]


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
    write_whole(out, text.encode())
