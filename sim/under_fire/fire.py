"""Real writers work on one table in an object store of ours while things fail.

The same scenario is simulated first, by the dialect of the package if there is one: it gives the
jobs with their statements, the table at the start, and the prediction that stands beside what then
happens. Oracles judge what is left by the histories of both.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from time import sleep

import msgspec

from whitecap.engine.dialects import DIALECTS
from whitecap.engine.isolation import IsolationLevel
from whitecap.engine.recorded import RecordedOutcome
from whitecap.sim.loading import scenario_of
from whitecap.sim.oracles.finding import Judgement
from whitecap.sim.oracles.history import History, Promise, Transaction, history_lines
from whitecap.sim.oracles.judging import judge_table
from whitecap.sim.oracles.runs.of_run import judge
from whitecap.sim.run import FinishedRun, run_scenario
from whitecap.sim.scenario import Scenario
from whitecap.sim.store.faults import Crash, next_crash
from whitecap.sim.table.export import export_table
from whitecap.sim.time.random_streams import RandomStreams
from whitecap.sim.under_fire.bucket import Bucket
from whitecap.sim.under_fire.leading import FastClock, LeadWriter, Told
from whitecap.sim.under_fire.misfortunes import Misfortunes, Sender
from whitecap.sim.under_fire.order import Job, jobs_of, lacks_of, without
from whitecap.sim.under_fire.self_test import proves_one_winner
from whitecap.sim.under_fire.service import TABLE, Landing, Service, serving
from whitecap.sim.writers.rerun import JobTries

MOST_JOBS = 60
"""Jobs that are begun in a run, as in a simulated campaign: some seconds of real work."""

REAL_S_PER_JOB = 0.4
"""What a job takes on a laptop's core, with all that its client does: so fast runs the clock."""

POLL_S = 0.005
"""How exactly a process dies at its instant."""

PROMISED = Promise(level=IsolationLevel.SERIALIZABLE)
"""delta-rs checks by Serializable where the table says nothing else."""


@dataclass(frozen=True, slots=True)
class Expected:
    """What is to be done, and what the simulator says comes of it."""

    run: FinishedRun
    jobs: Mapping[str, Sequence[Job]]
    lacks: Mapping[str, str]
    judgement: Judgement

    @property
    def ends_ms(self) -> float:
        """When the last job begins."""
        return max(job.begins_ms for jobs in self.jobs.values() for job in jobs)


@dataclass(frozen=True, slots=True)
class Burnt:
    """What happened: what everybody was told, whose the versions are, and what oracles say."""

    directory: Path
    told: Sequence[Told]
    judgement: Judgement
    struck: Mapping[str, int]
    requests: Mapping[str, int]
    deaths: int


def expected(scenario: Scenario, version: str, seed: int, replication: int) -> Expected:
    """Simulate the scenario for `MOST_JOBS` jobs, with what a deltalake of this version can do.

    Raises `NobodyLeft` if it can stand for none of the writers.
    """
    scenario = without(scenario, {})
    lacks = lacks_of(scenario, _simulated(scenario, seed, replication).recording)
    scenario = _as_the_package(without(scenario, lacks), version)
    run = _simulated(scenario, seed, replication)
    return Expected(run, jobs_of(run.recording), lacks, judge(run))


def _as_the_package(scenario: Scenario, version: str) -> Scenario:
    """By its dialect, if there is one, and with its client, which sends again what is lost.

    A reply that is lost is a closed connection, which the client sees at once.
    """
    changes = {
        "store.client.on_lost_reply": "resend",
        "store.client.on_409": "resend",
        "store.client.timeout": "1 s",
    }
    dialect = f"delta-rs-{version}"
    if dialect in DIALECTS:
        changes["dialect"] = dialect
    document = {**scenario.document, "writers": {
        name: {key: value for key, value in group.items() if key != "dialect"}
        for name, group in scenario.document["writers"].items()
    }}  # fmt: skip
    return scenario_of(document, changes)


def _simulated(scenario: Scenario, seed: int, replication: int) -> FinishedRun:
    """As long as it takes to begin so many jobs, or to its end."""
    until_ms = scenario.duration
    while True:
        run = run_scenario(scenario, seed=seed, replication=replication, until_ms=until_ms)
        jobs = set(run.recording.transactions.column("job_id").to_pylist())
        if len(jobs) <= MOST_JOBS or until_ms < 1:
            return run
        until_ms *= MOST_JOBS / len(jobs) * 0.95


