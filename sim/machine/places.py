"""Where results are written: looked at before the work begins, and replaced whole or not at all."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from whitecap.engine.errors import InvalidInput, Problem, each_read, unreadable

_YAML = (".yaml", ".yml")

_URI = re.compile(r"[a-z][a-z0-9+.-]+:/")
"""How what names a scheme begins; of its two slashes a path has kept one."""

W = TypeVar("W")


class NotWritten(OSError):
    """A place did not take what perhaps took minutes to make; that is the error's `result`."""

    def __init__(self, error: OSError, place: Path, result: Any) -> None:
        """By what the machine said, which does not name the place of a full disk."""
        if error.errno is None:  # nothing but a text
            super().__init__(f"{error}: '{place}'")
        else:
            super().__init__(error.errno, error.strerror, error.filename or str(place))
        self.result = result
        self.add_note("What was to be written is the `result` of this error.")


def named(error: OSError, place: Path) -> OSError:
    """The same error of a place: a full disk names none, and Parquet's writer has other words."""
    if error.filename is not None or error.errno is None:
        return error
    return OSError(error.errno, os.strerror(error.errno), str(place))


def written(result: Any, write: Callable[[Path], W], place: Path) -> W:
    """What `write` says of a result that it writes to a place. Raises `NotWritten`."""
    try:
        return write(place)
    except OSError as error:
        raise NotWritten(error, place, result) from error


MOST_BYTES = 240
"""Of each name of a place: file systems take 255, and what is not whole yet has a longer one."""

MOST_OF_ALL = 3800
"""Bytes of a path: Linux takes 4,095, and files within a directory have longer ones."""


def _why_no_place(path: Path) -> str | None:
    """Why nothing can be written there, whatever is there: its name."""
    text = str(path)
    if any("\ud800" <= character <= "\udfff" for character in text):
        return "its name is not UTF-8"
    longest = max((len(part.encode()) for part in path.parts), default=0)
    is_too_long = longest > MOST_BYTES or len(text.encode()) > MOST_OF_ALL
    return "file name too long" if is_too_long else None


def require_name(path: Path) -> None:
    """Raises `InvalidInput` where nothing can be written by this name."""
    if why := _why_no_place(path):
        raise _cannot_be_written(path, why)


def require_file(path: Path, begins: bytes = b"") -> None:
    """Raises `InvalidInput` unless a result can be written there; nothing is left behind.

    What is made again and again is replaced, but only by its own kind: a file that is there
    `begins` as such results do, or is empty. No result is YAML: that is written by hand.
    """
    _require_writable(path)
    if is_passed_on(path) or not path.exists():
        return
    but = ", but YAML" if path.suffix.lower() in _YAML else ""
    if but or not _begins(path, begins):
        said = f"is there already and is no such result{but}; it is left alone"
        raise InvalidInput([Problem(str(path), said)])


def _begins(path: Path, begins: bytes) -> bool:
    """Whether a file does, or is empty."""
    try:
        with path.open("rb") as file:
            return file.read(len(begins)) in (begins, b"")
    except OSError as error:
        raise unreadable(path, error) from None


_KEEPERS = {
    ("manifest.json", "transactions.parquet"): "a run's directory",
    ("sweep.json", "cells"): "a sweep's directory",
    ("_delta_log",): "a Delta table",
}
"""Directories whose content is their own, by what lies in them. A manifest.json alone says little:
browsers and web sites have such files."""


def _require_no_keeper(path: Path) -> None:
    """Raises `InvalidInput` within a directory whose content is its own."""
    for directory in Path(os.path.realpath(path)).parents:
        for names, kind in _KEEPERS.items():
            if all((directory / name).exists() for name in names):
                raise _cannot_be_written(path, f"{directory} is {kind}, which keeps to itself")


def _require_writable(path: Path) -> None:
    require_name(path)
    if path.is_dir():
        raise _cannot_be_written(path, "it is a directory")
    _require_no_keeper(path)
    if path.exists():
        if not os.access(path, os.W_OK):
            raise _cannot_be_written(path, "permission denied")
        return
    _try(path, path.absolute().parent)


def require_new_file(path: Path, *, overwrite: bool) -> None:
    """The same of a file of any kind that is not there yet, or may be replaced (`overwrite`)."""
    _require_writable(path)
    if path.exists() and not overwrite and not path.is_char_device():
        said = "is there already: say --overwrite (overwrite=True)"
        raise InvalidInput([Problem(str(path), said)])


