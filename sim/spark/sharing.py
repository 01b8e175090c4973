"""What several processes share: slots, a lock, a processor."""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass, field
from heapq import heappop, heappush

from msgspec import Struct

from whitecap.sim.time.kernel import Clock, Kernel, Waiting


class QueuePlace(Struct):
    """One process's place in a queue."""

    clock: Clock
    is_served: bool = False


class Slots:
    """Slots that are each held by one process at a time; others wait, first come first served."""

    def __init__(self, count: int) -> None:
        self._free = count
        self._queue: deque[QueuePlace] = deque()

    def acquire(self, clock: Clock, until_ms: float = math.inf) -> Waiting[bool]:
        """Take a slot, waiting until an instant at most. Returns whether one was taken."""
        yield clock.arrive()
        if self._free:
            self._free -= 1
            return True
        place = QueuePlace(clock)
        self._queue.append(place)
        if until_ms < math.inf:
            instant_ms = max(until_ms, clock.now_ms)
            clock.kernel.call_at(instant_ms, clock.order, lambda: self._leave(place))
        yield clock.wait()
        clock.now_ms = clock.kernel.now_ms
        return place.is_served

    def _leave(self, place: QueuePlace) -> None:
        if not place.is_served:
            self._queue.remove(place)
            place.clock.wake()

    def release(self, clock: Clock) -> Waiting[None]:
        """Give the slot to the process that has waited longest, if any waits."""
        yield clock.arrive()
        if not self._queue:
            self._free += 1
            return
        place = self._queue.popleft()
        place.is_served = True
        place.clock.wake()


class Mutex(Slots):
    """A single slot that knows which process holds it."""

    def __init__(self) -> None:
        super().__init__(1)
        self._holder: Clock | None = None

    def held_by(self, clock: Clock) -> bool:
        """Whether a process holds it."""
        return self._holder is clock

    @property
    def is_wanted(self) -> bool:
        """Whether anyone waits for it."""
        return bool(self._queue)

    def acquire(self, clock: Clock, until_ms: float = math.inf) -> Waiting[bool]:
        """Acquire it, waiting until an instant at most. Returns whether it was acquired."""
        is_taken = yield from super().acquire(clock, until_ms)
        if is_taken:
            self._holder = clock
        return is_taken

    def release(self, clock: Clock) -> Waiting[None]:
        """Give it to the process that has waited longest, which holds it from then on."""
        yield from super().release(clock)
        if self.held_by(clock):
            self._holder = None


@dataclass(order=True, slots=True)
class Share:
    """A process that computes: when it is done, in the time of its processor."""

    done_at: float
    number: int
    clock: Clock = field(compare=False)
    is_over: bool = field(default=False, compare=False)


class Processor:
    """Processor sharing: up to `full_speed` processes run at full speed, more share it equally.

    All run equally fast at any moment, so which is done next follows from one sum for all of them:
    `_passed`, the work that a process would have got that was there from the beginning.
    """

    def __init__(self, kernel: Kernel, full_speed: int) -> None:
        self._kernel = kernel
        self._full_speed = full_speed
        self._passed = 0.0
        self._as_of_ms = 0.0
        self._shares: list[Share] = []
        self._count = 0
        self._begun = 0
        self._plan = 0

    def compute(self, clock: Clock, work_ms: float, until_ms: float = math.inf) -> Waiting[None]:
        """Wait until this much work is done, or until an instant if that comes first."""
        yield clock.arrive()
        self._pass()
        self._begun += 1
        share = Share(self._passed + work_ms, self._begun, clock)
        heappush(self._shares, share)
        self._count += 1
        self._plan_next()
        if until_ms < math.inf:
            instant_ms = max(until_ms, clock.now_ms)
            self._kernel.call_at(instant_ms, clock.order, lambda: self._leave(share))
        yield clock.wait()
        clock.now_ms = self._kernel.now_ms

    @property
    def _speed(self) -> float:
        return min(1.0, self._full_speed / self._count)

    def _pass(self) -> None:
        """Add up the work that was done since the number of processes changed."""
        now_ms = self._kernel.now_ms
        if self._count:
            self._passed += (now_ms - self._as_of_ms) * self._speed
        self._as_of_ms = now_ms

    def _plan_next(self) -> None:
        """Come back when the next process is done, unless something changes before."""
        self._plan += 1
        while self._shares and self._shares[0].is_over:
            heappop(self._shares)
        if not self._shares:
            return
        plan, share = self._plan, self._shares[0]
        left_ms = max(share.done_at - self._passed, 0.0) / self._speed
        instant_ms = self._kernel.now_ms + left_ms
        self._kernel.call_at(instant_ms, share.clock.order, lambda: self._done(plan, share))

    def _done(self, plan: int, share: Share) -> None:
        if plan == self._plan:
            self._passed, self._as_of_ms = max(share.done_at, self._passed), self._kernel.now_ms
            self._end(share)

    def _leave(self, share: Share) -> None:
        if not share.is_over:
            self._pass()
            self._end(share)

    def _end(self, share: Share) -> None:
        share.is_over = True
        self._count -= 1
        share.clock.wake()
        self._plan_next()
