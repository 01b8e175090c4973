"""A short free run on a real Delta Lake: are the steps made in their order, and is all counted?

Merges, inserts and compactions beside each other are the business of `make validate-real`.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pytest

from benchmarks.validation.free_run import DOCS, read_result, with_section
from whitecap.sim.freerun.comparison import FreeRunPhase, headline
from whitecap.sim.freerun.free_run import (
    CALIBRATION,
    COMPARISON,
    OBSERVED,
    PREDICTION,
    SCENARIO,
    FreeRunSettings,
    free_run,
    make_place,
)
from whitecap.sim.freerun.prediction import Prediction
from whitecap.sim.freerun.statements import ObservedRun
from whitecap.sim.loading import load_scenario
from whitecap.sim.replay.real.session_settings import INTERPRETED, session_settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

SETTINGS = FreeRunSettings((2,), mix=False, statements=6, threads=3, warm_up=0, replications=4)
"""With fewer statements a run sometimes has no conflict."""

(PHASE,) = (workload.name for workload in SETTINGS.workloads)


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory, spark: SparkSession) -> Path:
    place = tmp_path_factory.mktemp("free-run") / "out"
    make_place(SETTINGS, place, overwrite=False)
    with session_settings(spark, INTERPRETED):
        free_run(SETTINGS, place, lambda done, total, note: None)
    return place


def _observed(path: Path) -> ObservedRun:
    return msgspec.json.decode(path.read_bytes(), type=ObservedRun)


def test_the_prediction_is_written_before_the_threads_meet(out: Path) -> None:
    steps = [out / PHASE / file for file in (CALIBRATION, SCENARIO, PREDICTION, OBSERVED)]
    written = [step.stat().st_mtime_ns for step in steps]
    assert written == sorted(written)
    prediction = msgspec.json.decode(steps[2].read_bytes(), type=Prediction)
    together = _observed(steps[3])
    first_ms = min(each.snapshot_ms for each in together.statements if each.snapshot_ms)
    assert steps[2].stat().st_mtime * 1000 <= first_ms
    assert prediction.predicted_at < together.began_at


def test_nothing_is_refused_where_threads_are_apart(out: Path) -> None:
    apart = _observed(out / PHASE / CALIBRATION)
    assert not [each for each in apart.statements if each.exception]


def test_a_statement_has_its_snapshot_before_it_is_decided_and_ends_after_that(out: Path) -> None:
    together = _observed(out / PHASE / OBSERVED)
    for each in together.statements:
        assert each.snapshot_ms is not None
        assert each.decided_ms is not None
        assert each.begun_ms - 2 <= each.snapshot_ms <= each.decided_ms <= each.ended_ms + 2


def test_every_commit_of_the_log_belongs_to_one_statement(out: Path) -> None:
    together = _observed(out / PHASE / OBSERVED)
    versions = sorted(each.version for each in together.statements if each.version is not None)
    refused = sum(each.exception is not None for each in together.statements)
    assert versions == list(range(versions[0], versions[0] + len(versions)))
    assert len(versions) + refused == len(together.statements) == 6 + 6
    assert refused > 0


def test_counts_of_the_comparison_are_those_of_the_statements(out: Path) -> None:
    result = read_result(out / "result.json")
    (phase,) = result.phases
    together = _observed(out / phase.name / OBSERVED)
    assert phase.aborts.count == together.refusals.total()
    assert phase.aborts.statements == len(together.counted) == 6
    assert headline(result) in (out / "result.md").read_text()
    page = with_section((DOCS / "validation.md").read_text(), out / "result.json")
    assert headline(result) in page


def test_the_scenario_of_a_prediction_can_be_run_by_anybody(out: Path) -> None:
    scenario = load_scenario(out / PHASE / SCENARIO)
    assert scenario.writers.keys() == {"update"}


def test_the_same_settings_go_on_with_what_is_there(out: Path) -> None:
    kept = (out / PHASE / COMPARISON).stat().st_mtime_ns
    (out / "result.json").unlink()
    make_place(SETTINGS, out, overwrite=False)
    result = free_run(SETTINGS, out, lambda done, total, note: None)
    assert (out / PHASE / COMPARISON).stat().st_mtime_ns == kept
    assert result.phases[0] == msgspec.json.decode(
        (out / PHASE / COMPARISON).read_bytes(), type=FreeRunPhase
    )
