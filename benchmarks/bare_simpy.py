"""The yardstick: a SimPy timeout that does nothing but happen."""

from __future__ import annotations

from collections.abc import Generator
from time import process_time

from simpy import Environment
from simpy.events import Event

PROCESSES = 10
TIMEOUTS_EACH = 100_000
LOOPS = 5


def _ticks(env: Environment, count: int) -> Generator[Event, None, None]:
    for _ in range(count):
        yield env.timeout(1.0)


def _loop_seconds() -> float:
    env = Environment()
    for _ in range(PROCESSES):
        env.process(_ticks(env, TIMEOUTS_EACH))
    begun = process_time()
    env.run()
    return process_time() - begun


def unit_seconds() -> float:
    """CPU seconds of one timeout: the least of five loops, so that other load counts little."""
    return min(_loop_seconds() for _ in range(LOOPS)) / (PROCESSES * TIMEOUTS_EACH)
