"""What real writers of both engines have in common: a table at the start, leaders, a judge.

Each writer is led through the jobs of the simulated run, on a clock that is faster than real time.
What is left is judged by the history of what the clients were told. What sets the engines apart is
in `sim/under_fire/deltalake_fire.py` and `sim/under_fire/spark_fire.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from time import sleep

from msgspec import Struct

from whitecap.engine.isolation import IsolationLevel
from whitecap.sim.oracles.finding import Judgement
from whitecap.sim.oracles.history import History, HistoryTransaction, Promise, history_lines
from whitecap.sim.oracles.judging import judge_table
from whitecap.sim.scenario.model import Scenario
from whitecap.sim.table.export import export_table
from whitecap.sim.time.random_streams import RandomStreams
from whitecap.sim.under_fire.expecting import ExpectedRun
from whitecap.sim.under_fire.leading import FastClock, LeadWriter, Tried, WriterClient
from whitecap.sim.under_fire.service import TABLE_PREFIX
from whitecap.sim.writers.rerun import JobTries

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


def lay_out(expected: ExpectedRun, directory: Path) -> None:
    """Write the table at the start, as real writers find it."""
    world = expected.run.world
    export_table(
        world.store,
        directory / TABLE_PREFIX,
        version=world.initial_version,
        data=True,
        overwrite=True,
    )


def speed_of(expected: ExpectedRun, real_s_per_job: float) -> float:
    """How many times as fast as real time the clock can run."""
    return max(1.0, expected.ends_ms / 1000 / (expected.count * real_s_per_job))


def lead(
    expected: ExpectedRun, clients: Mapping[str, WriterClient], clock: FastClock
) -> list[LeadWriter]:
    """Make the leader of each client, who takes it through its jobs."""
    scenario, streams = expected.run.scenario, expected.run.world.streams
    return [
        LeadWriter(name, work, _tries_of(scenario, streams, name), clock, clients[name])
        for name, work in expected.jobs.items()
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


def judged(
    directory: Path, transactions: Iterable[HistoryTransaction], promised: Promise = PROMISED
) -> Judgement:
    """What oracles say of the table; the history is kept beside it."""
    in_order = sorted(transactions, key=lambda transaction: transaction.began or 0.0)
    history = History(tuple(in_order), promised)
    (directory / HISTORY).write_bytes(history_lines(history))
    return judge_table(directory / TABLE_PREFIX, history)
