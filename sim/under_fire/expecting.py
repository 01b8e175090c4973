"""What is to be done, and what the simulator says comes of it: for deltalake, and for Spark.

The same scenario is simulated first, as the real engine works: it gives the jobs with their
statements, the table at the start, and the prediction that stands beside what then happens.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

from msgspec import Struct

from whitecap.engine.dialects import DIALECTS, Vendor, newest
from whitecap.engine.errors import InvalidInput
from whitecap.sim.loading import scenario_of
from whitecap.sim.oracles.finding import Judgement
from whitecap.sim.oracles.runs.of_run import judge
from whitecap.sim.quantities.bounds import MAX_JOBS
from whitecap.sim.quantities.units import MS_PER
from whitecap.sim.replay.delta_rs.operations import operation_of
from whitecap.sim.run import FinishedRun, run_scenario
from whitecap.sim.scenario.model import Document, Scenario
from whitecap.sim.under_fire.order import (
    NobodyLeft,
    WorkOrder,
    jobs_of,
    without,
    without_operation,
    without_statement,
)

MOST_JOBS = 60
"""Jobs that begin in a run, as in a simulated campaign: some seconds of real work."""

DRIVER = "jvm"
"""The cluster that all writers are on, where they are threads of one JVM."""

CLUSTER_KEYS = frozenset({"cluster", "clock_skew", "log_store", "dialect"})
"""What a group says of the driver that it is on."""

NO_REQUESTS = "nobody can strike a request to a local directory"

MOST_DEATHS = 8
"""Moments at which the driver dies, each tried in a simulation of its own. Ours."""

DYING = 20.0
"""Crashes per ms that make a crash certain within a window of a second. Less where a scenario
allows no such rate."""

RESTART = "30 s"
"""How long a new JVM takes in simulated time; the clock stands while the real one starts."""


class ExpectedRun(Struct, frozen=True):
    """What real writers are to do, what is left out and why, and what the simulator predicts.

    `possible`: the anomalies that come about when a driver dies at other moments, which real time
    alone decides.
    """

    run: FinishedRun
    jobs: Mapping[str, Sequence[WorkOrder]]
    lacks: Mapping[str, str]
    judgement: Judgement
    possible: frozenset[str] = frozenset()

    @property
    def ends_ms(self) -> float:
        """When the last job begins."""
        return max(job.begins_ms for jobs in self.jobs.values() for job in jobs)

    @property
    def count(self) -> int:
        """How many jobs there are."""
        return sum(map(len, self.jobs.values()))


def expected_of_deltalake(
    scenario: Scenario, version: str, seed: int, replication: int
) -> ExpectedRun:
    """The expectation for writers with a deltalake of this version.

    Raises `NobodyLeft` if it can stand for none of the writers.
    """
    lacks = without_statement(scenario)
    scenario = without(scenario, lacks)
    lacks |= without_operation(_simulated(scenario, seed, replication).recording, _operation)
    scenario = _as_the_package(without(scenario, lacks), version)
    run = _simulated(scenario, seed, replication)
    return ExpectedRun(run, jobs_of(run.recording, _operation), lacks, judge(run))


def _operation(statement: str) -> Mapping[str, Any]:
    return operation_of(statement, {})


def _as_the_package(scenario: Scenario, version: str) -> Scenario:
    """The scenario by the package's dialect, if there is one, and with its client's retries.

    That client resends a request without a reply. A lost reply is a closed connection, which it
    sees at once.
    """
    changes = {
        "store.client.on_lost_reply": "resend",
        "store.client.on_409": "resend",
        "store.client.timeout": "1 s",
    }
    dialect = f"delta-rs-{version}"
    if dialect in DIALECTS:
        changes["dialect"] = dialect
    return scenario_of(_with_groups_without(scenario.document, {"dialect"}), changes)


def expected_of_spark(scenario: Scenario, seed: int, replication: int) -> ExpectedRun:
    """The expectation for writers in one JVM on a local directory, which dies once or more.

    Raises `NobodyLeft` if open-source Delta can stand for none of the writers.
    """
    lacks = without_statement(scenario)
    scenario = without(scenario, lacks)
    document = _on_one_driver(scenario)
    lacks |= {
        f"fault {fault.chosen_names()[0]}": NO_REQUESTS
        for fault in scenario.faults
        if fault.writer_crash is None
    }
    try:
        calm = _simulated(scenario_of(document), seed, replication)
        document["duration"] = f"{calm.recording.manifest['duration_ms']} ms"
        deaths = _deaths(calm)
        given = document["faults"] or deaths[:1]
        run, *others = (
            _simulated(scenario_of({**document, "faults": faults}), seed, replication)
            for faults in (given, *([death] for death in deaths))
        )
    except InvalidInput as refused:
        raise NobodyLeft("; ".join(map(str, refused.problems))) from refused
    possible = frozenset(chain.from_iterable(map(anomalies_of, map(judge, others))))
    return ExpectedRun(run, jobs_of(run.recording, lambda _: {}), lacks, judge(run), possible)


def anomalies_of(judgement: Judgement) -> Counter[str]:
    """Findings by the anomaly that they name."""
    return Counter(finding.anomaly.value for finding in judgement.findings)


def _on_one_driver(scenario: Scenario) -> Document:
    """All writers as threads of one JVM of Delta's, with the crashes that would hit any of them."""
    document = _with_groups_without(scenario.document, CLUSTER_KEYS)
    for group in document["writers"].values():
        group["cluster"] = DRIVER
    document.pop("clusters", None)
    pairs = zip(scenario.document.get("faults", ()), scenario.faults, strict=True)
    document["faults"] = [said for said, fault in pairs if fault.writer_crash is not None]
    return {**document, "store": "local", "dialect": newest(Vendor.DELTA).name}


def _deaths(calm: FinishedRun) -> list[Document]:
    """Crashes just after each commit, those half way through the jobs first.

    That is the worst moment: the writer has committed and does not know. The window of a crash is
    over when the driver is back.
    """
    instants = calm.recording.transactions.column("submitted_at_ms").to_pylist()
    half_ms = (min(instants) + max(instants)) / 2
    landed = [each.landed_at_ms for each in calm.world.store.landings]
    first = calm.world.initial_version + 1
    in_order = sorted(landed[first:], key=lambda instant_ms: abs(instant_ms - half_ms))
    writers = sum(group.count for group in calm.scenario.writers.values())
    most = MAX_JOBS / 2 / (calm.recording.manifest["duration_ms"] * writers)
    rate = f"{min(most, DYING) * MS_PER['s']} per s"
    return [_death(instant_ms, rate) for instant_ms in in_order[:MOST_DEATHS]]


def _death(at_ms: float, rate: str) -> Document:
    between = [f"{at_ms:.3f} ms", f"{at_ms + 1000:.3f} ms"]
    return {"writer_crash": {"rate": rate, "restart": RESTART}, "between": between}


def _with_groups_without(document: Document, keys: set[str] | frozenset[str]) -> Document:
    groups = {
        name: {key: value for key, value in group.items() if key not in keys}
        for name, group in document["writers"].items()
    }
    return {**document, "writers": groups}


def _simulated(scenario: Scenario, seed: int, replication: int) -> FinishedRun:
    """As long as it takes to begin `MOST_JOBS` jobs, or to its end."""
    until_ms = scenario.duration
    while True:
        run = run_scenario(scenario, seed=seed, replication=replication, until_ms=until_ms)
        jobs = set(run.recording.transactions.column("job_id").to_pylist())
        if len(jobs) <= MOST_JOBS or until_ms < 1:
            return run
        until_ms *= MOST_JOBS / len(jobs) * 0.95
