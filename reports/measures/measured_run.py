"""All that is counted in one run: every measure, whole and by writer group, and who stopped whom.

A pure function of a recording's tables and manifest. Nothing else counts recorded rows: a single
run, a check, a sweep on Spark and Python all start from what it returns.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from msgspec import Struct, field
from msgspec.structs import replace

from whitecap.engine.recorded import OF_ABORTS, PRICE, Measure, RecordedOutcome
from whitecap.reports.arrays import IntArray
from whitecap.reports.measures.definitions import MEASURES
from whitecap.reports.measures.groups import WriterCommand, coded_groups, with_tables
from whitecap.reports.measures.left_out import Due, JobsLeftOpen, due_by_group, left_out_of
from whitecap.reports.measures.refusals import RefusalCount, ranked, refusals_of
from whitecap.reports.measures.sample import LeftByRun, MeasureSample, TransactionColumns
from whitecap.reports.measures.tally import MeasureTally, narrowed, together
from whitecap.reports.measures.warm_up import Courses, RunWarmUp, courses_of, warm_up_of


class MeasuredPart(Struct, frozen=True):
    """What some writers did in a run: each measure's tally, and what these leave out."""

    tallies: Mapping[Measure, MeasureTally]
    left_out: JobsLeftOpen

    def value(self, measure: Measure) -> float:
        """A measure's value; not a number where nothing was there to be measured."""
        return self.tallies[measure].value


class MeasuredRun(Struct, frozen=True):
    """The whole of a run, its writer groups by their names, and its refusals.

    Every abort is in one refusal, whether a commit was behind it or not.
    """

    whole: MeasuredPart
    groups: Mapping[WriterCommand, MeasuredPart]
    refusals: tuple[RefusalCount, ...]
    warm_up: RunWarmUp = field(default_factory=RunWarmUp)

    def tally(
        self,
        measure: Measure,
        writer: str | None = None,
        command: str | None = None,
        exception: str | None = None,
    ) -> MeasureTally:
        """A measure of the whole run, or of one writer group, command or exception.

        Raises `ValueError`: an exception with a measure that does not count aborts, or writers
        that are not of this run.
        """
        groups = self._named(writer, command)
        is_whole = writer is None and command is None
        parts = [self.whole] if is_whole else [self.groups[group] for group in groups]
        tally = together([part.tallies[measure] for part in parts])
        if exception is None:
            return tally
        if measure not in OF_ABORTS:
            raise ValueError(f"{measure} does not count aborts")
        return narrowed(tally, self.aborts(*groups)[exception])

    def aborts(self, *groups: WriterCommand) -> Counter[str]:
        """How many transactions of these writer groups were aborted by each exception."""
        aborts: Counter[str] = Counter()
        for refusal in self.refusals:
            if refusal.loser in groups:
                aborts[refusal.exception] += refusal.count
        return aborts

    def only(self, group: WriterCommand) -> MeasuredRun:
        """What one writer group did, as if it were the whole."""
        part = self.groups[group]
        refusals = tuple(each for each in self.refusals if each.loser == group)
        return MeasuredRun(part, {group: part}, refusals, self.warm_up)

    def _named(self, writer: str | None, command: str | None) -> list[WriterCommand]:
        groups = [
            group
            for group in self.groups
            if writer in (None, group.writer_group) and group.runs(command)
        ]
        if not groups and (writer or command):
            raise ValueError(f"no writer {writer or ''} runs {command or 'anything'}")
        return groups


Runs = Mapping[int, MeasuredRun]
"""The measured runs of one cell, by their replication."""


