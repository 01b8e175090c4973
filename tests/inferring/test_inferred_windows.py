"""How long writers take, told from what they had read: known lognormals come out again."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.inferring.synthetic_logs import Workers, commits_at, commits_of
from whitecap.sim.inferring.drafting import draft_of
from whitecap.sim.inferring.durations.besides_compute import BesidesCompute
from whitecap.sim.inferring.durations.brackets import Brackets, fitted_to
from whitecap.sim.inferring.durations.windows import ASSUMED_MS, TELLING, window_of
from whitecap.sim.inferring.evidence.figures import Surety, duration_text
from whitecap.sim.inferring.log.observed import ObservedCommit, observe
from whitecap.sim.inferring.text import Options
from whitecap.sim.loading import parse_scenario
from whitecap.sim.quantities.distributions import Distribution
from whitecap.sim.run import run_scenario
from whitecap.sim.scenario.yaml.text import YamlText
from whitecap.sim.table.export import export_table


def _log(median_ms: float, sigma: float) -> tuple[list[ObservedCommit], dict[int, int]]:
    workers = Workers("never waits", 1, 10_000, median_ms, sigma)
    return commits_of(workers, 400 * 10_000, others_every_ms=1e15, seed=7)


@pytest.mark.parametrize("median_ms", [5_000.0, 40_000.0])
@pytest.mark.parametrize("sigma", [0.3, 0.8])
def test_the_versions_that_were_read_tell_median_and_spread(median_ms: float, sigma: float) -> None:
    window = window_of(*_log(median_ms, sigma))
    assert window.figure.surety is Surety.FITTED
    assert window.median_ms == pytest.approx(median_ms, rel=0.12)
    assert window.sigma == pytest.approx(sigma, rel=0.2)


def test_the_evidence_states_the_interval_of_the_fit() -> None:
    log = _log(20_000, 0.4)
    fit = fitted_to(Brackets.of(*log))
    low, high = (duration_text(math.exp(end)) for end in (fit.low, fit.high))
    assert f"median [{low}, {high}] at 95 %" in window_of(*log).figure.because


def test_a_stated_time_goes_before_brackets() -> None:
    stated = {"executionTimeMs": 8_000.0}
    commits = commits_at([1e6 * n for n in range(1, 20)], metrics=stated)
    window = window_of(commits, {each.version: each.timestamp_ms for each in commits})
    assert (window.median_ms, window.is_known) == (8_000, True)
    assert "executionTimeMs of 19 commits" in window.figure.because


def test_a_quiet_log_tells_no_time_and_the_draft_says_that_it_is_assumed() -> None:
    commits = commits_at([3_600_000.0 * n for n in range(1, 3 * TELLING)])
    window = window_of(commits, {each.version: each.timestamp_ms for each in commits})
    assert (window.figure.surety, window.median_ms) == (Surety.ASSUMED, ASSUMED_MS)
    assert "half of them took at most 60 min" in window.figure.because


def test_what_is_assumed_is_no_longer_than_the_log_allows() -> None:
    commits = commits_at([1_000.0 * n for n in range(1, 3 * TELLING)])
    window = window_of(commits, {each.version: each.timestamp_ms for each in commits})
    assert window.median_ms <= 1_000


SHORT_JOBS = """
name: short-jobs
duration: 2 h
store: s3
table:
  name: events
  schema: "event_id BIGINT, date DATE, amount DOUBLE"
  partition_by: [date]
  key: event_id
  values: {date: {days: 60}}
  initial: {rows: 60, rows_per_file: 1}
writers:
  etl:
    count: 4
    statement: UPDATE events SET amount = amount + 1.0 WHERE date = :date
    parameters: {date: uniform}
    arrival: {open: {rate: 2 per min, concurrency: 1}}
    compute: {lognormal: {median: 3 s, sigma: 0.3}}
"""


def test_what_a_run_spends_on_the_log_is_no_compute_of_the_draft(tmp_path: Path) -> None:
    export_table(run_scenario(parse_scenario(SHORT_JOBS)).world.store, tmp_path / "events")
    draft = draft_of(observe(str(tmp_path / "events"), 5000), Options())
    compute = parse_scenario(draft.text).writers["update"].compute.time
    assert compute.lognormal is not None
    assert compute.lognormal.median == pytest.approx(3_000, rel=0.12)
    assert "that a run spends there on the log besides" in draft.writers[0].compute.because
    assert draft.writers[0].window.median_ms > 3_500


@pytest.mark.parametrize(
    ("seconds", "is_stated", "median_ms"),
    [(10.0, True, 9_400), (10.0, False, 9_000), (0.8, True, 200), (0.5, True, 50)],
    ids=["stated", "bracketed", "short", "shorter than what a run spends"],
)
def test_of_a_bracketed_window_the_time_is_taken_off_too_until_a_commit_is_seen(
    seconds: float, is_stated: bool, median_ms: float
) -> None:
    besides = BesidesCompute(window_ms=600, unseen_ms=400)
    stated = {"executionTimeMs": 1000 * seconds}
    window = window_of(commits_at([1e6 * n for n in range(1, 20)], metrics=stated), {})
    drafted = replace(window, is_bracketed=not is_stated).compute(besides)
    assert _median_ms(drafted.text) == pytest.approx(median_ms)


def test_nothing_is_taken_off_a_window_that_is_assumed() -> None:
    window = window_of(commits_at([3_600_000.0 * n for n in range(1, 30)]), {})
    assert window.compute(BesidesCompute(600, 400)) == window.figure


def _median_ms(text: str) -> float:
    lognormal = Distribution.model_validate(YamlText(text, "compute").content).lognormal
    assert lognormal is not None
    assert lognormal.median is not None
    return lognormal.median
