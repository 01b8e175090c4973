"""Small made-up recordings in the recording's format, so that reports are tested without runs."""

from __future__ import annotations

import itertools
import json
import math
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from whitecap.engine.recorded import CONFLICTS, RECORDING_FORMAT, Measure, Unit
from whitecap.reports.layout import layout_of
from whitecap.reports.measures.counting import PERCENTILES
from whitecap.reports.measures.definitions import MEASURES
from whitecap.reports.measures.groups import WriterCommand
from whitecap.reports.measures.left_out import Due, JobsLeftOpen
from whitecap.reports.measures.measured_run import MeasuredPart, MeasuredRun
from whitecap.reports.measures.refusals import NOBODY, RefusalCount, ranked
from whitecap.reports.measures.tally import (
    Count,
    CountedShare,
    Latencies,
    MeasureTally,
    PerJob,
    PerMinute,
    PerMonth,
    WeightedShare,
)
from whitecap.reports.provenance import provenance_of
from whitecap.reports.runs import RunSet
from whitecap.reports.subject import Subject
from whitecap.reports.tables import build_tables
from whitecap.sim.recording.dataset.layout import batch_folder
from whitecap.sim.recording.dataset.local import LocalPlace
from whitecap.sim.recording.dataset.place import finished_runs
from whitecap.sim.recording.dataset.rows import Ran
from whitecap.sim.recording.recording import Recording
from whitecap.sweep_engine import sweep_engine
from whitecap.sweep_places import recorded_runs

SCHEMA = pa.schema(
    [
        ("transaction_id", pa.int64()),
        ("job_id", pa.int64()),
        ("rerun_number", pa.int32()),
        ("writer", pa.string()),
        ("writer_group", pa.string()),
        ("command", pa.string()),
        ("submitted_at_ms", pa.float64()),
        ("commit_started_at_ms", pa.float64()),
        ("ended_at_ms", pa.float64()),
        ("outcome", pa.string()),
        ("committed_version", pa.int64()),
        ("exception", pa.string()),
        ("winning_version", pa.int64()),
        ("attempts", pa.int32()),
        ("compute_ms", pa.float64()),
        ("given_up", pa.bool_()),
    ]
)

COMMITS = pa.schema([("version", pa.int64()), ("transaction_id", pa.int64())])
WRITERS = pa.schema(
    [
        ("writer", pa.string()),
        ("writer_group", pa.string()),
        ("command", pa.string()),
        ("arrival", pa.string()),
        ("jobs_due", pa.int64()),
        ("jobs_not_begun", pa.int64()),
    ]
)

EXCEPTIONS = (
    "ConcurrentAppendException",
    "ConcurrentDeleteReadException",
    "ConcurrentDeleteDeleteException",
)

MANIFEST: dict[str, Any] = {
    "format_version": RECORDING_FORMAT,
    "scenario_name": "eight writers on events",
    "scenario_hash": "5f1d" * 16,
    "seed": 7,
    "replication": 0,
    "code_version": "0.1.0",
    "dialect": "delta-oss-4.4",
    "labels": {},
    "warm_up_ms": 0.0,
    "duration_ms": 3_600_000.0,
}


def transaction(transaction_id: int, **values: Any) -> dict[str, Any]:
    """One committed transaction at minute one, changed by `values`."""
    row: dict[str, Any] = {
        "transaction_id": transaction_id,
        "job_id": transaction_id,
        "rerun_number": 0,
        "writer": "loader-0",
        "writer_group": "loader",
        "command": "INSERT",
        "submitted_at_ms": 60_000.0,
        "commit_started_at_ms": 61_000.0,
        "ended_at_ms": 62_000.0,
        "outcome": "committed",
        "committed_version": transaction_id,
        "exception": None,
        "winning_version": None,
        "attempts": 1,
        "compute_ms": 1_000.0,
        "given_up": False,
    }
    return row | values


def aborted(transaction_id: int, exception: str = EXCEPTIONS[0], **values: Any) -> dict[str, Any]:
    """One transaction refused by a conflict check."""
    refused = {"outcome": "aborted", "exception": exception, "committed_version": None}
    return transaction(transaction_id, **(refused | values))


