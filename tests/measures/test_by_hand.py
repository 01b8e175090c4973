"""Every measure of a run against values worked out by hand, whole and by writer group."""

from __future__ import annotations

import math
from typing import Any

import pytest

from tests.reports.synthetic_recordings import aborted, tables_of, transaction
from whitecap.engine.recorded import OF_THE_TABLE, Measure
from whitecap.reports.measures.groups import WriterCommand
from whitecap.reports.measures.measured_run import MeasuredRun, measure_run
from whitecap.reports.measures.tally import together

MINUTE = 60_000.0


def rows_by_hand() -> list[dict[str, Any]]:
    """A job that succeeds at once, one after two refusals, one given up, and the odd ones out."""
    later = 30 * MINUTE
    return [
        # Job 0 commits at once after 10 s.
        transaction(0, submitted_at_ms=later, ended_at_ms=later + 10_000, compute_ms=8_000.0),
        # Job 1: refused twice, then committed 50 s after its first submission; one retry.
        aborted(1, submitted_at_ms=later, ended_at_ms=later + 9_000, compute_ms=4_000.0),
        aborted(
            2, job_id=1, rerun_number=1, submitted_at_ms=later + 10_000, attempts=2,
            ended_at_ms=later + 19_000, compute_ms=4_000.0,
        ),
        transaction(
            3, job_id=1, rerun_number=2, submitted_at_ms=later + 20_000,
            ended_at_ms=later + 50_000, compute_ms=4_000.0,
        ),
        # Job 4 is given up; Delta refused it for another reason than a conflict.
        aborted(4, "DeltaAnalysisException", submitted_at_ms=later, ended_at_ms=later + 1_000,
                given_up=True, attempts=0, compute_ms=0.0),
        # Job 5 had nothing to do: it succeeded, and is no goodput.
        transaction(5, submitted_at_ms=later, ended_at_ms=later + 2_000, attempts=0,
                    committed_version=None, compute_ms=0.0),
        # Job 6 never learned its outcome, job 7 is still under way, job 8 waits to run again.
        transaction(6, outcome="unknown", given_up=True, submitted_at_ms=later,
                    ended_at_ms=later + 5_000, committed_version=None, compute_ms=0.0),
        transaction(7, outcome="in_flight", submitted_at_ms=later, ended_at_ms=None, attempts=0,
                    committed_version=None, compute_ms=500.0),
        aborted(8, submitted_at_ms=later, ended_at_ms=later + 3_000, compute_ms=0.0),
        # Submitted in the warm-up: job 9 ends there too, job 10 commits after it.
        transaction(9, submitted_at_ms=0.0, ended_at_ms=1_000.0),
        transaction(10, submitted_at_ms=9 * MINUTE, ended_at_ms=11 * MINUTE),
        # Job 11 is refused in the warm-up and commits, run again, after it: two minutes in all.
        aborted(11, submitted_at_ms=9 * MINUTE, ended_at_ms=9.5 * MINUTE),
        transaction(12, job_id=11, rerun_number=1, submitted_at_ms=10.5 * MINUTE,
                    ended_at_ms=11 * MINUTE, compute_ms=1_000.0),
    ]  # fmt: skip


MANIFEST = {
    "warm_up_ms": 10 * MINUTE,
    "duration_ms": 60 * MINUTE,
    "live_rows": 41,
    "lost_commits": 2,
    "doubled_commits": 1,
    "findings": {"G-single": 1, "lost commit": 2},
    "price": {
        "per_slot_hour": 0.5,
        "currency": "EUR",
        "requests": {"costs": {"loader": {"INSERT": 0.25}}},
    },
}
A_MONTH = 730 * 60 / 50
"""So many times the fifty minutes that are measured."""


@pytest.fixture(scope="module")
def measured() -> MeasuredRun:
    """The run above: one hour, of which ten minutes are warm-up."""
    return measure_run(MANIFEST, tables_of(rows_by_hand()))