def burn(plan: Expected, directory: Path, python: str | None = None) -> Burnt:
    """Let real writers do what is expected; the table and the history lie in `directory` then.

    Raises `InvariantViolated` if the store does not keep what it promises.
    """
    scenario, world = plan.run.scenario, plan.run.world
    export_table(
        world.store, directory / TABLE, version=world.initial_version, data=True, overwrite=True
    )
    jobs = sum(map(len, plan.jobs.values()))
    clock = FastClock(max(1.0, plan.ends_ms / 1000 / (jobs * REAL_S_PER_JOB)))
    misfortunes = Misfortunes(scenario, world.streams, clock.now_ms)
    writers: dict[str, LeadWriter] = {}

    def kill(sender: Sender, crash: Crash) -> None:
        writers[sender.writer].dies(crash.restart_ms)

    bucket = Bucket(directory, is_exclusive=scenario.is_exclusive)
    with serving(Service(bucket, misfortunes.befall, kill, clock.real_s)) as service:
        if scenario.is_exclusive:
            proves_one_winner(service.url)
        for name, work in plan.jobs.items():
            tries = _tries_of(scenario, world.streams, name)
            writers[name] = LeadWriter(name, work, tries, clock, python, service.url)
            writers[name].prepare()
        clock.starts()
        _all_work(writers, misfortunes, clock)
        told = [each for writer in writers.values() for each in writer.told]
    history = history_of(told, service.landings, world.initial_version)
    (directory / "history.jsonl").write_bytes(history_lines(history))
    return Burnt(
        directory, told, judge_table(directory / TABLE, history), service.struck,
        service.requests, sum(writer.deaths for writer in writers.values()),
    )  # fmt: skip


def _tries_of(scenario: Scenario, streams: RandomStreams, writer: str) -> Callable[[int], JobTries]:
    """How often and when a writer tries a job again, by the draws of the simulated one."""
    group = next(each for name, each in scenario.writers.items() if writer in each.members(name))
    rerun, restart = (streams.source(what, writer) for what in ("rerun", "restart"))

    def tries(job: int) -> JobTries:
        drawn = partial(rerun.uniform, job), partial(restart.uniform, job)
        return JobTries(group.rerun, group.restart, *drawn)

    return tries


def _all_work(
    writers: Mapping[str, LeadWriter], misfortunes: Misfortunes, clock: FastClock
) -> None:
    """Until everybody is done; meanwhile processes die when the scenario says so."""
    with ThreadPoolExecutor(len(writers)) as threads:
        working = {name: threads.submit(writer.work) for name, writer in writers.items()}
        deaths = {name: _next_death(misfortunes, name, 0.0) for name in writers}
        while not all(each.done() for each in working.values()):
            now_ms = clock.now_ms()
            for name, (dies_ms, back_ms) in deaths.items():
                if dies_ms <= now_ms:
                    writers[name].dies(back_ms - dies_ms)
                    deaths[name] = _next_death(misfortunes, name, back_ms)
            sleep(POLL_S)
        for each in working.values():
            each.result()


def _next_death(misfortunes: Misfortunes, writer: str, after_ms: float) -> tuple[float, float]:
    dies_ms, back_ms = next_crash(misfortunes.crashes(writer), after_ms)
    return dies_ms, back_ms


def history_of(told: Sequence[Told], landings: Sequence[Landing], initial_version: int) -> History:
    """What the writers were told, with the versions that the store knows to be theirs."""
    wrote: dict[Sender, list[int]] = {}
    for landing in landings:
        if landing.version > initial_version:
            wrote.setdefault(landing.sender, []).append(landing.version)
    transactions = sorted(
        (_with_versions(each, tuple(wrote.get(each.sender, ()))) for each in told),
        key=lambda transaction: transaction.began or 0.0,
    )
    return History(tuple(transactions), PROMISED)


def _with_versions(told: Told, wrote: tuple[int, ...]) -> Transaction:
    """Who was told that it committed was told its last version.

    An INSERT always has one: if the store knows of none, it is what the handle shows, and lost.
    """
    transaction, shown = told.transaction, told.version
    acknowledged: tuple[int, ...] = ()
    if transaction.outcome is RecordedOutcome.COMMITTED:
        commits = (transaction.statement or "").upper().startswith("INSERT")
        acknowledged = wrote[-1:] or ((shown,) if commits and shown is not None else ())
    return msgspec.structs.replace(transaction, wrote=wrote, acknowledged=acknowledged)
