"""What a command does with the process that it has to itself: streams, garbage and signals."""

from __future__ import annotations

import gc
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from whitecap.streams import sound_streams

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
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _interrupt(number: int, frame: FrameType | None) -> None:
    """Do what Ctrl-C does now; where it is ignored, as in the background, what it does usually."""
    pressed = signal.getsignal(signal.SIGINT)
    act = pressed if callable(pressed) else signal.default_int_handler
    act(number, frame)
