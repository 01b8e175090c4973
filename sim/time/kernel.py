"""Simulated time: the only module that knows SimPy.

Time is milliseconds since the start of the run. A process is a generator that yields the events
made here; it has a `Clock` of its own. `drive` runs one transaction of the engine: it takes the
requests that the transaction yields, lets the world answer each in simulated time, and sends the
answers back.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from heapq import heappop, heappush
from typing import Any, Protocol, TypeVar

from simpy import Environment
from simpy.events import Event, Process

from whitecap.engine.storage.requests import Response, Steps

T = TypeVar("T")

Wakeup = Event
"""Succeeds when the kernel comes to a process's instant."""

Waiting = Generator[Event, Any, T]
"""A piece of a process: yields events, returns a `T`."""

Waits = Sequence[Event]
"""The events of a piece of a process that returns nothing; nearly always there are none."""

LANE_BITS, JOB_BITS = 8, 40
"""Low bits of `Clock.order` for a task of a job, and above them for the job among its writer's."""

FIRST_OF_AN_INSTANT = 0
"""The order of what happens before anything else at its instant."""


class Responder(Protocol):
    """Answers a transaction's requests."""

    @property
    def at_once(self) -> Mapping[type, Callable[[Any, Any], Response]]:
        """What answers requests that take no simulated time, by their type: given this world."""

    @property
    def in_time(self) -> Mapping[type, Callable[[Any, Any], Waiting[Response]]]:
        """What answers requests that take simulated time, by their type: given this world."""


class Kernel(Environment):
    """The clock and its event queue, sorted by instant, then by order, then by time of entry.

    In a `patient` run every process waits for the kernel at each instant that it comes to.
    Otherwise it runs ahead as long as nobody else is concerned. Both make the same recording.
    """

    def __init__(self, patient: bool = False) -> None:
        super().__init__()
        self.patient = patient
        self.stopped = False
        """Whether somebody asked for the end."""

    @property
    def now_ms(self) -> float:
        """Milliseconds since the start."""
        return self._now

    def start(self, process: Waiting[Any]) -> Process:
        """Begin a process now."""
        return Process(self, process)

    def enter(self, instant_ms: float, order: int, event: Event) -> None:
        """Let an event happen at an instant, among those of the same instant by its order."""
        entry: Any = (instant_ms, order, next(self._eid), event)
        heappush(self._queue, entry)

    def together(self, processes: Sequence[Waiting[T]]) -> Waiting[list[T]]:
        """Run pieces of a process in parallel. Returns what each returned, when all have ended.

        Unless the run is patient none of them waits, so they are run one after the other.
        """
        if not self.patient:
            return [_run_through(process) for process in processes]
        started = [self.start(process) for process in processes]
        ended = []
        for process in started:
            ended += [(yield process)]
        return ended

    def call_at(self, instant_ms: float, order: int, action: Callable[[], object]) -> None:
        """Do `action` at an instant, whatever becomes of the process that asks for it."""
        event = _ready(self)
        event.callbacks = [lambda _: _done(action)]
        self.enter(instant_ms, order, event)

    def run_until(self, instant_ms: float) -> None:
        """Let everything before `instant_ms` happen, or of the present instant once stopped."""
        queue = self._queue
        while queue and queue[0][0] < instant_ms:
            if self.stopped and queue[0][0] > self._now:
                return
            self._now, _, _, event = heappop(queue)
            callbacks, event.callbacks = event.callbacks, None  # type: ignore[assignment]
            for callback in callbacks:
                callback(event)
            if not event._ok and not hasattr(event, "_defused"):
                raise event._value
        self._now = self._now if self.stopped else instant_ms

    def stop(self) -> None:
        """End with the present instant. Safe in a signal handler: it only sets a flag."""
        self.stopped = True


class Clock:
    """One process's time, which may be ahead of the kernel's.

    A process runs ahead, by setting `now_ms`, through what concerns itself alone. It arrives, and
    so waits for the kernel, where others could see what it does or it depends on what they do.
    Processes that arrive at one instant go in the order of their writers, then of the writers'
    jobs, then of the tasks of a job: this is `order`, SimPy's priority of an event. One event
    serves all waits of the process.
    """

    __slots__ = ("_event", "kernel", "now_ms", "order")

    def __init__(self, kernel: Kernel, writer_number: int = 0, job_number: int = 0) -> None:
        self.kernel = kernel
        self.now_ms: float = kernel.now_ms
        self.order = 0
        self._event = _ready(kernel)
        self.serves(writer_number, job_number)

    def serves(self, writer_number: int, job_number: int) -> None:
        """From now on this is the clock of that job."""
        self.order = ((writer_number + 1) << JOB_BITS | job_number) << LANE_BITS

    def of_task(self, number: int) -> Clock:
        """The clock, from now on, of one of the tasks that this process runs in parallel."""
        clock = Clock(self.kernel)
        clock.now_ms, clock.order = self.now_ms, self.order + number
        return clock

    def arrive(self) -> Event:
        """The event of the kernel coming to this instant; only its own process may wait for it."""
        event, kernel = self._event, self.kernel
        event.callbacks = []
        entry: Any = (self.now_ms, self.order, next(kernel._eid), event)
        heappush(kernel._queue, entry)
        return event

    def arrive_first(self) -> Event:
        """As `arrive`, but before whoever else comes to this instant."""
        event = self._event
        event.callbacks = []
        self.kernel.enter(self.now_ms, FIRST_OF_AN_INSTANT, event)
        return event

    def wait(self) -> Event:
        """The event that `wake` lets happen."""
        self._event.callbacks = []
        return self._event

    def wake(self) -> None:
        """Let the process that waits go on now."""
        self.kernel.enter(self.kernel.now_ms, self.order, self._event)

    def reach(self, instant_ms: float) -> Waits:
        """Go on to an instant; in a patient run the kernel has to come there first."""
        self.now_ms = instant_ms
        return (self.arrive(),) if self.kernel.patient else ()


def _run_through(process: Waiting[T]) -> T:
    """Run a process that waits for nothing. Returns what it returns."""
    try:
        next(process)
    except StopIteration as done:
        returned: T = done.value
        return returned
    raise AssertionError("a process that goes ahead has waited")


def _ready(kernel: Kernel) -> Event:
    """An event that succeeds when its time comes."""
    event = Event(kernel)
    event._ok, event._value = True, None
    return event


def _done(action: Callable[[], object]) -> None:
    action()


def drive(steps: Steps[T], world: Responder) -> Waiting[T]:
    """Run a transaction to its end in simulated time.

    If this generator is closed or an exception is thrown in, the transaction's generator is closed.
    """
    at_once, in_time = world.at_once, world.in_time
    send = steps.send
    response: Response = None
    try:
        while True:
            request = send(response)
            kind = type(request)
            answer = at_once.get(kind)
            if answer is None:
                response = yield from in_time[kind](world, request)
            else:
                response = answer(world, request)
    except StopIteration as done:
        result: T = done.value
        return result
    finally:
        steps.close()
