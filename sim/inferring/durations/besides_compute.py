"""What jobs of a draft take besides their compute: for the log's requests, and Spark's jobs on it.

A log shows the time from snapshot to commit, and in a run of the draft that holds requests to the
simulated store and the job that reads the table's state, whatever `compute` is. What was seen must
not be spent twice: so the draft is run for a while, and what these took in it is taken off.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean
from typing import Any

from msgspec import Struct

from whitecap.engine.recorded import RecordedOutcome
from whitecap.engine.storage.requests import PutResult
from whitecap.sim.loading import parse_scenario
from whitecap.sim.quantities.units import show_duration
from whitecap.sim.recording.recording import Recording
from whitecap.sim.run import run_scenario

JOBS_EACH = 12
"""Jobs of each group that are looked at: requests vary by a tenth, jobs on the state by less."""

MOST_JOBS = 400
"""Jobs of the run that is looked at, so that it takes about a second."""


class BesidesCompute(Struct, frozen=True):
    """Means of a group's committed jobs, in ms.

    `window_ms` lies between the snapshot and the first attempt, where Delta takes the timestamp of
    a commit, and is no compute; `unseen_ms` between that and when the commit can be seen. Of
    writers without a queue `outside_ms` is what else a committed job takes from when it is
    submitted to its end: a look at the table before, what follows a commit, refused attempts.
    """

    window_ms: float
    unseen_ms: float
    outside_ms: float = 0.0


def besides_compute(
    text: str, rates: Mapping[str, float], changes: Mapping[str, Any]
) -> dict[str, BesidesCompute]:
    """What the groups of this scenario, so changed, take besides compute; of those that committed.

    `rates` are those at which their jobs come, per ms.
    """
    until_ms = min(JOBS_EACH / min(rates.values()), MOST_JOBS / sum(rates.values()))
    sooner = dict(_more_often(rates, until_ms))
    scenario = parse_scenario(text, changes={**changes, **sooner}, cells=False)
    until_ms = min(until_ms, scenario.duration)
    return dict(_of_groups(run_scenario(scenario, until_ms=until_ms).recording))


def _more_often(rates: Mapping[str, float], until_ms: float) -> Iterator[tuple[str, Any]]:
    """Jobs that come too seldom to be seen follow each other sooner."""
    for group, rate in rates.items():
        if rate * until_ms < JOBS_EACH / 2:
            think = show_duration(until_ms / JOBS_EACH)
            yield f"writers.{group}.arrival", {"closed": {"think": think}}


def _of_groups(recording: Recording) -> Iterator[tuple[str, BesidesCompute]]:
    seen = {
        row["transaction_id"]: row["effect_at_ms"]
        for row in recording.attempts.to_pylist()
        if row["result"] == PutResult.CREATED
    }
    committed = defaultdict[str, list[dict[str, Any]]](list)
    taken = defaultdict[str, float](float)
    for row in recording.transactions.to_pylist():
        if row["ended_at_ms"] is not None:
            taken[row["writer_group"]] += row["ended_at_ms"] - row["submitted_at_ms"]
        if row["outcome"] == RecordedOutcome.COMMITTED and row["transaction_id"] in seen:
            committed[row["writer_group"]].append(row)
    unseen = [
        seen[row["transaction_id"]] - row["commit_started_at_ms"]
        for rows in committed.values()
        for row in rows
    ]
    for group, rows in committed.items():
        windows_ms = sum(row["commit_started_at_ms"] - row["snapshot_at_ms"] for row in rows)
        outside_ms = (taken[group] - windows_ms) / len(rows)
        yield group, BesidesCompute(_window_ms(rows), fmean(unseen), outside_ms)


def _window_ms(rows: Sequence[Mapping[str, Any]]) -> float:
    windows = (row["commit_started_at_ms"] - row["snapshot_at_ms"] for row in rows)
    return max(fmean(windows) - fmean(row["compute_ms"] for row in rows), 0.0)