@pytest.mark.parametrize(
    ("measure", "value"),
    [
        ("submitted", 10),
        ("committed", 4),
        ("aborted", 4),
        ("unknown", 1),
        ("in_flight", 1),
        ("given_up", 2),
        ("half_done", 0),
        ("reruns", 3),
        ("attempts", 8),
        ("conflict_rate", 3 / 8),
        ("retry_rate", 1 / 8),
        ("abort_rate", 4 / 9),
        ("rerun_rate", 3 / 10),
        ("goodput_per_minute", 4 / 50),
        ("job_success_rate", 4 / 6),
        ("latency_p50_ms", 30_000.0),
        ("latency_p95_ms", 109_500.0),
        ("latency_p99_ms", 117_900.0),
        ("latency_p99_9_ms", 119_790.0),
        ("wasted_compute_share", 8_000 / 21_000),
        ("lost_commits", 2),
        ("doubled_commits", 1),
        ("findings", 3),
        ("live_rows", 41),
        ("slot_hours_per_month", 22 / 3600 * A_MONTH),
        ("cost_per_month", 0.5 * 22 / 3600 * A_MONTH),
        ("wasted_cost_per_month", 0.5 * 8 / 3600 * A_MONTH),
        ("cost_per_job", 0.5 * 21 / 3600 / 3),  # job 5 had nothing to do
        ("request_cost_per_month", 0.25 * 730),
    ],
)
def test_every_measure_is_what_its_definition_says(
    measured: MeasuredRun, measure: str, value: float
) -> None:
    tally = measured.tally(next(each for each in Measure if each == measure))
    assert tally.value == pytest.approx(value)


def test_every_measure_is_worked_out_above() -> None:
    parametrized: Any = test_every_measure_is_what_its_definition_says
    (mark,) = parametrized.pytestmark
    assert {name for name, _ in mark.args[1]} == set(Measure)


def test_what_no_rate_tells_is_counted(measured: MeasuredRun) -> None:
    """Of eight jobs one is under way and one waits to run again; two are given up."""
    left_out = measured.whole.left_out
    assert (left_out.jobs, left_out.unfinished) == (8, 2)
    assert (left_out.in_flight, left_out.given_up) == (1, 2)


@pytest.mark.parametrize(
    ("measure", "narrowed", "value"),
    [
        (Measure.ABORTED, {"exception": "DeltaAnalysisException"}, 1),
        (Measure.ABORTED, {"exception": "ConcurrentAppendException"}, 3),
        (Measure.ABORTED, {"exception": "WriterCrash"}, 0),
        (Measure.ABORT_RATE, {"exception": "ConcurrentAppendException"}, 3 / 9),
        (Measure.CONFLICT_RATE, {"exception": "ConcurrentAppendException"}, 3 / 8),
        (Measure.SUBMITTED, {"writer": "loader"}, 10),
        (Measure.SUBMITTED, {"command": "INSERT"}, 10),
    ],
)
def test_a_measure_can_be_narrowed(
    measured: MeasuredRun, measure: Measure, narrowed: dict[str, Any], value: float
) -> None:
    assert measured.tally(measure, **narrowed).value == pytest.approx(value)


@pytest.mark.parametrize(
    ("measure", "narrowed"),
    [
        (Measure.GIVEN_UP, {"exception": "WriterCrash"}),
        (Measure.ABORTED, {"writer": "nobody"}),
        (Measure.ABORTED, {"command": "MERGE"}),
    ],
)
def test_it_cannot_be_narrowed_to_what_it_does_not_count(
    measured: MeasuredRun, measure: Measure, narrowed: dict[str, Any]
) -> None:
    with pytest.raises(ValueError, match=r"does not count|runs"):
        measured.tally(measure, **narrowed)


