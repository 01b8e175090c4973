"""Scenarios whose result a law tells, in the public format, with all latencies zero."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct

from benchmarks.validation import laws
from whitecap.engine.recorded import RecordedOutcome
from whitecap.reports.statistics import Estimate, mean, share
from whitecap.sim.loading import scenario_of
from whitecap.sim.recording.recording import Recording
from whitecap.sim.run import run_scenario
from whitecap.sim.scenario.model import Scenario

_Estimator = Callable[[Sequence[pa.Table], float], Estimate]
"""From the transactions of each replication after warm-up, and a confidence."""


class ClosedForm(Struct, frozen=True):
    """A scenario and what a law says of it; `relative` is how near the law is to the scenario.

    A law that holds in a limit (many writers, a long run) has a `relative` distance above zero.
    """

    name: str
    law: str
    quantity: str
    expected: float
    document: dict[str, Any]
    estimates: _Estimator
    relative: float = 0.0
    ends_by_itself: bool = False

    def simulated(self, replications: int, confidence: float, length: float = 1.0) -> Estimate:
        """Run it; `length` shortens every run that does not end by itself."""
        scenario = scenario_of(self._of_length(length))
        runs = [_after_warm_up(scenario, number) for number in range(replications)]
        return self.estimates(runs, confidence)

    def holds(self, estimate: Estimate) -> bool:
        """Whether the law lies within the interval, or as near to it as it claims to be."""
        distance = self.relative * self.expected + 1e-9
        return estimate.low - distance <= self.expected <= estimate.high + distance

    def _of_length(self, length: float) -> dict[str, Any]:
        share = 1.0 if self.ends_by_itself else length
        duration_s = round(self.document["duration"] * share)
        return {**self.document, "duration": f"{duration_s} s"}


def _after_warm_up(scenario: Scenario, replication: int) -> pa.Table:
    """The transactions that ended, of those submitted after the warm-up."""
    recording: Recording = run_scenario(scenario, replication=replication).recording
    rows = recording.transactions
    counts = pc.and_(
        pc.greater_equal(rows["submitted_at_ms"], scenario.warm_up),
        pc.is_valid(rows["ended_at_ms"]),
    )
    return rows.filter(counts)


def closed_forms() -> list[ClosedForm]:
    """All of them."""
    return [
        *(_at_once(n) for n in (2, 10, 50)),
        *(_lock_step(n) for n in (2, 4, 8, 16)),
        *(_exponential_work(n) for n in (2, 3, 5, 8, 16, 32)),
        *(_fixed_windows(load) for load in (0.1, 0.5, 1.0, 2.0, 10.0)),
        *(_exponential_windows(load) for load in (0.1, 0.5, 1.0, 2.0, 5.0, 10.0)),
        *(_partitions_at_once(n, p) for n, p in ((8, 8), (20, 8), (20, 50))),
        *(_open_partitions(p) for p in (2, 8, 32)),
        *(_closed_partitions(50, p) for p in (50, 10)),
        *(_beside_commits(load) for load in (0.25, 1.0)),
        *(_given_up(1.0, budget) for budget in (1, 3)),
        *(_queue(load) for load in (0.5, 0.8)),
        _in_a_loop(5),
    ]


# Scenarios ----------------------------------------------------------------------------------------

TOUCH_ALL = "UPDATE events SET amount = 1.0"
"""Reads and rewrites the one row that there is: conflicts with every other such commit."""

TOUCH_PART = "UPDATE events SET amount = 1.0 WHERE part = :part"
"""Conflicts with every other such commit in its partition."""

INSERT = "INSERT INTO events VALUES (2, 1.0)"

ONE_ROW: dict[str, Any] = {
    "schema": "event_id BIGINT, amount DOUBLE",
    "key": "event_id",
    "initial": {"rows": 1},
}


def _document(
    duration_s: float, writers: dict[str, Any], table: dict[str, Any] | None = None, **more: Any
) -> dict[str, Any]:
    return {
        "name": "paper",
        "duration": duration_s,
        "store": "instant",
        "table": table or ONE_ROW,
        "writers": writers,
        **more,
    }


def _parts(partitions: int) -> dict[str, Any]:
    """A table of one row in each of some partitions."""
    return {
        "schema": "event_id BIGINT, part BIGINT, amount DOUBLE",
        "key": "event_id",
        "partition_by": ["part"],
        "values": {"part": list(range(partitions))},
        "initial": {"rows": partitions, "rows_per_file": 1},
    }


def _at_once(writers: int) -> ClosedForm:
    rerun = {"fixed": {"wait": "0 s", "budget": 1000}}
    writer = _touching({"schedule": {"at": ["0 s"]}}, count=writers, rerun=rerun)
    document = _document(writers + 10, {"w": writer})
    return ClosedForm(
        f"{writers} at once on one row, again at once when refused", "N(N+1)/2",
        "transactions in all", laws.rounds_of_all(writers), document, _transactions,
        ends_by_itself=True,
    )  # fmt: skip


def _lock_step(writers: int) -> ClosedForm:
    document = _document(200, {"w": _touching({"closed": {}}, count=writers)})
    return ClosedForm(
        f"{writers} writers on one row, equal work, no pause", "1 - 1/N",
        "abort rate", laws.lock_step(writers), document, _abort_rate, relative=0.006,
    )  # fmt: skip


def _exponential_work(writers: int) -> ClosedForm:
    writer = _touching({"closed": {}}, count=writers, compute=_EXPONENTIAL)
    document = _document(40 + 2500 / writers, {"w": writer}, warm_up="20 s")
    return ClosedForm(
        f"{writers} writers on one row, exponential work, no pause", "1 - 1/Q(N), Ramanujan's Q",
        "abort rate", 1 - 1 / laws.ramanujan_q(writers), document, _abort_rate,
    )  # fmt: skip


def _fixed_windows(load: float) -> ClosedForm:
    document = _open(load, "1 s")
    return ClosedForm(
        f"Poisson arrivals on one row, equal work, load {load:g}", "r/(1+r)",
        "abort rate", laws.fixed_windows(load), document, _abort_rate,
    )  # fmt: skip


def _exponential_windows(load: float) -> ClosedForm:
    document = _open(load, _EXPONENTIAL)
    return ClosedForm(
        f"Poisson arrivals on one row, exponential work, load {load:g}", "1 - E[k]/a",
        "abort rate", laws.exponential_windows(load), document, _abort_rate,
    )  # fmt: skip


def _partitions_at_once(writers: int, partitions: int) -> ClosedForm:
    writer = _touching_parts({"schedule": {"at": ["0 s"]}}, count=writers)
    document = _document(10, {"w": writer}, _parts(partitions))
    return ClosedForm(
        f"{writers} at once, each on one of {partitions} partitions by lot", "P(1-(1-1/P)^N)",
        "commits", laws.distinct_partitions(writers, partitions), document, _commits,
        ends_by_itself=True,
    )  # fmt: skip


def _open_partitions(partitions: int) -> ClosedForm:
    load = 4.0
    writer = _touching_parts({"open": {"rate": f"{load} per s"}})
    document = _document(300, {"w": writer}, _parts(partitions), warm_up="10 s")
    return ClosedForm(
        f"Poisson arrivals, load {load:g}, on one of {partitions} partitions",
        "r/(1+r), r = load/P",
        "abort rate", laws.fixed_windows(load / partitions), document, _abort_rate,
    )  # fmt: skip


def _closed_partitions(writers: int, partitions: int) -> ClosedForm:
    writer = _touching_parts({"closed": {}}, count=writers, compute=_EXPONENTIAL)
    document = _document(60, {"w": writer}, _parts(partitions), warm_up="10 s")
    return ClosedForm(
        f"{writers} writers without pause over {partitions} partitions, exponential work",
        "1 - E[k]/a, a = N/P, for many writers", "abort rate",
        laws.exponential_windows(writers / partitions), document, _abort_rate, relative=0.03,
    )  # fmt: skip


def _beside_commits(load: float) -> ClosedForm:
    document = _document(1500, {"w": _touching({"closed": {}}), "other": _inserts(load)}, _SERIAL)
    return ClosedForm(
        f"a reader of everything beside {load:g} Poisson commits in its time", "1 - exp(-r)",
        "abort rate", laws.beside_commits(load), document, _abort_rate_of_touching,
    )  # fmt: skip


def _given_up(load: float, budget: int) -> ClosedForm:
    rerun = {"fixed": {"wait": "0 s", "budget": budget}}
    writers = {"w": _touching({"closed": {}}, rerun=rerun), "other": _inserts(load)}
    return ClosedForm(
        f"the same beside {load:g}, with {budget} rerun{'s' * (budget > 1)}", "p^(K+1)",
        "jobs given up", laws.given_up(load, budget), _document(2500, writers, _SERIAL), _jobs_lost,
    )  # fmt: skip


def _queue(load: float) -> ClosedForm:
    writer = _touching({"open": {"rate": f"{load} per s", "concurrency": 1}})
    document = _document(3000, {"w": writer}, warm_up="200 s")
    return ClosedForm(
        f"one at a time, load {load:g}: a queue (M/D/1)", "1 + r/(2(1-r))",
        "mean time in the system (s)", laws.time_in_system(load), document, _mean_time,
    )  # fmt: skip


def _in_a_loop(writers: int) -> ClosedForm:
    think = {"exponential": {"mean": f"{THINK_S} s"}}
    writer = _touching({"closed": {"think": think}}, count=writers, compute=_EXPONENTIAL)
    document = _document(WARM_UP_S + MEASURED_S, {"w": writer}, warm_up=f"{WARM_UP_S} s")
    return ClosedForm(
        f"{writers} writers that pause {THINK_S} s: Little's law", "N = X (Z + R)",
        "writers", float(writers), document, _writers_by_littles_law, ends_by_itself=True,
    )  # fmt: skip


THINK_S, WARM_UP_S, MEASURED_S = 3, 20, 600

_EXPONENTIAL = {"exponential": {"mean": "1 s"}}

_SERIAL = {**ONE_ROW, "isolation": "Serializable"}


def _touching(arrival: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"statement": TOUCH_ALL, "arrival": arrival, "compute": "1 s", **more}


def _touching_parts(arrival: dict[str, Any], **more: Any) -> dict[str, Any]:
    statement = {"statement": TOUCH_PART, "parameters": {"part": {"uniform": {}}}}
    return {**_touching(arrival, **more), **statement}


def _inserts(rate: float) -> dict[str, Any]:
    """Commits at Poisson instants: blind, and without work of their own."""
    return {"statement": INSERT, "arrival": {"open": {"rate": f"{rate} per s"}}}


def _open(load: float, compute: Any) -> dict[str, Any]:
    """About as many arrivals whatever the load."""
    writer = _touching({"open": {"rate": f"{load} per s"}}, compute=compute)
    return _document(800 / load + 20, {"w": writer}, warm_up="10 s")


# What is measured ---------------------------------------------------------------------------------


def _abort_rate(runs: Sequence[pa.Table], confidence: float) -> Estimate:
    return share(
        [_count(rows, RecordedOutcome.ABORTED) for rows in runs],
        [rows.num_rows for rows in runs],
        confidence=confidence,
    )


def _abort_rate_of_touching(runs: Sequence[pa.Table], confidence: float) -> Estimate:
    return _abort_rate([_of_group(rows, "w") for rows in runs], confidence)


def _jobs_lost(runs: Sequence[pa.Table], confidence: float) -> Estimate:
    last = [_last_of_jobs(_of_group(rows, "w")) for rows in runs]
    lost = [_count(rows, RecordedOutcome.ABORTED) for rows in last]
    return share(lost, [rows.num_rows for rows in last], confidence=confidence)


def _commits(runs: Sequence[pa.Table], confidence: float) -> Estimate:
    counts = [_count(rows, RecordedOutcome.COMMITTED) for rows in runs]
    return mean(counts, exposure=1, confidence=confidence)


def _transactions(runs: Sequence[pa.Table], confidence: float) -> Estimate:
    return mean([rows.num_rows for rows in runs], exposure=1, confidence=confidence)


def _mean_time(runs: Sequence[pa.Table], confidence: float) -> Estimate:
    spent = [pc.subtract(rows["ended_at_ms"], rows["submitted_at_ms"]) for rows in runs]
    return mean([pc.mean(each).as_py() / 1000 for each in spent], confidence=confidence)


def _writers_by_littles_law(runs: Sequence[pa.Table], confidence: float) -> Estimate:
    """Throughput of one replication, time in the system of the next: two independent estimates."""
    spent_s = [
        pc.mean(pc.subtract(rows["ended_at_ms"], rows["submitted_at_ms"])).as_py() / 1000
        for rows in runs
    ]
    per_s = [rows.num_rows / MEASURED_S for rows in runs]
    others_s = [*spent_s[1:], spent_s[0]]
    return mean(
        [rate * (THINK_S + spent) for rate, spent in zip(per_s, others_s, strict=True)],
        confidence=confidence,
    )


def _count(rows: pa.Table, outcome: RecordedOutcome) -> int:
    return int(pc.sum(pc.equal(rows["outcome"], outcome.value)).as_py() or 0)


def _of_group(rows: pa.Table, group: str) -> pa.Table:
    return rows.filter(pc.equal(rows["writer_group"], group))


def _last_of_jobs(rows: pa.Table) -> pa.Table:
    """The last transaction of each job that came to an end: committed, or given up."""
    ends = pc.or_(rows["given_up"], pc.equal(rows["outcome"], RecordedOutcome.COMMITTED.value))
    return rows.filter(ends)