def require_directory(path: Path) -> None:
    """Raises `InvalidInput` unless a directory can be made or filled there; makes none."""
    require_name(path)
    if path.exists() and not path.is_dir():
        raise _cannot_be_written(path, "it is not a directory")
    _try(path, path.absolute())


def refused_places(require: Callable[[Path], None], *places: Path | None) -> list[Problem]:
    """What one of the functions above finds wrong with all places that are given."""
    problems: list[Problem] = []
    each_read((place for place in places if place is not None), require, problems)
    return problems


def require_free(
    directory: Path, kind: str, is_one: Callable[[Path], bool], *, overwrite: bool
) -> None:
    """Raises `InvalidInput` unless a directory of some kind can be written there, as a whole.

    One that `is_one` of the kind already is replaced with `overwrite`; anything else is left alone.
    """
    require_name(directory)
    there = directory.absolute()
    _try(directory, there if there.is_dir() else there.parent)
    if not directory.exists() or (directory.is_dir() and not any(directory.iterdir())):
        return
    if not is_one(directory):
        said = f"is there already and is not {kind}; it is left alone"
        raise InvalidInput([Problem(str(directory), said)])
    if not overwrite:
        said = f"holds {kind} already; --overwrite (overwrite=True) replaces it"
        raise InvalidInput([Problem(str(directory), said)])


def write_whole(path: Path, content: bytes) -> None:
    """Make or replace a file, in a folder that is made if need be: whoever is killed leaves it as
    it was. What is no ordinary file (a pipe, a device) is written to as it stands."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if is_passed_on(path):
        path.write_bytes(content)
        return
    place = Path(os.path.realpath(path))  # of a link the file that it names
    beside = place.with_name(f".{place.name}{PART}")
    try:
        beside.write_bytes(content)
        beside.replace(place)
    except BaseException as error:
        beside.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise OSError(error.errno, error.strerror, str(path)) from error
        raise


PART = ".part"
"""How a file is called that is not whole yet, behind a dot and its name."""

_STREAMS = (Path("/dev"), Path("/dev/fd"))


def is_passed_on(path: Path) -> bool:
    """Whether what is written there is no file's content: a device, a pipe, /dev/stdout."""
    is_special = path.exists() and not (path.is_file() or path.is_dir())
    return is_special or path.absolute().parent in _STREAMS


@contextmanager
def whole(directory: Path, last: str) -> Iterator[Path]:
    """A directory to fill, whose content becomes that of `directory` when all went well.

    A directory that is there stays the same one, since it may be the root of a volume; its file
    `last`, without which nobody takes the content for whole, goes first and comes last.
    """
    directory.parent.mkdir(parents=True, exist_ok=True)
    within = directory if directory.exists() else directory.parent
    beside = Path(tempfile.mkdtemp(prefix=f".{directory.name}.", dir=within))
    try:
        yield beside
        beside.chmod(0o755)
        if within is directory:
            _replace_content(directory, beside, last)
        else:
            beside.rename(directory)
    except BaseException as error:
        shutil.rmtree(beside, ignore_errors=True)
        if isinstance(error, OSError):
            raise named(error, directory) from error
        raise


def _replace_content(directory: Path, beside: Path, last: str) -> None:
    (directory / last).unlink(missing_ok=True)
    for entry in directory.iterdir():
        if entry.is_dir() and not entry.is_symlink() and entry != beside:
            shutil.rmtree(entry)
        elif entry != beside:
            entry.unlink()
    for entry in sorted(beside.iterdir(), key=lambda entry: entry.name == last):
        entry.rename(directory / entry.name)
    beside.rmdir()


def _try(path: Path, parent: Path) -> None:
    """Write a file without a name where `parent` is, or would be made: rights alone do not say
    whether that goes.

    Nothing is made that another process, which tries the same, could find or miss.
    """
    if _URI.match(str(path)):
        raise _cannot_be_written(path, "it is a URI, and a path is needed (a sweep takes both)")
    there = next(place for place in (parent, *parent.parents) if place.exists())
    if not there.is_dir():
        raise _cannot_be_written(path, f"{there.name} is not a directory")
    try:
        with tempfile.TemporaryFile(dir=there):
            pass
    except OSError as error:
        raise _cannot_be_written(path, error.strerror or str(error)) from None


def _cannot_be_written(path: Path, reason: str) -> InvalidInput:
    return InvalidInput([Problem(str(path), f"cannot be written: {reason[0].lower()}{reason[1:]}")])
