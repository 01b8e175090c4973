"""Simulated time: the only module that knows SimPy.

Time is milliseconds since the start of the run. A process is a generator that yields the events
made here. `drive` runs one transaction of the engine: it takes the requests that the transaction
yields, lets the world answer each in simulated time, and sends the answers back.
"""

from __future__ import annotations

import gc
import math
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Protocol, TypeVar

from simpy import Environment
from simpy.core import StopSimulation
from simpy.events import URGENT, Event, Process, Timeout

from whitecap.engine.storage.requests import Request, Response, Steps

T = TypeVar("T")

Waiting = Generator[Event, Any, T]
"""A piece of a process: yields events, returns a `T`."""


class World(Protocol):
    """Answers a transaction's requests."""

    @property
    def at_once(self) -> Mapping[type, Callable[[Any], Response]]:
        """Requests that take no simulated time, by type."""

    def perform(self, request: Request) -> Waiting[Response]:
        """Answer a request that takes simulated time."""


class Kernel(Environment):
    """The clock and its event queue."""

    @property
    def now_ms(self) -> float:
        """Milliseconds since the start."""
        return self._now

    def __init__(self) -> None:
        super().__init__()
        self.stopped = False
        """Whether somebody asked for the end."""
        self.wait: Callable[[float], Event] = self.timeout
        """An event that happens after so many milliseconds."""

    def start(self, process: Waiting[Any]) -> Process:
        """Begin a process now."""
        return Process(self, process)

    def call_after(self, delay_ms: float, action: Callable[[], None]) -> None:
        """Do `action` after `delay_ms`, whatever becomes of the process that asks for it."""
        Timeout(self, delay_ms).callbacks.append(lambda _: action())

    def run_until(self, instant_ms: float) -> None:
        """Let everything before `instant_ms` happen, or of the present instant once stopped."""
        with _seldom_collecting():
            self.run(until=instant_ms)
            if self.stopped:
                self.run(until=math.nextafter(self._now, math.inf))

    def stop(self) -> None:
        """End with the present instant. Safe in a signal handler: it only adds to the queue."""
        self.stopped = True
        end = Event(self)
        end._ok, end._value = True, None
        end.callbacks.append(StopSimulation.callback)
        self.schedule(end, URGENT)


@contextmanager
def _seldom_collecting() -> Iterator[None]:
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
