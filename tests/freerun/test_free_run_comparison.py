"""What is said of an experiment: how much was predicted, and what it means for who ran it."""

from __future__ import annotations

import sys
from unittest.mock import patch

import pytest
from msgspec.structs import replace

from benchmarks.validation.free_run import DOCS, KEPT, main, read_result, section, with_section
from whitecap.sim.freerun.comparison import (
    ComparedShare,
    FreeRunPhase,
    FreeRunResult,
    Timing,
    headline,
    meaning,
)
from whitecap.sim.freerun.page import result_page
from whitecap.sim.freerun.prediction import ABORTS, PredictedShare

RIGHT = ComparedShare(PredictedShare(ABORTS, 0.4, 0.34, 0.46), 123, 300)
WRONG = ComparedShare(PredictedShare(ABORTS, 0.25, 0.19, 0.31), 123, 300)
WIDE = ComparedShare(PredictedShare(ABORTS, 0.4, 0.2, 0.6), 12, 30)


def _result(compared: ComparedShare, together_share: float = 0.75) -> FreeRunResult:
    timing = Timing(1200.0, 1300.0, 0.75, together_share)
    at, began = "2026-01-01T10:00:00.000", "2026-01-01T10:00:01.000"
    phase = FreeRunPhase("update-2", "UPDATE on 2 partitions", at, began, timing, [compared])
    machine = {"cores": "2", "delta": "4.4.0", "spark": "4.2.0", "load before": "0.1"}
    return FreeRunResult(began, machine, 4, 1, 0.95, [phase])


def test_a_share_within_its_range_is_predicted() -> None:
    result = _result(RIGHT)
    assert result.holds
    assert "predicted 1 of 1 shares within its ranges" in headline(result)
    assert "to within 6.0 points" in " ".join(meaning(result))


def test_a_share_outside_of_its_range_is_named_with_how_far_rates_are_off() -> None:
    result = _result(WRONG)
    assert not result.holds
    assert "predicted 0 of 1" in headline(result)
    said = " ".join(meaning(result))
    assert "UPDATE on 2 partitions, aborts: 41.0 % of 300 statements" in said
    assert "less than 16 points" in said


def test_ranges_that_say_little_are_called_so() -> None:
    assert "More --statements" in " ".join(meaning(_result(WIDE)))
    assert "More --statements" not in " ".join(meaning(_result(RIGHT)))


def test_windows_whose_share_is_not_the_expected_one_are_told() -> None:
    said = " ".join(meaning(_result(RIGHT, 0.6)))
    assert "open for 60 % of their time, where 75 % was expected" in said
    assert len(meaning(_result(RIGHT))) == 1


def test_half_a_statement_is_no_difference() -> None:
    at_the_edge = ComparedShare(PredictedShare(ABORTS, 0.4, 0.34, 0.409), 123, 300)
    beyond = ComparedShare(PredictedShare(ABORTS, 0.4, 0.34, 0.407), 123, 300)
    assert at_the_edge.holds
    assert not beyond.holds


def test_the_page_says_what_was_predicted_and_what_came() -> None:
    page = result_page(_result(WRONG))
    row = "| UPDATE on 2 partitions | aborts | 25.0 % | 19.0 % to 31.0 % | 41.0 % | 300 | **no** |"
    assert row in page
    assert "10:00:00" in page


def test_the_page_says_which_runs_were_begun_again() -> None:
    result = _result(RIGHT)
    lossy = replace(result.phases[0], begun_again=2)
    page = result_page(replace(result, phases=[lossy]))
    assert "2 runs were begun again because the local disk lost a commit" in page
    assert "begun again" not in result_page(result)


def test_a_result_of_before_runs_were_begun_again_is_read() -> None:
    phases = read_result(KEPT).phases
    assert phases
    assert all(phase.begun_again >= 0 for phase in phases)


def test_a_result_that_is_not_there_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    with patch.object(sys, "argv", ["free_run", "nowhere/result.json"]):
        assert main() == 2
    assert capsys.readouterr().err.startswith("error: nowhere/result.json is not there")


def test_the_validation_page_shows_the_result_that_is_kept() -> None:
    page = (DOCS / "validation.md").read_text(encoding="utf-8")
    assert with_section(page) == page
    assert "\n".join(section()) in page
    if KEPT.is_file():
        assert headline(read_result(KEPT)) in page
