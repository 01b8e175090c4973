"""Real deltalake works on one table in an object store of ours while things fail.

Each writer is a process, which dies by itself. Whose each version is the store knows.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import replace

from whitecap.engine.recorded import RecordedOutcome
from whitecap.sim.oracles.history import HistoryTransaction
from whitecap.sim.under_fire.bucket import Bucket
from whitecap.sim.under_fire.deltalake_writer import DeltalakeWriters
from whitecap.sim.under_fire.expecting import ExpectedRun
from whitecap.sim.under_fire.fire import Burnt, all_work, judged, lay_out, lead, speed_of
from whitecap.sim.under_fire.leading import FastClock, Tried
from whitecap.sim.under_fire.misfortunes import JobRun, Misfortunes
from whitecap.sim.under_fire.self_test import proves_one_winner
from whitecap.sim.under_fire.service import LandedVersion, Service, serving

REAL_S_PER_JOB = 0.4
"""What a job takes on a laptop's core with all that its client does; it limits the clock's speed.
"""


def burn_on_deltalake(expected: ExpectedRun, directory: Path, python: str | None = None) -> Burnt:
    """Let real writers do what is expected; the table and the history lie in `directory` then.

    Raises `InvariantViolated` if the store does not keep what it promises.
    """
    scenario, world = expected.run.scenario, expected.run.world
    lay_out(expected, directory)
    clock = FastClock(speed_of(expected, REAL_S_PER_JOB))
    misfortunes = Misfortunes(scenario, world.streams, clock.now_ms)
    writers = DeltalakeWriters(clock, misfortunes)
    bucket = Bucket(directory, is_exclusive=scenario.is_exclusive)
    with serving(Service(bucket, misfortunes.befall, writers.kill, clock.real_s)) as service:
        if scenario.is_exclusive:
            proves_one_winner(service.url)
        writers.start(expected.jobs, python, service.url)
        clock.starts()
        tried = all_work(lead(expected, writers.clients, clock), writers.look, clock.stop)
    wrote = _wrote(service.landings, world.initial_version)
    history = [_with_versions(each, tuple(wrote.get(each.sender, ()))) for each in tried]
    return Burnt(directory, tried, judged(directory, history), service.struck, writers.deaths)


def _wrote(landings: Sequence[LandedVersion], initial_version: int) -> dict[JobRun, list[int]]:
    """The versions of each sender, as the store knows them."""
    wrote: dict[JobRun, list[int]] = {}
    for landing in landings:
        if landing.version > initial_version:
            wrote.setdefault(landing.sender, []).append(landing.version)
    return wrote


def _with_versions(tried: Tried, wrote: tuple[int, ...]) -> HistoryTransaction:
    """The tries with their versions; one that was told it committed has its last version.

    An INSERT always makes a version. If the store has none of it, its version is what the handle
    shows, and it is lost.
    """
    transaction, shown = tried.transaction, tried.version
    acknowledged: tuple[int, ...] = ()
    if transaction.outcome is RecordedOutcome.COMMITTED:
        commits = (transaction.statement or "").upper().startswith("INSERT")
        acknowledged = wrote[-1:] or ((shown,) if commits and shown is not None else ())
    return replace(transaction, wrote=wrote, acknowledged=acknowledged)