def measure_run(
    manifest: Mapping[str, Any],
    tables: Mapping[str, pa.Table],
    warm_up_ms: float | None = None,
) -> MeasuredRun:
    """Count everything in a recording, given its manifest and tables.

    `warm_up_ms` is of a run that leaves it to be found, where it is compared with others.
    """
    transactions = tables["transactions"]
    due = due_by_group(tables["writers"])
    codes, groups = coded_groups(transactions, due)
    rows = TransactionColumns.of(transactions)
    duration_ms = float(manifest["duration_ms"])
    warm_up = warm_up_of(manifest, courses_of(rows, codes, duration_ms), warm_up_ms)
    per_slot_hour = float(manifest.get(PRICE, {}).get("per_slot_hour", math.nan))
    sample = MeasureSample.of(rows, warm_up.used_ms, duration_ms, _left_by(manifest), per_slot_hour)
    ends = _ends_of(groups, tables["writers"])
    losers = rows.ended(RecordedOutcome.ABORTED) & (rows.submitted_ms >= sample.warm_up_ms)
    refusals = refusals_of(transactions, tables["commits"], losers, codes, groups)
    costs = _request_costs(manifest, groups)
    split = _split(sample, codes, ends, groups, costs)
    parts = [_part(own, due.get(group, Due())) for group, own in zip(groups, split, strict=True)]
    everyone = replace(
        sample,
        request_cost=sum(costs) if costs else math.nan,
        brings_data=any(own.brings_data for own in split),
    )
    whole = _part(everyone, sum(due.values(), Due()))
    return MeasuredRun(whole, dict(zip(groups, parts, strict=True)), ranked(refusals), warm_up)


def _left_by(manifest: Mapping[str, Any]) -> LeftByRun:
    live_rows, findings = manifest.get("live_rows"), manifest.get("findings")
    return LeftByRun(
        live_rows=math.nan if live_rows is None else float(live_rows),
        lost_commits=float(manifest.get("lost_commits", 0)),
        doubled_commits=float(manifest.get("doubled_commits", 0)),
        findings=math.nan if findings is None else float(sum(findings.values())),
    )


def _request_costs(manifest: Mapping[str, Any], groups: Sequence[WriterCommand]) -> list[float]:
    """Of each group, not a number where requests are not priced."""
    requests = manifest.get(PRICE, {}).get("requests")
    if requests is None:
        return [math.nan] * len(groups)
    costs: Mapping[str, Mapping[str, float]] = requests["costs"]
    return [costs.get(group.writer_group, {}).get(group.command, 0.0) for group in groups]


def courses_of_run(manifest: Mapping[str, Any], tables: Mapping[str, pa.Table]) -> Courses:
    """The series of a recording in which a warm-up is looked for."""
    transactions = tables["transactions"]
    codes, _ = coded_groups(transactions, due_by_group(tables["writers"]))
    return courses_of(TransactionColumns.of(transactions), codes, float(manifest["duration_ms"]))


def _ends_of(groups: Sequence[WriterCommand], writers: pa.Table) -> IntArray:
    """Of each group that in which its jobs end: another one where they have several statements."""
    last = {}
    for row in with_tables(writers).to_pylist():
        if row.get("ends_job", True):
            last[row["writer_group"]] = WriterCommand(row["writer_group"], row["command"])
    own = "ends_job" not in writers.column_names
    ends = (group if own else last.get(group.writer_group, group) for group in groups)
    return np.array([groups.index(group) for group in ends], dtype=np.int64)


def _split(
    sample: MeasureSample,
    codes: IntArray,
    ends: IntArray,
    groups: Sequence[WriterCommand],
    costs: Sequence[float],
) -> Sequence[MeasureSample]:
    """The sample of each group: its transactions, with the jobs that end in it."""
    rows, jobs = _positions(codes, len(groups)), _positions(ends[codes], len(groups))
    bringing = {end for group, end in zip(groups, ends.tolist(), strict=True) if group.brings_data}
    return [
        replace(
            sample.where(own, its),
            request_cost=cost,
            has_jobs=at in ends,
            brings_data=at in bringing,
        )
        for at, (own, its, cost) in enumerate(zip(rows, jobs, costs, strict=True))
    ]


def _positions(codes: IntArray, count: int) -> Sequence[IntArray]:
    """Where each of the codes is."""
    order = np.argsort(codes, kind="stable")
    ends = np.searchsorted(codes[order], np.arange(count + 1))
    return [order[ends[i] : ends[i + 1]] for i in range(count)]


def _part(sample: MeasureSample, due: Due) -> MeasuredPart:
    tallies = {each.measure: each.tally(sample) for each in MEASURES.values()}
    return MeasuredPart(tallies, left_out_of(sample, due))
