"""One writer's Spark cluster: what all of its transactions share."""

from __future__ import annotations

import math
from dataclasses import dataclass

from whitecap.sim.recording.recorder import Recorder
from whitecap.sim.scenario.store import Store
from whitecap.sim.scenario.writers import Compute
from whitecap.sim.store.faults import WriterFaults
from whitecap.sim.store.objects import FakeStore
from whitecap.sim.time.kernel import Clock, Kernel, Waiting


class WriterCrashed(Exception):
    """The writer's driver died while its transaction waited."""


@dataclass(slots=True)
class Cluster:
    """Everything that a writer's transactions share, and whether its driver is up."""

    kernel: Kernel
    store: FakeStore
    profile: Store
    recorder: Recorder
    compute: Compute
    faults: WriterFaults
    down_until_ms: float = 0.0

    def is_up(self, clock: Clock) -> Waiting[None]:
        """Wait until the driver is up."""
        if clock.now_ms < self.down_until_ms:
            yield clock.until(self.down_until_ms)


@dataclass(slots=True)
class Life:
    """The time of one transaction: it passes until the driver dies."""

    cluster: Cluster
    clock: Clock
    crash_ms: float = math.inf
    _up_again_ms: float = math.inf

    def __post_init__(self) -> None:
        self.crash_ms, self._up_again_ms = self.cluster.faults.next_crash(self.clock.now_ms)

    def until(self, instant_ms: float) -> Waiting[None]:
        """Let time pass. Raises `WriterCrashed` if the driver dies before."""
        if instant_ms < self.crash_ms:
            yield self.clock.until(instant_ms)
            return
        yield self.clock.until(self.crash_ms)
        self.cluster.down_until_ms = self._up_again_ms
        raise WriterCrashed
