"""Expectations held against runs: one by itself, counts in each, everything else by interval."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from tests.reports.synthetic_recordings import made_up_run
from whitecap.engine.recorded import Measure
from whitecap.reports.expectations.expected import of_cell, subject, wanted
from whitecap.reports.expectations.judging import Judged, judge, judge_run
from whitecap.reports.measures.measured_run import MeasuredRun
from whitecap.reports.statistics import Standing
from whitecap.sim.scenario.expect import Expectation

MET, MISSED, UNDECIDED = Standing


def run_with(**values: float) -> MeasuredRun:
    """A run of a loader with these measures, and something submitted."""
    values = {"submitted": 1_000.0, **values}
    return made_up_run(lambda measure: values.get(measure, 0.0), {"WriterCrash": 3})


def runs_with(**values: list[float]) -> dict[int, MeasuredRun]:
    """A run per replication."""
    count = len(next(iter(values.values())))
    return {
        number: run_with(**{name: each[number] for name, each in values.items()})
        for number in range(count)
    }


def expecting(measure: str, **more: Any) -> Expectation:
    """An expectation as a scenario states it."""
    return Expectation(measure=next(m for m in Measure if m == measure), **more)


@pytest.mark.parametrize(
    ("threshold", "text"),
    [
        ({"equals": 2}, "committed is 2"),
        ({"equals": 3}, "committed is 2, expected 3"),
        ({"at_least": 2}, "committed is 2"),
        ({"at_least": 2.5}, "committed is 2, expected at least 2.5"),
        ({"at_most": 2}, "committed is 2"),
        ({"at_most": 1}, "committed is 2, expected at most 1"),
        ({"at_least": 1, "at_most": 1.5}, "committed is 2, expected at most 1.5"),
    ],
)
def test_one_run_is_held_to_a_bare_number(threshold: dict[str, float], text: str) -> None:
    judged = judge_run(expecting("committed", **threshold), run_with(committed=2))
    assert judged.text == text
    assert judged.standing is (MISSED if "expected" in text else MET)


@pytest.mark.parametrize(
    ("measure", "value", "threshold", "text"),
    [
        ("job_success_rate", 0.9896, {"at_least": 0.99}, "98.96 %, expected at least 99 %"),
        ("latency_p95_ms", 120_300, {"at_most": 120_000}, "2.005 min, expected at most 2 min"),
        ("goodput_per_minute", 10.02, {"at_least": 10.04},
         "10.02 / min, expected at least 10.04 / min"),
        ("cost_per_month", 1234.56, {"at_most": 1234.5}, "1,234.56, expected at most 1,234.5"),
    ],
)  # fmt: skip
def test_what_just_misses_a_threshold_is_not_rounded_to_it(
    measure: str, value: float, threshold: dict[str, float], text: str
) -> None:
    judged = judge_run(expecting(measure, **threshold), run_with(**{measure: value}))
    assert judged.standing is MISSED
    assert judged.text == f"{measure} is {text}"


def test_a_threshold_is_written_as_people_read_the_measure() -> None:
    judged = judge_run(expecting("abort_rate", at_most=0.125), run_with(abort_rate=0.5))
    assert judged.text == "abort_rate is 50.0 %, expected at most 12.5 %"
    judged = judge_run(expecting("latency_p95_ms", at_most=90_000), run_with(latency_p95_ms=1e6))
    assert judged.text == "latency_p95_ms is 16.7 min, expected at most 1.5 min"


def test_why_it_was_expected_is_told_where_it_is_not_met() -> None:
    expected = expecting("committed", at_most=1, because="there is one job")
    assert str(judge_run(expected, run_with(committed=2))).endswith("(there is one job)")
    assert str(judge_run(expected, run_with(committed=1))) == "committed is 1"


def test_an_exception_narrows_what_is_counted() -> None:
    crashed = expecting("aborted", exception="WriterCrash", equals=3)
    assert judge_run(crashed, run_with()).is_met
    assert subject(crashed) == "aborted (WriterCrash)"


def test_what_has_no_value_meets_nothing() -> None:
    judged = judge_run(expecting("latency_p50_ms", at_most=1e9), run_with(latency_p50_ms=NAN))
    assert not judged.is_met
    over = judge(expecting("abort_rate", at_most=0.9), runs_with(abort_rate=[NAN, NAN]))
    assert (over.standing, over.text) == (
        MISSED,
        "abort_rate has no value, expected at most 90 %",
    )


NAN = float("nan")


@pytest.mark.parametrize(
    ("counts", "threshold", "judgement", "text"),
    [
        ([4, 4, 4], {"equals": 4}, MET, "given_up is 4 in all of 3 replications"),
        ([3, 5, 4], {"at_most": 5}, MET, "given_up is 3 to 5 in 3 replications"),
        ([4, 5, 6], {"at_most": 4}, MISSED,
         "given_up is 5 in replication 1 (4 to 6 in 3 replications), expected at most 4"),
        ([0, 0, 1], {"equals": 0}, MISSED,
         "given_up is 1 in replication 2 (0 to 1 in 3 replications), expected 0"),
    ],
)  # fmt: skip
def test_a_count_must_be_as_expected_in_every_replication(
    counts: list[float], threshold: dict[str, float], judgement: Standing, text: str
) -> None:
    judged = judge(expecting("given_up", **threshold), runs_with(given_up=counts))
    assert (judged.standing, judged.text) == (judgement, text)


def judged_rate(threshold: Mapping[str, float], rates: list[float]) -> Judged:
    """How an abort rate with these values comes out."""
    return judge(expecting("abort_rate", **threshold), runs_with(abort_rate=rates))


CLOSE = [0.20, 0.21, 0.22, 0.19, 0.18]


@pytest.mark.parametrize(
    ("threshold", "judgement"),
    [
        ({"at_most": 0.30}, MET),
        ({"at_least": 0.10}, MET),
        ({"at_least": 0.10, "at_most": 0.30}, MET),
        ({"at_most": 0.10}, MISSED),
        ({"at_least": 0.30}, MISSED),
        ({"at_most": 0.205}, UNDECIDED),
        ({"at_least": 0.195}, UNDECIDED),
        ({"at_least": 0.10, "at_most": 0.205}, UNDECIDED),
        ({"at_least": 0.195, "at_most": 0.10}, MISSED),
    ],
)
def test_a_rate_is_judged_by_its_interval(threshold: dict[str, float], judgement: Standing) -> None:
    assert judged_rate(threshold, CLOSE).standing is judgement


def test_what_is_undecided_says_how_many_replications_would_do() -> None:
    near, nearer = judged_rate({"at_most": 0.21}, CLOSE), judged_rate({"at_most": 0.205}, CLOSE)
    assert near.needed is not None
    assert nearer.needed is not None
    assert 5 < near.needed < nearer.needed
    assert f"about {near.needed} replications would tell" in near.text
    assert judged_rate({"at_most": 0.2}, CLOSE).text.endswith("1,000 replications would not tell")


def test_one_replication_bounds_one_side_and_decides_little() -> None:
    assert judged_rate({"at_most": 0.9}, [0.2]).standing is MET
    close = judged_rate({"at_most": 0.21}, [0.2])
    assert close.standing is UNDECIDED
    assert close.needed is not None
    assert close.needed > 1


def test_exactly_judges_the_first_run_alone() -> None:
    runs = runs_with(abort_rate=[0.2, 0.9, 0.9], given_up=[1, 2, 2])
    assert judge(expecting("abort_rate", at_most=0.5, exactly=True), runs).is_met
    assert judge(expecting("given_up", equals=1, exactly=True), runs).is_met
    assert not judge(expecting("given_up", equals=1), runs).is_met


@pytest.mark.parametrize("exactly", [True, False])
def test_what_never_happened_meets_nothing_but_its_own_absence(exactly: bool) -> None:
    idle = {0: run_with(submitted=0), 1: run_with(submitted=0)}
    quiet = judge(expecting("aborted", equals=0, exactly=exactly), idle)
    assert (quiet.standing, "nothing was submitted" in quiet.text) == (MISSED, True)
    assert judge(expecting("submitted", equals=0, exactly=exactly), idle).is_met
    assert judge(expecting("live_rows", equals=0, exactly=exactly), idle).is_met


def test_what_is_expected_of_a_cell_is_what_names_it_or_none() -> None:
    every = expecting("aborted", equals=0)
    some = expecting("aborted", equals=1, when={"load": "high"})
    assert of_cell([every, some], {}) == [every]
    assert of_cell([every, some], {"load": "high", "layout": "flat"}) == [every, some]
    assert wanted(some) == "1"
