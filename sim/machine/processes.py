"""Several things at a time, each in a process of its own."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import active_children, get_context, parent_process
from multiprocessing.connection import wait
from multiprocessing.process import BaseProcess
from threading import Event, Thread
from types import ModuleType, TracebackType
from typing import Self, TypeVar

from whitecap.sim.machine.interruption import interrupted_by

T = TypeVar("T")
R = TypeVar("R")


class ProcessKilled(Exception):
    """One of the processes was killed from outside."""

    def __init__(self) -> None:
        super().__init__(
            "a process that worked for this one was killed, as when memory runs out: "
            "fewer at a time (--jobs 1) need less"
        )


HERE_S = 1.0
"""How long this process works alone before it starts others, which takes about as long."""

AHEAD = 512
"""Items of one `map` from which on it may wait for the last ones without leaving others idle."""


def at_a_time(jobs: int | None = None) -> int:
    """How many processes work at a time: as many as somebody said, or one for each core."""
    return jobs or os.cpu_count() or 1


class Processes:
    """A `map` that works in up to `jobs` processes, started when there is much to do.

    `begin` is called in each of them first. Spawned, not forked: the caller may have threads, for
    instance those of a Spark session. An error of the caller, Ctrl-C above all, ends them.
    """

    def __init__(self, jobs: int, begin: Callable[[], None] | None = None) -> None:
        self._jobs = jobs
        self._begin = begin
        self._pool: ProcessPoolExecutor | None = None
        self._others: set[BaseProcess] = set()
        self._is_stopped = False

    @property
    def ahead(self) -> int:
        """How many items one `map` needs, so that waiting for the last of them costs little."""
        return AHEAD

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._pool is None:
            return
        if error is not None:
            self._terminate()
        self._pool.shutdown(wait=True, cancel_futures=True)

    def stop(self) -> None:
        """End `map`, which then raises an error in its thread; called from another one.

        An item that its own process works on is finished.
        """
        self._is_stopped = True
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)
            self._terminate()

    def map(self, function: Callable[[T], R], items: Sequence[T]) -> Iterator[R]:
        """The results, one by one in the order of the items. Raises `ProcessKilled`."""
        began = time.perf_counter()
        for done, item in enumerate(items):
            self._refuse_if_stopped()
            is_long = self._pool is not None or time.perf_counter() - began > HERE_S
            if self._jobs > 1 and is_long and len(items) - done > 1:
                yield from self._elsewhere(function, items[done:])
                return
            yield function(item)

    def _elsewhere(self, function: Callable[[T], R], items: Sequence[T]) -> Iterator[R]:
        """The results of other processes.

        Not by the pool's `map`: left early it cancels what has not begun, and a pool whose
        processes are ended just then fails to tell that of it, with a traceback
        (concurrent/futures/process.py: terminate_broken). Whoever ends the pool drops it as well.
        """
        try:
            submit = self._started().submit
            with _started_by_nobody(), _interrupted_later():
                results = deque(submit(function, item) for item in items)
            while results:
                yield results.popleft().result()
        except BrokenProcessPool:
            if self._is_stopped:
                raise
            raise ProcessKilled from None

    def _started(self) -> ProcessPoolExecutor:
        if self._pool is None:
            self._others = set(active_children())
            self._pool = ProcessPoolExecutor(
                self._jobs, get_context("spawn"), _begin, (self._begin,)
            )
        self._refuse_if_stopped()
        return self._pool

    def _refuse_if_stopped(self) -> None:
        if self._is_stopped:
            raise CancelledError

    def _terminate(self) -> None:
        for process in set(active_children()) - self._others:
            process.terminate()


@contextmanager
def _started_by_nobody() -> Iterator[None]:
    """Processes that start meanwhile do not run the caller's script once more.

    A spawned process imports the main module (multiprocessing/spawn.py: get_preparation_data), and
    a plain script that sweeps would begin its sweep anew in each. Functions of modules, all that
    is ever called here, do not need it.
    """
    main = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main


@contextmanager
def _interrupted_later() -> Iterator[None]:
    """Hold Ctrl-C back, here and in processes that start meanwhile, until they can ignore it."""
    pressed = Event()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        with interrupted_by(pressed.set):
            yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    if pressed.is_set():  # by way of another thread, which does not block it
        raise KeyboardInterrupt


def _begin(begin: Callable[[], None] | None) -> None:
    """Ctrl-C reaches every process of a terminal; one that only works says nothing of it, and
    goes on where it is ignored."""
    Thread(target=_end_with_caller, daemon=True).start()
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    if begin is not None:
        begin()


def _end_with_caller() -> None:
    """Who is killed can end nobody, and who waits for work notices nothing: the pipe that it comes
    by stays open in all that share it."""
    caller = parent_process()
    if caller is not None:
        wait([caller.sentinel])
        os._exit(1)
