"""Simulated time: the only module that knows SimPy.

Time is milliseconds since the start of the run. A process is a generator that yields the events
made here; it has a `Clock`, whose order decides between processes that wait for one instant: that
of their writers, then that of the writer's jobs. `drive` runs one transaction of the engine: it
takes the requests that the transaction yields, lets the world answer each in simulated time, and
sends the answers back.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from heapq import heappush
from typing import Any, Protocol, TypeVar

from simpy import Environment
from simpy.events import Event, Process

from whitecap.engine.storage.requests import Request, Response, Steps

T = TypeVar("T")

Waiting = Generator[Event, Any, T]
"""A piece of a process: yields events, returns a `T`."""

_JOB_BITS = 40


class World(Protocol):
    """Answers a transaction's requests."""

    @property
    def at_once(self) -> Mapping[type, Callable[[Any], Response]]:
        """Requests that take no simulated time, by type."""

    def perform(self, request: Request) -> Waiting[Response]:
        """Answer a request that takes simulated time."""


class Kernel(Environment):
    """The clock and its event queue: by instant, then by order, then as they were entered."""

    @property
    def now_ms(self) -> float:
        """Milliseconds since the start."""
        return self._now

    def __init__(self) -> None:
        super().__init__()
        self.stopped = False
        """Whether somebody asked for the end."""

    def start(self, process: Waiting[Any]) -> Process:
        """Begin a process now."""
        return Process(self, process)

    def enter(self, instant_ms: float, order: int, event: Event) -> None:
        """Let an event happen at an instant, among those of the same instant by its order."""
        event._ok, event._value = True, None
        entry: Any = (instant_ms, order, next(self._eid), event)
        heappush(self._queue, entry)

    def call_at(self, instant_ms: float, order: int, action: Callable[[], object]) -> None:
        """Do `action` at an instant, whatever becomes of the process that asks for it."""
        event = Event(self)
        event.callbacks = [lambda _: _done(action)]
        self.enter(instant_ms, order, event)

    def run_until(self, instant_ms: float) -> None:
        """Let everything before `instant_ms` happen, or of the present instant once stopped."""
        queue, step = self._queue, self.step
        while queue and queue[0][0] < instant_ms:
            if self.stopped and queue[0][0] > self._now:
                return
            step()
        self._now = self._now if self.stopped else instant_ms

    def stop(self) -> None:
        """End with the present instant. Safe in a signal handler: it only sets a flag."""
        self.stopped = True


class Clock:
    """One process's time, and its place among processes that wait for the same instant.

    SimPy takes the order for the event's priority. One event serves all waits of the process.
    """

    __slots__ = ("_event", "kernel", "order")

    def __init__(self, kernel: Kernel, writer_number: int = 0, job_number: int = 0) -> None:
        self.kernel = kernel
        self._event = Event(kernel)
        self.order = 0
        self.serves(writer_number, job_number)

    def serves(self, writer_number: int, job_number: int) -> None:
        """From now on it is the clock of this job."""
        self.order = (writer_number + 1) << _JOB_BITS | job_number

    @property
    def now_ms(self) -> float:
        """Milliseconds since the start."""
        return self.kernel._now

    def until(self, instant_ms: float) -> Event:
        """The event of an instant being reached, for this process alone to wait for."""
        event = self._event
        event.callbacks = []
        self.kernel.enter(instant_ms, self.order, event)
        return event

    def after(self, delay_ms: float) -> Event:
        """The event of some time having passed."""
        return self.until(self.kernel._now + delay_ms)


def _done(action: Callable[[], object]) -> None:
    action()


@contextmanager
def seldom_collecting() -> Iterator[None]:
    """Look for garbage in cycles seldom: a run makes little of it, and keeps millions of objects.

    The thresholds are ours: at Python's own, a tenth of a run's time goes into the search.
    """
    usual = gc.get_threshold()
    gc.set_threshold(50_000, 50, 100)
    try:
        yield
    finally:
        gc.set_threshold(*usual)


def drive(steps: Steps[T], world: World) -> Waiting[T]:
    """Run a transaction to its end in simulated time.

    If this generator is closed or an exception is thrown in, the transaction's generator is closed.
    """
    at_once = world.at_once
    perform = world.perform
    send = steps.send
    response: Response = None
    try:
        while True:
            request = send(response)
            answer = at_once.get(type(request))
            response = (yield from perform(request)) if answer is None else answer(request)
    except StopIteration as done:
        result: T = done.value
        return result
    finally:
        steps.close()
