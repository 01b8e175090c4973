"""`objective:` in a scenario: what is read from it, and what is refused with the reason."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.sweeps.sweep_scenario import SCENARIO, write_scenario
from whitecap.engine.errors import InvalidInput
from whitecap.engine.recorded import Direction, Measure, Objective
from whitecap.sim.loading import parse_scenario
from whitecap.sim.loading.loading import cell_of
from whitecap.sim.recording.dataset.local import LocalPlace
from whitecap.sim.run import run_scenario
from whitecap.sim.sweeps.experiment import load_experiment
from whitecap.sim.sweeps.opening import open_place

MORE, LESS = Direction.AT_LEAST, Direction.AT_MOST
SUCCESS, LATENCY = Measure.JOB_SUCCESS_RATE, Measure.LATENCY_P95_MS

READ = [
    ("job_success_rate of loader >= 99 %", Objective(SUCCESS, MORE, 0.99, "loader")),
    ("job_success_rate of loader >= 0.99", Objective(SUCCESS, MORE, 0.99, "loader")),
    ("job_success_rate>=99.9%", Objective(SUCCESS, MORE, 0.999)),
    ("latency_p95_ms of all <= 120 s", Objective(LATENCY, LESS, 120_000.0, "all")),
    ("latency_p95_ms <= 2 min", Objective(LATENCY, LESS, 120_000.0)),
    ("latency_p95_ms <= 250", Objective(LATENCY, LESS, 250.0)),
    ("given_up of all <= 0", Objective(Measure.GIVEN_UP, LESS, 0.0, "all")),
    ("goodput_per_minute of all >= 1.5", Objective(Measure.GOODPUT_PER_MINUTE, MORE, 1.5, "all")),
]


@pytest.mark.parametrize(("text", "objective"), READ, ids=[text for text, _ in READ])
def test_an_objective_is_a_measure_a_direction_and_a_threshold_in_its_unit(
    text: str, objective: Objective
) -> None:
    assert parse_scenario(f"{SCENARIO}objective: {text}\n").objectives == [objective]


def test_several_objectives_are_a_list_and_none_need_be_stated() -> None:
    listed = "".join(f"- {text}\n" for text, _ in (READ[0], READ[3]))
    objectives = parse_scenario(f"{SCENARIO}objective:\n{listed}").objectives
    assert objectives == [READ[0][1], READ[3][1]]
    assert parse_scenario(SCENARIO).objectives == []


REFUSED = [
    ("job_sucess_rate >= 99 %", "did you mean 'job_success_rate'?"),
    ("job_success_rate of loadr >= 99 %", "there is no writer 'loadr' (did you mean 'loader'?)"),
    ("job_success_rate >= 99", "99 is no share, which is at most 1: write 0.99 for 99 %"),
    ("job_success_rate >= -1 %", "-0.01 is no share: it is below 0"),
    ("job_success_rate <= 99 %", "more of job_success_rate is better: write >="),
    ("latency_p95_ms >= 3 s", "less of latency_p95_ms is better: write <="),
    ("submitted >= 5", "neither more nor less of submitted is better"),
    ("live_rows of loader >= 5", "neither more nor less of live_rows is better"),
    ("job_success_rate >= 100 %", "no number of runs shows that a share is 1: write given_up <= 0"),
    ("retry_rate <= 0", "no number of runs shows that a share is 0"),
    ("abort_rate <= 100 %", "nothing could miss it"),
    ("committed >= 0", "nothing could miss it"),
    ("aborted <= -1", "nothing could meet it"),
    ("job_success_rate >= 3 s", "not counted in 's': write a number with % or no unit"),
    ("latency_p95_ms <= 5 %", "write a number with ms, s, min, h, d or no unit"),
    ("given_up <= 5 %", "write a number without a unit"),
    ("job_success_rate = 99 %", "is no objective: write for instance"),
    ("job_success_rate > 99 %", "is no objective: write for instance"),
    ("[aborted <= 3, aborted <= 5]", "objective.1: the same is stated twice"),
    ("[{measure: aborted}]", "is no objective: write for instance"),
    ("5", "list"),
]


@pytest.mark.parametrize(("text", "message"), REFUSED, ids=[text for text, _ in REFUSED])
def test_an_objective_that_says_nothing_is_refused_with_its_place(text: str, message: str) -> None:
    with pytest.raises(InvalidInput) as error:
        parse_scenario(f"{SCENARIO}objective: {text}\n", "tiny.yaml")
    (problem,) = error.value.problems
    assert message in str(problem)
    assert problem.place.startswith("tiny.yaml:41 objective")


def test_all_that_is_wrong_with_objectives_is_told_together() -> None:
    with pytest.raises(InvalidInput) as error:
        parse_scenario(
            f"{SCENARIO}objective: [abort_rat <= 1 %, aborted of x <= 3, submitted >= 1]"
        )
    assert len(error.value.problems) == 3


def test_a_writer_called_all_cannot_stand_beside_an_objective_of_all() -> None:
    text = SCENARIO.replace("  loader:\n", "  all:\n")
    with pytest.raises(InvalidInput, match="a writer is called 'all'"):
        parse_scenario(f"{text}objective: aborted of all <= 3\n")


STATED = "objective: job_success_rate of loader >= 99 %\n"
ROW = {"measure": "job_success_rate", "of": "loader", "direction": "at_least", "threshold": 0.99}


def test_the_manifest_of_a_run_holds_its_objectives() -> None:
    scenario = parse_scenario(SCENARIO.replace("12 min", "3 min") + STATED)
    assert run_scenario(scenario).recording.manifest["objectives"] == [ROW]


def test_an_objective_judges_and_does_not_change_what_is_simulated() -> None:
    assert parse_scenario(SCENARIO + STATED).hash == parse_scenario(SCENARIO).hash


def test_the_cells_of_a_sweep_have_its_objectives() -> None:
    scenario = parse_scenario(SCENARIO + STATED)
    cell = cell_of(scenario, {"partitioning": "by date", "isolation": "Serializable"})
    assert cell.objectives == scenario.objectives


def test_a_sweep_is_resumed_with_another_objective_and_remembers_the_new_one(
    tmp_path: Path,
) -> None:
    open_place(load_experiment(write_scenario(tmp_path)), LocalPlace(tmp_path / "out"))
    stated = load_experiment(write_scenario(tmp_path, SCENARIO + STATED))
    open_place(stated, LocalPlace(tmp_path / "out"))
    definition = json.loads((tmp_path / "out" / "sweep.json").read_text())
    assert definition["objectives"] == [ROW]
