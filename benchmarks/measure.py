"""Time one run beside the bare loop: attempts and events per second, and the ratio."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter

from benchmarks.bare_simpy import bare_seconds
from benchmarks.workloads import scenario_with
from whitecap.sim.random_streams import RandomStreams
from whitecap.sim.world import World

ATTEMPTS_WANTED = 2_000
"""Long enough to drown the start, short enough to measure a dozen workloads in minutes."""

CYCLE_S = 80.0
"""Think time plus compute of one transaction: what a writer needs for one attempt at least."""


@dataclass(frozen=True, slots=True)
class Measurement:
    """One workload, timed. `ratio` is its wall time over that of the bare loop."""

    mix: str
    writers: int
    live_files: int
    attempts: int
    events: int
    seconds: float
    bare_seconds: float

    @property
    def attempts_per_second(self) -> float:
        """Put-if-absents of commit files, per wall second."""
        return self.attempts / self.seconds

    @property
    def events_per_second(self) -> float:
        """SimPy events, per wall second."""
        return self.events / self.seconds

    @property
    def ratio(self) -> float:
        """Times the cost of as many events that do nothing."""
        return self.seconds / self.bare_seconds

    @property
    def microseconds_per_attempt(self) -> float:
        """Wall time for everything that an attempt brings with it."""
        return 1e6 * self.seconds / self.attempts


def measure(mix: str, writers: int, live_files: int) -> Measurement:
    """Run the workload until it has made about `ATTEMPTS_WANTED` attempts."""
    minutes = max(2.0, ATTEMPTS_WANTED / writers * CYCLE_S / 60)
    scenario = scenario_with(mix, writers, live_files, minutes)
    world = World.of(scenario, RandomStreams(scenario.seed, 0), with_requests=False)
    world.start()
    begun = perf_counter()
    world.kernel.run_until(scenario.duration)
    seconds = perf_counter() - begun
    events = next(world.kernel._eid)
    attempts = len(world.recorder.attempts)
    bare = bare_seconds(events, len(world.writers))
    return Measurement(mix, writers, live_files, attempts, events, seconds, bare)
