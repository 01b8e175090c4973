"""`--until`: what can be asked for, what is wrong with the rest, and how it reads."""

from __future__ import annotations

import pytest

from whitecap.engine.errors import InvalidInput
from whitecap.engine.recorded import Measure
from whitecap.reports.precision.asked import asked_for
from whitecap.reports.statistics import WantedPrecision

RELATIVE = WantedPrecision(0.05, is_relative=True)


@pytest.mark.parametrize(
    ("text", "measure", "wanted", "again"),
    [
        ("conflict_rate +- 1 point", Measure.CONFLICT_RATE, WantedPrecision(0.01), "1 point"),
        (
            "job_success_rate +- 0.1 points",
            Measure.JOB_SUCCESS_RATE,
            WantedPrecision(0.001),
            "0.1 points",
        ),
        ("conflict rate ± 2points", Measure.CONFLICT_RATE, WantedPrecision(0.02), "2 points"),
        ("CONFLICT_RATE +/- 0.005", Measure.CONFLICT_RATE, WantedPrecision(0.005), "0.5 points"),
        ("latency_p95_ms +- 5 %", Measure.LATENCY_P95_MS, RELATIVE, "5 %"),
        ("p95_latency +- 5 %", Measure.LATENCY_P95_MS, RELATIVE, "5 %"),
        ("p99.9 latency +-5%", Measure.LATENCY_P99_9_MS, RELATIVE, "5 %"),
        ("median latency +- 1.5 s", Measure.LATENCY_P50_MS, WantedPrecision(1500), "1.5 s"),
        ("latency_p99_ms +- 250", Measure.LATENCY_P99_MS, WantedPrecision(250), "250 ms"),
        ("goodput_per_minute +- 0.1", Measure.GOODPUT_PER_MINUTE, WantedPrecision(0.1), "0.1"),
        ("committed +- 5 %", Measure.COMMITTED, RELATIVE, "5 %"),
    ],
)
def test_it_is_read_and_can_be_asked_for_again(
    text: str, measure: Measure, wanted: WantedPrecision, again: str
) -> None:
    (asked,) = asked_for([text])
    assert (asked.measure, asked.wanted) == (measure, wanted)
    assert str(asked) == f"{measure.value} +- {again}"
    assert asked_for([str(asked)]) == (asked,)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "conflict_rat +- 1 point",
            "there is no measure 'conflict_rat' (did you mean 'conflict_rate'?)",
        ),
        ("speed +- 5 %", "there is no measure 'speed': there are conflict_rate, retry_rate, "),
        ("p98_latency +- 5 %", "there is no measure 'p98_latency' (did you mean 'latency_p9"),
        ("conflict_rate +- 1 %", "conflict_rate is a share, and '%' could be of it or of all"),
        (
            "latency_p95_ms +- 5 points",
            "is not counted in 'points': write ms, s, min, h, % or no unit",
        ),
        ("goodput_per_minute +- 5 s", "is not counted in 's': write % or no unit"),
        ("conflict_rate +- 0 points", "a half-width is between 0 and 100 points"),
        ("conflict_rate +- 100 points", "a half-width is between 0 and 100 points"),
        ("committed +- -1", "a half-width is more than 0"),
        ("conflict_rate < 1 point", "write for instance 'conflict_rate +- 1 point'"),
        ("", "write for instance"),
    ],
)
def test_what_is_wrong_is_told(text: str, said: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        asked_for([text])
    assert f"until {text!r}: " in str(caught.value)
    assert said in str(caught.value)


def test_everything_that_is_wrong_is_told_at_once() -> None:
    with pytest.raises(InvalidInput) as caught:
        asked_for(["x +- 1", "abort_rate +- 1 point", "abort rate +- 2 points", "y"])
    assert len(caught.value.problems) == 3
    assert "abort_rate is asked for twice" in str(caught.value)
