"""One writer's Spark cluster: what all of its transactions share."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from whitecap.engine.storage.requests import Get, ListFrom, Put
from whitecap.sim.faults import KINDS, WriterFaults
from whitecap.sim.kernel import Kernel, Waiting
from whitecap.sim.random_streams import NextDraw, RandomStreams
from whitecap.sim.recorder import Recorder
from whitecap.sim.scenario.store import Measured, Store
from whitecap.sim.scenario.writers import Compute
from whitecap.sim.store import FakeStore

MIB = 1024.0**2


class WriterCrashed(Exception):
    """The writer's driver died while its transaction waited."""


@dataclass(slots=True)
class Latencies:
    """The latency streams of one writer, milliseconds from sent to reply.

    `success` and `loss` are those of put-if-absent; `per_byte` comes on top, by kind of request.
    """

    success: NextDraw
    loss: NextDraw
    of_kind: Mapping[type, NextDraw]
    put_per_byte: float
    get_per_byte: float
    effect_share: float

    @classmethod
    def of(cls, store: Store, writer: str, streams: RandomStreams) -> Latencies:
        """The streams of `writer`."""

        def stream(name: str, measured: Measured) -> NextDraw:
            return measured.latency.sampler(streams.generator(f"latency {name}", writer))

        kinds: dict[type, Measured] = {Get: store.get, ListFrom: store.list, Put: store.put}
        return cls(
            stream("put_if_absent success", store.put_if_absent.success),
            stream("put_if_absent loss", store.put_if_absent.loss),
            {kind: stream(KINDS[kind], measured) for kind, measured in kinds.items()},
            store.put.per_mib / MIB,
            store.get.per_mib / MIB,
            store.effect.share,
        )


@dataclass(slots=True)
class Cluster:
    """Everything that a writer's transactions share, and whether its driver is up."""

    kernel: Kernel
    store: FakeStore
    profile: Store
    recorder: Recorder
    latencies: Latencies
    compute: Compute
    compute_time: NextDraw
    backoff: Callable[[], float]
    new_id: Callable[[], str]
    faults: WriterFaults
    crash_at_ms: float = math.inf
    down_until_ms: float = 0.0
    may_be_hit: bool = field(init=False)
    _restart: NextDraw | None = None

    def __post_init__(self) -> None:
        self.may_be_hit = self.faults.touch_requests or bool(self.faults.crashes)
        self._plan_next_crash(0.0)

    def is_up(self) -> Waiting[None]:
        """Wait until the driver is up. Crashes strike only while a transaction runs."""
        now_ms = self.kernel.now_ms
        if now_ms < self.down_until_ms:
            yield self.kernel.wait(self.down_until_ms - now_ms)
        elif self.crash_at_ms <= now_ms:
            self._plan_next_crash(now_ms)

    def crashed(self) -> None:
        """The driver died just now; all of its transactions report it, the first one counts."""
        now_ms = self.kernel.now_ms
        if now_ms >= self.crash_at_ms and self._restart is not None:
            self.down_until_ms = now_ms + self._restart()
            self._plan_next_crash(self.down_until_ms)

    def pause(self, delay_ms: float) -> Waiting[None]:
        """Let time pass. Raises `WriterCrashed` if the driver dies before."""
        kernel = self.kernel
        if kernel.now_ms + delay_ms < self.crash_at_ms:
            yield kernel.wait(delay_ms)
            return
        yield kernel.wait(max(0.0, self.crash_at_ms - kernel.now_ms))
        raise WriterCrashed

    def _plan_next_crash(self, now_ms: float) -> None:
        plans = [(crashes.next_after(now_ms), crashes) for crashes in self.faults.crashes]
        instant_ms, cause = min(plans, key=lambda plan: plan[0], default=(math.inf, None))
        self.crash_at_ms = instant_ms
        self._restart = None if cause is None else cause.restart