def test_a_run_in_which_nothing_ended_has_no_rates() -> None:
    nothing = transaction(0, outcome="in_flight", ended_at_ms=None, committed_version=None,
                          attempts=0)  # fmt: skip
    run = measure_run(MANIFEST | {"warm_up_ms": 0.0}, tables_of([nothing]))
    assert run.tally(Measure.GOODPUT_PER_MINUTE).value == 0
    for measure in (Measure.CONFLICT_RATE, Measure.JOB_SUCCESS_RATE, Measure.LATENCY_P50_MS):
        assert math.isnan(run.tally(measure).value), measure


def test_a_run_without_a_single_transaction_has_goodput_zero_and_no_rates() -> None:
    run = measure_run(MANIFEST, tables_of([]))
    assert run.tally(Measure.GOODPUT_PER_MINUTE).value == 0
    assert run.tally(Measure.SUBMITTED).value == 0
    assert math.isnan(run.tally(Measure.ABORT_RATE).value)
    assert run.groups == {}
    assert run.refusals == ()


def test_what_is_not_known_of_the_table_is_no_number() -> None:
    unknown = {**MANIFEST, "live_rows": None, "findings": None}
    run = measure_run(unknown, tables_of(rows_by_hand()))
    assert math.isnan(run.tally(Measure.LIVE_ROWS).value)
    assert math.isnan(run.tally(Measure.FINDINGS).value)


def test_the_parts_of_a_run_are_those_of_its_writers_and_add_up() -> None:
    """The odd jobs are a merger's: what two groups have together is what all have."""
    names = ("loader", "merger"), ("INSERT", "MERGE")
    rows = [
        {**row, "writer_group": names[0][row["job_id"] % 2], "command": names[1][row["job_id"] % 2]}
        for row in rows_by_hand()
    ]
    whole = measure_run(MANIFEST, tables_of(rows_by_hand()))
    split = measure_run(MANIFEST, tables_of(rows))
    assert set(split.groups) == {
        WriterCommand("loader", "INSERT"),
        WriterCommand("merger", "MERGE"),
    }
    assert split.tally(Measure.LATENCY_P50_MS, writer="merger").value == 50_000
    for measure in set(Measure) - OF_THE_TABLE:
        both = split.tally(measure)
        assert both.value == whole.tally(measure).value, measure
    for measure in (Measure.ABORTED, Measure.ABORT_RATE, Measure.LATENCY_P95_MS):
        groups = [split.groups[group].tallies[measure] for group in split.groups]
        assert together(groups).value == pytest.approx(whole.tally(measure).value)


COMPACTED = [
    transaction(100 + each, writer="compactor-0", writer_group="compactor", command="OPTIMIZE")
    for each in range(3)
]


def goodput_of(rows: list[dict[str, Any]], *writers: str) -> list[float]:
    """Of all writers and of some, in an hour."""
    run = measure_run(MANIFEST | {"warm_up_ms": 0.0}, tables_of(rows))
    return [run.tally(Measure.GOODPUT_PER_MINUTE, each).value for each in (None, *writers)]


@pytest.mark.parametrize("loaded", [0, 1, 4])
def test_what_gets_through_is_what_jobs_bring_and_no_maintenance(loaded: int) -> None:
    """Also where none of those that bring data gets through."""
    rows = [aborted(0, given_up=True), *map(transaction, range(1, loaded + 1)), *COMPACTED]
    expected = pytest.approx([loaded / 60, loaded / 60, 3 / 60])
    assert goodput_of(rows, "loader", "compactor") == expected


def test_where_nobody_brings_data_every_commit_is_what_gets_through() -> None:
    assert goodput_of(COMPACTED, "compactor") == pytest.approx([3 / 60, 3 / 60])


def test_what_gets_through_hangs_on_the_writers_and_not_on_who_of_them_had_a_job() -> None:
    """Else a run in which by chance no job of the loader's came would count the compactor's."""
    tables = tables_of([transaction(0), *COMPACTED])
    tables["transactions"] = tables_of(COMPACTED)["transactions"]
    run = measure_run(MANIFEST | {"warm_up_ms": 0.0}, tables)
    assert run.tally(Measure.GOODPUT_PER_MINUTE).value == 0
