"""`make bench-memory`: by how much a run's memory grows with every commit attempt (minutes).

Resident memory of the process at two numbers of attempts of one run, append-heavy, ten writers;
then what closing the recording takes besides. Names on the command line choose other mixes.
"""

from __future__ import annotations

import os
import resource
import sys
import tempfile
from pathlib import Path

from msgspec import Struct

from benchmarks.workloads import MIXES, made
from whitecap.sim.machine.garbage import seldom_collecting
from whitecap.sim.run import finished
from whitecap.sim.time.random_streams import RandomStreams
from whitecap.sim.world import SimulatedWorld

FROM, TO = 100_000, 300_000
"""Attempts: buffers are full at the first, and the second gives the slope of a million."""

WRITERS, FILES = 10, 1_000
STEP = 1_000
"""Transactions, roughly, between two looks at how many attempts there were."""

_PAGE = os.sysconf("SC_PAGE_SIZE")


class Growth(Struct, frozen=True):
    """Bytes per attempt, in the run and with the closed recording."""

    attempts: int
    in_run: float
    with_recording: float


def growth(mix: str) -> Growth:
    """Run a mix up to `TO` attempts and close its recording."""
    scenario = made(mix, WRITERS, FILES, TO)
    world = SimulatedWorld.of(scenario, RandomStreams(scenario.seed, 0))
    world.start()
    with seldom_collecting():
        first, before = _at(world, FROM)
        last, after = _at(world, TO)
    with tempfile.TemporaryDirectory() as directory:
        finished(world, out=Path(directory) / "run")
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    attempts = last - first
    return Growth(attempts, (after - before) / attempts, (most - before) / attempts)


def _at(world: SimulatedWorld, attempts: int) -> tuple[int, int]:
    """Go on to so many attempts. Returns how many there were and resident memory in bytes."""
    while world.recorder.attempted < attempts:
        world.kernel.run_until(world.kernel.now_ms + world.scenario.duration * STEP / TO)
    return world.recorder.attempted, _resident_bytes()


def _resident_bytes() -> int:
    """The second field of statm (proc(5)), in pages."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * _PAGE


def main() -> None:
    """Measure and print, a line as soon as it is known."""
    mixes = sys.argv[1:] or ["append-heavy"]
    if wrong := [mix for mix in mixes if mix not in MIXES]:
        named, listed = ", ".join(wrong), ", ".join(MIXES)
        print(f"error: no workload is called {named}; there are {listed}", file=sys.stderr)
        raise SystemExit(2)
    for mix in mixes:
        grown = growth(mix)
        print(
            f"{mix} · {WRITERS} writers · {FILES:,} files | {grown.attempts:,} attempts | "
            f"{grown.in_run:,.0f} bytes/attempt in the run | "
            f"{grown.with_recording:,.0f} with the closed recording",
            flush=True,
        )


if __name__ == "__main__":
    main()