def tables_of(rows: Sequence[Mapping[str, Any]]) -> dict[str, pa.Table]:
    """A recording's tables with these transactions; every job was due, none is late."""
    transactions = pa.Table.from_pylist(list(rows), SCHEMA)
    commits = [
        {"version": row["committed_version"], "transaction_id": row["transaction_id"]}
        for row in rows
        if row["committed_version"] is not None
    ]
    jobs = dict.fromkeys(
        (row["writer"], row["writer_group"], row["command"], row["job_id"]) for row in rows
    )
    due = Counter(job[:3] for job in jobs)
    writers = [
        dict(zip(WRITERS.names, (*names, "closed", count, 0), strict=True))
        for names, count in due.items()
    ]
    return {
        "transactions": transactions,
        "commits": pa.Table.from_pylist(commits, COMMITS),
        "writers": pa.Table.from_pylist(writers, WRITERS),
    }


def write_run(path: Path, rows: Sequence[Mapping[str, Any]], **manifest: Any) -> Path:
    """A run directory with these transactions."""
    path.mkdir(parents=True)
    tables = tables_of(rows)
    for name, table in tables.items():
        pq.write_table(table, path / f"{name}.parquet")
    content = MANIFEST | {"tables": {n: {"rows": t.num_rows} for n, t in tables.items()}} | manifest
    (path / "manifest.json").write_text(json.dumps(content))
    return path


def add_run(
    root: Path, cell: str, replication: int, rows: Sequence[Mapping[str, Any]], **manifest: Any
) -> str:
    """One more run in a sweep's directory. Returns its batch."""
    place = LocalPlace(root)
    batch = batch_folder(len(place.batches()), "made")
    made = MANIFEST | {"replication": replication} | manifest
    recording = Recording.of(made, "", tables_of(rows))
    place.add(batch, 0, [Ran((cell, replication), recording, None, 0.1)])
    place.close(batch)
    return batch


def remove_run(root: Path, cell: str, replication: int) -> None:
    """Remove a run that `add_run` wrote."""
    place = LocalPlace(root)
    for batch in place.batches():
        if (cell, replication) in finished_runs(place, [batch]):
            place.remove(batch)


def recorded(root: Path) -> RunSet:
    """The runs at this place, read in processes."""
    return recorded_runs(root, sweep_engine("processes"))


def write_sweep(
    path: Path,
    axes: Mapping[str, Sequence[str]],
    replications: int,
    minutes: int = 60,
    **manifest: Any,
) -> Path:
    """A sweep directory whose conflicts depend on the labels and, a little, on the replication."""
    cells = []
    for cell, labels in enumerate(itertools.product(*axes.values())):
        name = "__".join(label.replace(" ", "-") for label in labels)
        named = dict(zip(axes, labels, strict=True))
        cells.append({"name": name, "labels": named, "overrides": {}})
        for replication in range(replications):
            rows = _made_up(named, cell, replication, minutes)
            of_cell = {
                "labels": named,
                "warm_up_ms": 600_000.0, "duration_ms": minutes * 60_000.0,
            }  # fmt: skip
            add_run(path, name, replication, rows, **of_cell, **manifest)
    definition = {
        "format_version": 1,
        "scenario_name": MANIFEST["scenario_name"],
        "scenario_hash": MANIFEST["scenario_hash"],
        "code_version": MANIFEST["code_version"],
        "seed": MANIFEST["seed"],
        "replications": replications,
        "axes": {axis: {label: {} for label in labels} for axis, labels in axes.items()},
        "cells": cells,
        "scenario": {},
    }
    (path / "sweep.json").write_text(json.dumps(definition))
    return path


