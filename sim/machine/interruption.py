"""Ctrl-C during a run: the run ends with the instant it is at, and what was recorded is kept."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from whitecap.sim.quantities.units import about


class RunInterrupted(KeyboardInterrupt):
    """A run was interrupted; what it recorded until then lies in `kept`."""

    def __init__(self, kept: Path, now_ms: float) -> None:
        super().__init__(f"what was recorded in the first {about(now_ms)} is kept in {kept}")
        self.kept = kept


@contextmanager
def interrupted_by(stop: Callable[[], None]) -> Iterator[None]:
    """Let the first Ctrl-C call `stop`; the second one interrupts as usual.

    Only the main thread gets signals; where Ctrl-C is ignored, it still is.
    """
    usual = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(usual):
        yield
        return

    def first(*_: object) -> None:
        signal.signal(signal.SIGINT, usual)
        stop()

    signal.signal(signal.SIGINT, first)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, usual)


def was_interrupted(error: BaseException) -> bool:
    """Whether somebody pressed a key: Py4J turns that into an error of its own."""
    met: BaseException | None = error
    while met is not None:
        if isinstance(met, KeyboardInterrupt):
            return True
        met = met.__cause__ or met.__context__
    return False
