"""The yardstick: a SimPy loop that does nothing but happen."""

from __future__ import annotations

from collections.abc import Generator
from time import perf_counter

from simpy import Environment
from simpy.events import Event


def _ticks(env: Environment, count: int) -> Generator[Event, None, None]:
    for _ in range(count):
        yield env.timeout(1.0)


def bare_seconds(events: int, processes: int) -> float:
    """Wall seconds for `events` timeouts shared by `processes` processes."""
    env = Environment()
    for _ in range(processes):
        env.process(_ticks(env, max(1, events // processes)))
    begun = perf_counter()
    env.run()
    return perf_counter() - begun
