"""What stands beside success and latency: jobs that were not seen through or not begun."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from msgspec.structs import replace

import whitecap
from tests.sim.sim_worlds import document
from whitecap.engine.recorded import Measure
from whitecap.reports.measures.groups import WriterCommand
from whitecap.reports.measures.left_out import (
    Due,
    JobsLeftOpen,
    added,
    half_done_sentence,
    left_out_sentences,
)
from whitecap.reports.measures.tally import PerMinute
from whitecap.reports.pages.page_tables import left_out_table

NIGHTLY = WriterCommand("nightly", "OPTIMIZE")


def left_out(due: Due, given_up: int = 0, unfinished: int = 0, half_done: int = 0) -> JobsLeftOpen:
    """Of 67 jobs."""
    return JobsLeftOpen(67, 1, given_up, unfinished, due, half_done)


@pytest.mark.parametrize(
    ("due", "sentence"),
    [
        (
            Due(writers=1, scheduled=1, jobs=100, not_begun=33),
            "33 of 100 due jobs of nightly had not begun: the schedule is overloaded",
        ),
        (
            Due(writers=2, scheduled=0, jobs=1_000, not_begun=90),
            "90 of 1,000 due jobs of nightly had not begun: more arrives than gets done",
        ),
        (
            Due(writers=2, scheduled=0, jobs=1_000, not_begun=30),
            "30 of 1,000 due jobs of nightly had not begun",
        ),
        (
            Due(writers=2, scheduled=2, jobs=100, not_begun=2),
            "2 of 100 due jobs of nightly had not begun",
        ),
    ],
)
def test_work_that_piles_up_is_told_from_a_job_that_waits_its_turn(due: Due, sentence: str) -> None:
    assert list(left_out_sentences({NIGHTLY: left_out(due)})) == [sentence]


@pytest.mark.parametrize(
    ("load", "runs", "least", "most"),
    [(0.9, 1, 0.0, 0.05), (0.9, 10, 0.0, 0.05), (1.0, 10, 0.0, 0.1),
     (1.2, 10, 0.95, 1.0), (2.0, 1, 0.95, 1.0)],
)  # fmt: skip
def test_jobs_that_come_by_chance_pile_up_only_where_more_come_than_get_done(
    load: float, runs: int, least: float, most: float
) -> None:
    """Queues of one server with constant job times, of which 60 fit into a run; 200 sets each."""
    draw = np.random.default_rng(7)
    sets = [sum((_queue(draw, load) for _ in range(runs)), Due()) for _ in range(200)]
    assert least <= sum(each.is_overloaded for each in sets) / len(sets) <= most


def _queue(draw: np.random.Generator, load: float) -> Due:
    arrived = np.sort(draw.uniform(0.0, 60.0, draw.poisson(60 * load)))
    free, not_begun = 0.0, 0
    for instant in arrived.tolist():
        begins = max(free, instant)
        not_begun += begins >= 60.0
        free = begins + 1.0
    return Due(writers=1, jobs=len(arrived), not_begun=not_begun)


def test_jobs_that_are_in_no_rate_stand_beside_them() -> None:
    (sentence,) = left_out_sentences({NIGHTLY: left_out(Due(1, 1, 67), given_up=4, unfinished=2)})
    assert sentence == (
        "nightly: of 67 jobs 2 unfinished at the end (in neither success nor latency), "
        "4 given up (in no latency)"
    )


def test_of_jobs_given_up_those_that_left_a_commit_behind_are_told_apart() -> None:
    half = left_out(Due(1, 1, 67), given_up=4, half_done=3)
    (sentence,) = left_out_sentences({NIGHTLY: half})
    assert sentence == (
        "nightly: of 67 jobs 4 given up (in no latency), "
        "3 of them half done (an earlier statement had committed)"
    )
    of_a_cell = half_done_sentence(added([half, half]))
    assert of_a_cell == "6 of 8 jobs given up are half done (an earlier statement had committed)"
    single = half_done_sentence(left_out(Due(1, 1, 67), given_up=1, half_done=1))
    assert single == "the one job given up is half done (an earlier statement had committed)"


def test_where_most_successes_had_nothing_to_do_that_is_said() -> None:
    jobs = replace(left_out(Due(1, 1, 67), unfinished=1), idle=33)
    *_, sentence = left_out_sentences({NIGHTLY: jobs})
    assert sentence == (
        "nightly: 33 of 66 jobs that succeeded had nothing to do (no commit; their latencies count)"
    )
    assert len([*left_out_sentences({NIGHTLY: replace(jobs, idle=32)})]) == 1


def test_a_job_is_idle_and_no_goodput_if_no_statement_of_it_made_a_version() -> None:
    scenario = document(
        writers={
            "both": {
                "statements": [
                    {
                        "statement": "INSERT INTO events VALUES :rows",
                        "parameters": {"rows": {"rows": {"count": 2}}},
                    },
                    {"statement": "DELETE FROM events WHERE country = 'nowhere'"},
                ],
                "arrival": {"closed": {"think": "5 s"}},
            },
            "eraser": {
                "statement": "DELETE FROM events WHERE country = 'nowhere'",
                "arrival": {"closed": {"think": "5 s"}},
            },
        }
    )
    measured = whitecap.run(scenario).measured
    eraser = measured.groups[WriterCommand("eraser", "DELETE events")].left_out
    assert eraser.idle == eraser.done > 3
    both = measured.groups[WriterCommand("both", "DELETE events")].left_out
    assert (both.idle, both.half_done) == (0, 0)
    goodput = measured.tally(Measure.GOODPUT_PER_MINUTE, "both")
    assert isinstance(goodput, PerMinute)
    assert goodput.count == both.done > 3
    assert measured.tally(Measure.GOODPUT_PER_MINUTE, "eraser").value == 0


FIRST = {
    "statement": "INSERT INTO events VALUES :rows",
    "parameters": {"rows": {"rows": {"count": 2}}},
}


@pytest.mark.parametrize(
    ("second", "query", "said"),
    [
        (
            {"statement": "UPDATE events SET amount = 1"},
            {"foreach_batch": {"checkpoint": "orders", "idempotent": True}},
            "9 of 9 UPDATE events that succeeded are of a statement that never did anything: its "
            "table had every batch already, and takes one write of a batch (txnAppId, txnVersion), "
            "as of an earlier statement",
        ),
        (
            FIRST,
            {"foreach_batch": {"checkpoint": "orders", "idempotent": True}},
            "9 of 18 INSERT events that succeeded are of a statement that never did anything: its "
            "table had every batch already, and takes one write of a batch (txnAppId, txnVersion), "
            "as of an earlier statement",
        ),
        (
            {"statement": "DELETE FROM events WHERE country = 'nowhere'"},
            {},
            "9 of 9 DELETE events that succeeded are of a statement that never did anything "
            "(no commit)",
        ),
        (
            {"statement": "UPDATE events SET amount = 1"},
            {"foreach_batch": {"checkpoint": "orders"}},
            None,
        ),
    ],
)
def test_a_statement_that_never_does_anything_is_told_beside_the_success_of_its_jobs(
    second: dict[str, Any], query: dict[str, Any], said: str | None
) -> None:
    arrival = {"schedule": {"every": "1 min", "offset": "30 s"}}
    writer = {"statements": [FIRST, second], "arrival": arrival, "stops": "9 min", **query}
    measured = whitecap.run(document(writers={"both": writer})).measured
    sentences = left_out_sentences({of: part.left_out for of, part in measured.groups.items()})
    assert list(sentences) == ([] if said is None else [f"both: {said}"])


NOTHING_THERE = {"statement": "DELETE FROM events WHERE country = 'nowhere'"}
INSERTS = FIRST


@pytest.mark.parametrize(("writer", "is_idle"), [(NOTHING_THERE, True), (INSERTS, False)])
def test_the_page_of_a_sweep_has_a_column_where_most_successes_had_nothing_to_do(
    writer: dict[str, Any], is_idle: bool, tmp_path: Path
) -> None:
    file = tmp_path / "small.yaml"
    writers = {"writer": {**writer, "arrival": {"closed": {"think": "5 s"}}}}
    file.write_text(yaml.safe_dump(document(writers=writers)))
    swept = whitecap.sweep(
        file,
        out=tmp_path / "out",
        engine="processes",
        axes={"duration": ["10 min"]},
        replications=1,
    )
    page = left_out_table(swept.subject)
    assert ("nothing to do" in page.headings) == is_idle
    if is_idle:
        (row,) = page.rows
        (counts,) = swept.left_out.query("writer_group == 'writer'").to_dict("records")
        assert counts["idle"] == counts["jobs"] - counts["unfinished"] > 3
        entry = row[page.headings.index("nothing to do")]
        assert (entry.text, entry.below) == (
            f"{counts['idle']:,}",
            f"of {counts['idle']:,} succeeded",
        )


def test_where_nothing_is_left_out_nothing_is_said() -> None:
    assert list(left_out_sentences({NIGHTLY: left_out(Due(1, 1, 67))})) == []


def test_several_runs_add_up() -> None:
    jobs = left_out(Due(1, 1, 100, 33), given_up=2)
    assert added([jobs, jobs]) == JobsLeftOpen(134, 2, 4, 0, Due(2, 2, 200, 66))
    assert added([]) == JobsLeftOpen(0, 0, 0, 0, Due())


def test_a_run_tells_of_writers_that_began_nothing() -> None:
    """No transaction is recorded of them: only the table of writers knows."""
    late = {
        "statement": "OPTIMIZE events",
        "arrival": {"schedule": {"every": "1 min"}},
        "compute": "1 h",
    }
    run = whitecap.run(document(), changes={"writers.late": late})
    due = run.measured.groups[WriterCommand("late", "OPTIMIZE")].left_out.due
    assert (due.jobs, due.not_begun, due.is_overloaded) == (10, 9, True)
    line = run.summary.set_index("writer").loc["late"]
    assert (line["submitted"], line["jobs_due"], line["not_begun"]) == (1, 10, 9)
