"""`whitecap sensitivity`: what is known to move a result is found to, and what cannot is not."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path

import pytest
from click.testing import CliRunner
from matplotlib.container import ErrorbarContainer
from msgspec.structs import replace

import whitecap
from tests.deciding.worlds import STEADY, written_to
from tests.figure_texts import assert_texts_lie_apart, texts_of
from tests.refusals import require_refused
from whitecap.cli import main
from whitecap.deciding.running import Effort
from whitecap.deciding.sensitivity import study_of
from whitecap.engine.recorded import Measure
from whitecap.exit_codes import ExitCode
from whitecap.reports.sensitivity.effects import Followed, Moving, ValueEffect
from whitecap.reports.sensitivity.result import MovedMeasure
from whitecap.reports.statistics import Claim, Estimate, EstimatedDifference, confidence_of
from whitecap.sim.changes.parameters import parameters_of
from whitecap.sim.loading import load_scenario

COUNT = "writers.loader.count"
THINK = "writers.loader.arrival.closed.think.constant"
SIZE = "table.bytes_per_row"


@pytest.fixture(scope="module")
def appends(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("appends") / "appends.yaml"
    return written_to(path, duration="5 min", writers={"loader": STEADY})


@pytest.fixture(scope="module")
def steady(appends: Path) -> whitecap.Sensitivity:
    vary = [f"{SIZE}=50..200", f"{THINK}=9 s..19 s", f"{COUNT}=3..6"]
    return whitecap.sensitivity(
        appends, vary, measure="goodput_per_minute", replications=5, jobs=1, quiet=True
    )


def test_of_appends_goodput_follows_their_number_and_their_pauses(
    steady: whitecap.Sensitivity,
) -> None:
    """Twice the writers do about twice as much (they wait for each other at the log); a longer
    pause makes each round that much longer."""
    effects = steady.table.set_index(["parameter", "value"])["effect"]
    stands = steady.measures[0].stands.point
    round_s = 3 * 60 / stands
    assert 10 < round_s < 12
    assert effects[COUNT, "6"] == pytest.approx(stands, rel=0.15)
    assert effects[THINK, "19 s"] == pytest.approx(3 * 60 / (round_s + 10) - stands, rel=0.1)


def test_what_moves_it_most_is_told_first(steady: whitecap.Sensitivity) -> None:
    (moved,) = steady.measures
    assert [each.path for each in moved.moving] == [COUNT, THINK, SIZE]
    assert [each.is_distinguishable for each in moved.moving] == [True, True, False]
    assert f"{COUNT} moves it most: 3 to 6 is +" in str(steady)


def test_what_cannot_move_it_has_no_effect_and_an_interval(steady: whitecap.Sensitivity) -> None:
    for effect in steady.measures[0].moving[-1].effects:
        assert effect.gap is not None
        assert effect.gap.point == 0
        assert effect.gap.low <= 0 <= effect.gap.high


def test_a_value_that_stands_already_is_not_run_again(steady: whitecap.Sensitivity) -> None:
    assert set(steady.table.query("parameter == @COUNT")["value"]) == {"6"}
    assert steady.runs == 5 * (1 + 1 + 1 + 2)


@pytest.mark.parametrize("called", ["latency_p95_ms", "p95 latency", "P95_latency"])
def test_a_measure_goes_by_the_names_that_precision_is_asked_for_by(
    called: str, appends: Path
) -> None:
    study = study_of(appends, [f"{COUNT}=3..6"], [f"{called} of loader"], Effort(5, 100))
    assert study.followed == (Followed(Measure.LATENCY_P95_MS, "loader"),)


def test_all_intervals_share_the_error() -> None:
    assert confidence_of(1) == pytest.approx(0.95)
    assert confidence_of(20) == pytest.approx(0.9975)


def moved_by(measure: Measure, *gaps: tuple[float, float, float]) -> MovedMeasure:
    """A measure with an effect per gap: its point and bounds."""
    stands = Estimate(0.9, 0.8, 1.0, Claim.TWO_SIDED, 10)
    effects = tuple(
        ValueEffect(f"{number} min", stands, EstimatedDifference(*gap, Claim.TWO_SIDED, 10))
        for number, gap in enumerate(gaps)
    )
    return MovedMeasure(Followed(measure), stands, (Moving(THINK, "60 s", effects),))


def test_the_name_of_a_long_writer_group_fits() -> None:
    moved = moved_by(Measure.WASTED_COMPUTE_SHARE, (0.1, 0.05, 0.15))
    of_long = replace(moved, followed=Followed(moved.followed.measure, "nightly_" * 8))
    assert_texts_lie_apart(drawn(of_long).figure(), "a long name")


def drawn(*measures: MovedMeasure) -> whitecap.Sensitivity:
    return whitecap.Sensitivity("capacity", measures, {}, 10, 30, 1, 0.99, "capacity · seed 1")


@pytest.mark.parametrize(
    ("measure", "size"),
    [
        (Measure.JOB_SUCCESS_RATE, 0.00012),
        (Measure.JOB_SUCCESS_RATE, 0.037),
        (Measure.JOB_SUCCESS_RATE, 0.62),
        (Measure.LATENCY_P95_MS, 0.2),
        (Measure.LATENCY_P95_MS, 43_765.0),
        (Measure.LATENCY_P95_MS, 12_345_678.0),
        (Measure.GOODPUT_PER_MINUTE, 0.0031),
        (Measure.GOODPUT_PER_MINUTE, 98_765.0),
    ],
)
def test_no_text_of_its_figure_lies_on_another(measure: Measure, size: float) -> None:
    moved = moved_by(measure, (-size, -1.3 * size, -0.4 * size), (size / 3, 0.0, size))
    assert_texts_lie_apart(drawn(moved, moved).figure(), f"{measure} by {size}")


def test_what_has_no_interval_is_drawn_without_one() -> None:
    unsure = (0.2, -math.inf, math.inf)
    figure = drawn(moved_by(Measure.ABORT_RATE, unsure, (0.1, 0.05, 0.15))).figure()
    (axes,) = figure.axes
    assert sum(isinstance(each, ErrorbarContainer) for each in axes.containers) == 1
    assert f"{THINK}: 60 s to 0 min (no interval)" in [words for words, _ in texts_of(figure)]


def test_without_more_every_number_that_people_can_change_is_halved_and_doubled(
    tmp_path: Path,
) -> None:
    file = written_to(tmp_path / "small.yaml")
    parameters = parameters_of(load_scenario(file, cells=False))
    others: Mapping[str, list[str]] = {each.path: list(each.others) for each in parameters.each}
    assert others["writers.loader.count"] == ["1", "4"]
    assert others["writers.corrector.rerun.exponential.budget"] == ["1", "6"]
    assert others["writers.loader.compute.lognormal.median"] == ["2.5 s", "10 s"]
    assert others["table.initial.rows_per_file"] == ["10", "40"]
    assert not [path for path in others if path.startswith(("store", "seed", "duration"))]


@pytest.mark.parametrize(("most", "replications"), [(30, 10), (29, 9), (15, 5)])
def test_replications_are_as_many_as_the_runs_at_most_leave_room_for(
    appends: Path, most: int, replications: int
) -> None:
    study = study_of(appends, [f"{COUNT}=1..6"], ["abort_rate"], Effort(10, most))
    assert study.runs == 3 * replications <= most
    assert study.replications == replications


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--vary", "writers.loder.count=1..2"], "did you mean 'loader'?"),
        (["--vary", "writers.loader.count"], "is not PATH=LOW..HIGH"),
        (["--vary", f"{COUNT}=1..2", "--vary", f"{COUNT}=1..3"], "is varied twice"),
        (["--measure", "job_succes_rate"], "did you mean 'job_success_rate'?"),
        (["--measure", "abort_rate of loder"], "did you mean 'loader'?"),
        (["--replications", "4"], "4 is not between 5 and"),
        (
            ["--vary", f"{COUNT}=1..6", "--max-runs", "14"],
            "14 are not enough to run 3 values (with the scenario as it stands) 5 times each: "
            "that takes 15",
        ),
    ],
)
def test_what_is_wrong_is_told_by_name(appends: Path, arguments: list[str], said: str) -> None:
    result = CliRunner().invoke(main, ["sensitivity", str(appends), *arguments])
    require_refused(result, said)


def test_all_that_is_wrong_is_told_at_once(appends: Path) -> None:
    vary = ["--vary", "writers.loder.count=6..1", "--vary", "writers.loader.cont=1..2"]
    measures = ["--measure", "job_succes_rate of loder", "--measure", "abort_rat"]
    result = CliRunner().invoke(main, ["sensitivity", str(appends), *vary, *measures])
    require_refused(
        result,
        "6 is more than 1: write 1..6",
        "there is no writer 'loder' (did you mean 'loader'?)",
        "did you mean 'count'?",
        "did you mean 'job_success_rate'?",
        "did you mean 'abort_rate'?",
    )


def test_the_command_writes_what_it_prints(appends: Path, tmp_path: Path) -> None:
    arguments = [
        "sensitivity", str(appends), "--vary", f"{COUNT}=1..6", "--replications", "5",
        "--max-runs", "20", "--jobs", "1", "--out", str(tmp_path / "out"), "--json",
    ]  # fmt: skip
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == ExitCode.FINE, result.output
    printed = json.loads(result.stdout)
    kept = json.loads((tmp_path / "out" / "sensitivity.json").read_text())
    assert kept["measures"] == printed["measures"]
    assert (tmp_path / "out" / "sensitivity.png").stat().st_size > 1000
