"""Real deltalake works on one table in an object store of ours while things fail.

Each writer is a process, which dies by itself. What is left is judged by the history of what the
clients were told, and whose each version is the store knows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from time import sleep

from msgspec import Struct
from msgspec.structs import replace

from whitecap.engine.isolation import IsolationLevel
from whitecap.engine.recorded import RecordedOutcome
from whitecap.sim.oracles.finding import Judgement
from whitecap.sim.oracles.history import History, HistoryTransaction, Promise, history_lines
from whitecap.sim.oracles.judging import judge_table
from whitecap.sim.scenario.model import Scenario
from whitecap.sim.table.export import export_table
from whitecap.sim.time.random_streams import RandomStreams
from whitecap.sim.under_fire.bucket import Bucket
from whitecap.sim.under_fire.deltalake_writer import DeltalakeWriters
from whitecap.sim.under_fire.expecting import ExpectedRun
from whitecap.sim.under_fire.leading import FastClock, LeadWriter, Tried, WriterClient
from whitecap.sim.under_fire.misfortunes import JobRun, Misfortunes
from whitecap.sim.under_fire.self_test import proves_one_winner
from whitecap.sim.under_fire.service import TABLE, LandedVersion, Service, serving
from whitecap.sim.writers.rerun import JobTries

REAL_S_PER_JOB = 0.4
"""What a job takes on a laptop's core with all that its client does; it limits the clock's speed.
"""

POLL_S = 0.005
"""How often we look whether a process is to die. Ours."""

PROMISED = Promise(level=IsolationLevel.SERIALIZABLE)
"""Both engines check by Serializable where the table says nothing else."""

HISTORY = "history.jsonl"


class Burnt(Struct, frozen=True):
    """What happened: what writers were told, what befell them, and what the oracles say."""

    directory: Path
    tried: Sequence[Tried]
    judgement: Judgement
    struck: Mapping[str, int]
    deaths: int


def burn(plan: ExpectedRun, directory: Path, python: str | None = None) -> Burnt:
    """Let real writers do what is expected; the table and the history lie in `directory` then.

    Raises `InvariantViolated` if the store does not keep what it promises.
    """
    scenario, world = plan.run.scenario, plan.run.world
    lay_out(plan, directory)
    clock = FastClock(speed_of(plan, REAL_S_PER_JOB))
    misfortunes = Misfortunes(scenario, world.streams, clock.now_ms)
    writers = DeltalakeWriters(clock, misfortunes)
    bucket = Bucket(directory, is_exclusive=scenario.is_exclusive)
    with serving(Service(bucket, misfortunes.befall, writers.kill, clock.real_s)) as service:
        if scenario.is_exclusive:
            proves_one_winner(service.url)
        writers.start(plan.jobs, python, service.url)
        clock.starts()
        tried = all_work(lead(plan, writers.clients, clock), writers.look, clock.stop)
    wrote = _wrote(service.landings, world.initial_version)
    history = [_with_versions(each, tuple(wrote.get(each.sender, ()))) for each in tried]
    return Burnt(directory, tried, judged(directory, history), service.struck, writers.deaths)


def lay_out(plan: ExpectedRun, directory: Path) -> None:
    """Write the table at the start, as real writers find it."""
    world = plan.run.world
    export_table(
        world.store, directory / TABLE, version=world.initial_version, data=True, overwrite=True
    )


def speed_of(plan: ExpectedRun, real_s_per_job: float) -> float:
    """How many times as fast as real time the clock can run."""
    return max(1.0, plan.ends_ms / 1000 / (plan.count * real_s_per_job))


def lead(
    plan: ExpectedRun, clients: Mapping[str, WriterClient], clock: FastClock
) -> list[LeadWriter]:
    """Make the leader of each client, who takes it through its jobs."""
    scenario, streams = plan.run.scenario, plan.run.world.streams
    return [
        LeadWriter(name, work, _tries_of(scenario, streams, name), clock, clients[name])
        for name, work in plan.jobs.items()
    ]


def _tries_of(scenario: Scenario, streams: RandomStreams, writer: str) -> Callable[[int], JobTries]:
    """How often and when a writer reruns a job, by the draws of the simulated writer."""
    group = next(each for name, each in scenario.writers.items() if writer in each.members(name))
    rerun, restart = (streams.source(what, writer) for what in ("rerun", "restart"))

    def tries(job: int) -> JobTries:
        drawn = partial(rerun.uniform, job), partial(restart.uniform, job)
        return JobTries(group.rerun, group.restart, *drawn)

    return tries


def all_work(
    writers: Sequence[LeadWriter], look: Callable[[], None], stop: Callable[[], None]
) -> list[Tried]:
    """Wait for all writers; meanwhile `look` lets processes die when the scenario says so.

    After Ctrl-C, or an error, `stop` ends all of them.
    """
    with ThreadPoolExecutor(len(writers)) as threads:
        working = [threads.submit(writer.work) for writer in writers]
        try:
            while not all(each.done() for each in working):
                look()
                sleep(POLL_S)
        except BaseException:
            stop()
            raise
        for each in working:
            each.result()
    return [tried for writer in writers for tried in writer.tried]


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


def judged(
    directory: Path, transactions: Iterable[HistoryTransaction], promised: Promise = PROMISED
) -> Judgement:
    """What oracles say of the table; the history is kept beside it."""
    in_order = sorted(transactions, key=lambda transaction: transaction.began or 0.0)
    history = History(tuple(in_order), promised)
    (directory / HISTORY).write_bytes(history_lines(history))
    return judge_table(directory / TABLE, history)
