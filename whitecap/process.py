"""What a command does with the process that it has to itself: streams, garbage and signals."""

from __future__ import annotations

import gc
import io
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, Final, TextIO, cast

NEW_OBJECTS = 7_000
"""How many new objects Python makes before it searches them for garbage. Imports make some hundred
thousand that stay: at Python's own 700 a twenty-fifth of what `whitecap explain` takes is searches
of them (1.11 and 1.15 CPU seconds)."""


@contextmanager
def process_of_a_command() -> Iterator[None]:
    """Print wherever it goes, search for garbage seldom, and take SIGTERM for Ctrl-C, until the
    command ends."""
    with sound_streams(), _seldom_searching(), _terminated_as_interrupted():
        yield


@contextmanager
def _seldom_searching() -> Iterator[None]:
    usual = gc.get_threshold()
    gc.set_threshold(NEW_OBJECTS, *usual[1:])
    try:
        yield
    finally:
        gc.set_threshold(*usual)


@contextmanager
def _terminated_as_interrupted() -> Iterator[None]:
    """Schedulers, containers and CI stop a command by SIGTERM: what is finished is kept then too.

    Only the main thread may say so; somebody's own handling of it stays.
    """
    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        yield
        return
    signal.signal(signal.SIGTERM, _AsCtrlC())
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


class _AsCtrlC:
    """What a signal does that is taken for Ctrl-C: what that does now; where it is ignored, as in
    the background, what it does usually, but what ends with Ctrl-C in order ends with this too."""

    stands_for_ctrl_c: Final = True
    """By this `sim/machine/interruption.py` knows it, which nobody imports for a signal."""

    def __call__(self, number: int, frame: FrameType | None) -> None:
        pressed = signal.getsignal(signal.SIGINT)
        act = pressed if callable(pressed) else signal.default_int_handler
        act(number, frame)


NAMES = {"stdin": "r", "stdout": "w", "stderr": "w"}
"""Python's names of the first three files of a process, and what each is opened for."""


@contextmanager
def sound_streams() -> Iterator[None]:
    """Until the command ends: nothing is `None`, no character too much, and stderr never fails."""
    _open_closed()
    usual = sys.stderr
    sys.stderr = cast(TextIO, Forgiving(usual))
    try:
        with _any_character(sys.stdout), _any_character(usual):
            yield
    finally:
        sys.stderr = usual


def _open_closed() -> None:
    """Give a stream that is closed (`>&-`) to nobody: by its number, which the next file that is
    opened would get, and be printed into."""
    for number, (name, mode) in enumerate(NAMES.items()):
        if getattr(sys, name) is None:
            setattr(sys, name, _nobody(number, mode))


def _nobody(number: int, mode: str) -> TextIO:
    handle = os.open(os.devnull, os.O_RDWR)
    if handle != number and _is_closed(number):
        os.dup2(handle, number)
        os.close(handle)
        handle = number
    return cast(TextIO, open(handle, mode, encoding="utf-8", closefd=False))


def _is_closed(number: int) -> bool:
    try:
        os.fstat(number)
    except OSError:
        return True
    return False


@contextmanager
def _any_character(stream: TextIO) -> Iterator[None]:
    """Print `?` for what the stream's encoding has not, as that of LC_ALL=C: the work is done, and
    its result is worth more than the character."""
    if not isinstance(stream, io.TextIOWrapper):
        yield
        return
    usual = stream.errors
    stream.reconfigure(errors="replace")
    try:
        yield
    finally:
        if not stream.closed:
            stream.reconfigure(errors=usual)


class Forgiving:
    """A stream for remarks: where they cannot be written, all else goes on, and the exit code says
    how it ended. Only who reads through a pipe and goes away is told of."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        """As a stream's; of what is lost too it says that it was written."""
        try:
            return self._stream.write(text)
        except BrokenPipeError:
            raise
        except (OSError, ValueError):
            return len(text)

    def flush(self) -> None:
        """As a stream's."""
        try:
            self._stream.flush()
        except BrokenPipeError:
            raise
        except (OSError, ValueError):
            return