def _made_up(
    labels: Mapping[str, str], cell: int, replication: int, minutes: int
) -> list[dict[str, Any]]:
    """Jobs every few seconds, refused more often where the labels promise more contention."""
    random = np.random.default_rng([replication, cell])
    writers = float(labels.get("writers", 8))
    finer = {"unpartitioned": 1.0, "by date": 0.35, "by date and country": 0.08}
    pressure = finer.get(labels.get("partitioning", ""), 0.5) * writers / 12
    pressure *= 1.0 if labels.get("isolation") == "Serializable" else 0.6
    refusal = pressure / (1 + pressure) * (1 + 0.1 * random.normal())
    rows: list[dict[str, Any]] = []
    for _ in range(int(minutes * writers / 2)):
        rows.extend(_job(random, len(rows), refusal, minutes * 60_000.0))
    return rows


def _job(random: Any, first: int, refusal: float, end_ms: float) -> list[dict[str, Any]]:
    at = random.uniform(0, end_ms)
    rows: list[dict[str, Any]] = []
    for rerun in range(4):
        spent = random.lognormal(np.log(20_000), 0.5)
        done = at + spent + 200
        identity = {
            "job_id": first, "rerun_number": rerun, "submitted_at_ms": at, "ended_at_ms": done,
            "compute_ms": spent, "attempts": 1 + int(random.poisson(0.3)),
            "writer_group": ("loader", "merger")[first % 2],
            "command": ("INSERT", "MERGE")[first % 2],
        }  # fmt: skip
        if random.random() > refusal:
            return [*rows, transaction(first + rerun, **identity)]
        name = EXCEPTIONS[int(random.choice(3, p=[0.6, 0.3, 0.1]))]
        rows.append(aborted(first + rerun, name, **identity, given_up=rerun == 3))
        at = done + random.exponential(2_000)
    return rows


def _of_size(size: float, measure: Measure) -> float:
    return size if measure.unit is Unit.SHARE else 3_000 * (1 + size)


def made_up_run(value: Callable[[Measure], float], aborts: Mapping[str, int]) -> MeasuredRun:
    """A run of one writer group with these values, and these aborts, for which nobody is to
    blame."""
    loader = WriterCommand("loader", "INSERT")
    tallies = {measure: _tally(measure, value(measure)) for measure in Measure}
    part = MeasuredPart(
        tallies, JobsLeftOpen(jobs=9, in_flight=0, given_up=0, unfinished=0, due=Due())
    )
    refusals = ranked(
        RefusalCount(loader, NOBODY, name, count, 0) for name, count in aborts.items()
    )
    return MeasuredRun(part, {loader: part}, refusals)


def _tally(measure: Measure, value: float) -> MeasureTally:
    kind = MEASURES[measure].kind
    if kind is WeightedShare:
        return WeightedShare(value * 1e6, 1e6, value * 1_000, 1_000)
    if kind is CountedShare:
        return CountedShare(0, 0) if math.isnan(value) else CountedShare(value * 1_000, 1_000)
    if kind is Latencies:
        return Latencies(np.array([] if math.isnan(value) else [value]), PERCENTILES[measure])
    if kind is PerMinute:
        return PerMinute(value * 100, 100)
    if kind is PerJob:
        return PerJob(value * 100, 100)
    return PerMonth(value, 1) if kind is PerMonth else Count(value)


def made_up_subject(
    root: Path,
    axes: dict[str, list[str]],
    replications: int = 3,
    quiet: Collection[str] = (),
    **manifest: Any,
) -> Subject:
    """A subject whose numbers depend on cell and replication, without Spark.

    In `quiet` cells nobody's commit makes a transaction abort.
    """
    runs = recorded(write_sweep(root, axes, replications, minutes=2, **manifest))
    measured = {}
    for position, (cell, replication) in enumerate(
        itertools.product(runs.cells, range(replications))
    ):
        size = 0.02 + 0.9 * position / (len(runs.cells) * replications)
        measured[cell, replication] = made_up_run(
            partial(_of_size, size),
            {name: round(1_000 * size / 7) for name in CONFLICTS if cell not in quiet},
        )
    tables = build_tables(measured, runs.cells)
    return Subject(runs, tables, layout_of(runs.cells, runs.axes), provenance_of(runs))
