"""Time one run: CPU per commit attempt in units of a bare SimPy timeout, and events per attempt.

CPU time counts from the start of the kernel to the closed recording, which is written.
"""

from __future__ import annotations

import tempfile
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from time import process_time

from msgspec import Struct

from benchmarks.workloads import TimedScenario
from whitecap.sim.machine.garbage import seldom_collecting
from whitecap.sim.run import finished
from whitecap.sim.time.random_streams import RandomStreams
from whitecap.sim.world import SimulatedWorld

Watching = AbstractContextManager[object]


class Measurement(Struct, frozen=True):
    """What was measured of one workload, in CPU seconds."""

    attempts: int
    events: int
    kernel_s: float
    recording_s: float

    @property
    def us_per_attempt(self) -> float:
        """CPU microseconds for everything that an attempt brings with it."""
        return 1e6 * (self.kernel_s + self.recording_s) / self.attempts

    @property
    def events_per_attempt(self) -> float:
        """SimPy events for each attempt."""
        return self.events / self.attempts


def measure(workload: TimedScenario, watching: Watching | None = None) -> Measurement:
    """Run a workload and measure, perhaps watched, what is not left out of it.

    Writing the recording counts in proportion to the attempts.
    """
    scenario = workload.scenario()
    world = SimulatedWorld.of(scenario, RandomStreams(scenario.seed, 0), with_requests=False)
    world.start()
    with seldom_collecting():
        if workload.from_share:
            world.kernel.run_until(scenario.duration * workload.from_share)
        before, events_before = world.recorder.attempted, next(world.kernel._eid)
        with watching or nullcontext():
            begun = process_time()
            world.kernel.run_until(scenario.duration)
            world.settle()
            kernel_s = process_time() - begun
    events = next(world.kernel._eid) - events_before
    attempts = world.recorder.attempted
    begun = process_time()
    with tempfile.TemporaryDirectory() as directory:
        finished(world, out=Path(directory) / "run")
    recording_s = (process_time() - begun) * (attempts - before) / attempts
    return Measurement(attempts - before, events, kernel_s, recording_s)
