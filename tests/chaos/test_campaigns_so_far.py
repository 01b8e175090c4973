"""The page on campaigns says what their results say."""

from __future__ import annotations

import json

from benchmarks.chaos import COUNTS, PAGE, RESULTS, result_of, section, with_result

FINDING = {"anomaly": "G1a"}
DRAWN = {"misdrawn": None}


def test_the_page_ends_with_all_campaigns_so_far() -> None:
    results = json.loads(RESULTS.read_text(encoding="utf-8"))
    assert results
    assert PAGE.read_text(encoding="utf-8").endswith(f"\n\n{section(results)}\n")


def test_runs_with_findings_are_counted_by_what_they_follow_from() -> None:
    campaign = {
        **dict.fromkeys(COUNTS, 3),
        "seed": 1, "exercised": {}, "never_exercised": [], "not_checked": {},
        "findings": [
            {**DRAWN, "findings": [FINDING], "cause": "the faults pause and lost_reply together"},
            {**DRAWN, "findings": [FINDING], "cause": "the faults throttling and pause together"},
            {**DRAWN, "findings": [], "cause": None},
            {"misdrawn": "store: is missing", "findings": [], "cause": None},
        ],
    }  # fmt: skip
    result = result_of(campaign, "0.1.0", 1.0)
    assert result["findings"] == {
        "G1a because of several faults together": 2,
        "the run broke because of **unexplained**": 1,
        "no scenario was drawn because of **unexplained**": 1,
    }
    assert "of which 2 unexplained" in section([result])


def test_a_campaign_that_has_gone_on_takes_its_own_place_and_a_shorter_one_none() -> None:
    other = {"seed": 2, "code_version": "a", "runs": 9, "minutes": 1.0}
    before = {**other, "seed": 1, "minutes": 2.0}
    longer = {**before, "runs": 12, "minutes": 1.0}
    assert with_result([before, other], longer) == [other, {**longer, "minutes": 3.0}]
    assert with_result([before, other], {**before, "runs": 3}) == [before, other]
    assert with_result([before, other], {**longer, "code_version": "b"})[:2] == [before, other]
