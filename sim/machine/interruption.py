"""Ctrl-C during a run: the run ends with the instant it is at, and what was recorded is kept."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from whitecap.sim.quantities.units import about

ECHO_S = 0.5
"""One Ctrl-C may come twice: `timeout` sends it to its command and then to the whole group."""


class RunInterrupted(KeyboardInterrupt):
    """A run was interrupted; what it recorded until then lies in `kept`."""

    def __init__(self, kept: Path, now_ms: float) -> None:
        super().__init__(f"what was recorded in the first {about(now_ms)} is kept in {kept}")
        self.kept = kept


@contextmanager
def interrupted_by(stop: Callable[[], None]) -> Iterator[None]:
    """Let the first Ctrl-C call `stop`; the second one interrupts as usual, if it is one by itself.

    Only the main thread gets signals; where Ctrl-C is ignored, it still is, and SIGTERM calls
    `stop` if a command takes it for Ctrl-C.
    """
    awaited = _signal_that_interrupts()
    usual = signal.getsignal(awaited)
    if threading.current_thread() is not threading.main_thread() or not callable(usual):
        yield
        return

    first_s: float | None = None

    def pressed(number: int, frame: FrameType | None) -> None:
        nonlocal first_s
        if first_s is None:
            first_s = time.monotonic()
            stop()
        elif time.monotonic() - first_s >= ECHO_S:
            usual(number, frame)

    signal.signal(awaited, pressed)
    try:
        yield
    finally:
        signal.signal(awaited, usual)


def _signal_that_interrupts() -> signal.Signals:
    """SIGINT, unless it is ignored (as shells let their background commands do) and a command takes
    SIGTERM for it: its handler says so by `stands_for_ctrl_c`, whoever made it."""
    is_ignored = signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    terminated = signal.getsignal(signal.SIGTERM)
    if is_ignored and getattr(terminated, "stands_for_ctrl_c", False):
        return signal.SIGTERM
    return signal.SIGINT


@contextmanager
def interruption_says(what_is_kept: str) -> Iterator[None]:
    """Let a Ctrl-C meanwhile, whatever a library made of it, end in this `KeyboardInterrupt`."""
    try:
        yield
    except BaseException as error:
        if was_interrupted(error):
            raise KeyboardInterrupt(what_is_kept) from None
        raise


def reraise_interruption(error: Exception) -> None:
    """Where errors are kept or passed over, Ctrl-C is not one, whatever a library made of it."""
    if was_interrupted(error):
        raise KeyboardInterrupt from error


def was_interrupted(error: BaseException) -> bool:
    """Whether somebody pressed a key: DuckDB and Py4J turn that into an error of their own."""
    met: BaseException | None = error
    while met is not None:
        if isinstance(met, KeyboardInterrupt):
            return True
        met = met.__cause__ or met.__context__
    return False
