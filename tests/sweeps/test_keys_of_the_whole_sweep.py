"""Keys that all cells share: an axis, or a parameter that is varied, cannot set them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.command_line import invoked
from tests.sweeps.sweep_scenario import SCENARIO, write_scenario
from whitecap.engine.errors import InvalidInput
from whitecap.exit_codes import ExitCode
from whitecap.sim.scenario.model import Scenario
from whitecap.sim.scenario.sweep import SHARED_BY_ALL_CELLS
from whitecap.sim.sweeps.experiment import load_experiment

OBJECTIVE = "job_success_rate >= 90 %"
EXPECTATION = {"measure": "job_success_rate", "at_least": 0.5}

SHARED: dict[str, Any] = {
    "seed": 7,
    "objective": [OBJECTIVE],
    "expect": [EXPECTATION],
    "name": "another",
    "may_change": ["retries"],
    "format_version": 1,
    "sweep": {"replications": 3},
}


def test_each_key_that_all_cells_share_is_a_key_of_scenarios() -> None:
    assert SHARED.keys() == SHARED_BY_ALL_CELLS.keys()
    assert SHARED.keys() <= Scenario.model_fields.keys()


@pytest.mark.parametrize("key", SHARED)
def test_an_axis_that_sets_a_key_of_the_whole_sweep_is_refused_at_its_line(
    key: str, tmp_path: Path
) -> None:
    document = yaml.safe_load(SCENARIO)
    document["sweep"]["axes"]["partitioning"]["by date"][key] = SHARED[key]
    file = write_scenario(tmp_path, yaml.safe_dump(document, sort_keys=False))
    place = rf":\d+ sweep\.axes\.partitioning\.by date\.{key}: is the same in all that is compared"
    for words in (["sweep"], ["check"], ["run", "--cell", "by-date__Serializable"]):
        result = invoked(words[0], file, *words[1:])
        assert result.exit_code == ExitCode.BAD_INPUT
        assert re.search(place, result.stderr), result.stderr


def test_a_part_of_such_a_key_is_refused_too(tmp_path: Path) -> None:
    text = SCENARIO.replace("{table.partition_by: []}", "{sweep.replications: 3}")
    with pytest.raises(
        InvalidInput, match=r"sweep\.replications: is the same in all that is compared"
    ):
        load_experiment(write_scenario(tmp_path, text))


def test_the_refusal_says_what_to_use_instead(tmp_path: Path) -> None:
    file = write_scenario(tmp_path)
    seeds = invoked("sweep", file, "--set", "seed=1,2")
    assert seeds.exit_code == ExitCode.BAD_INPUT
    assert "seed: is the same in all that is compared" in seeds.stderr
    assert "--seed takes another, --replications makes more runs" in seeds.stderr
    expected = invoked("sweep", file, "--set", "expect=[],[{measure: aborted, at_most: 1}]")
    assert "`when`" in expected.stderr


def test_several_values_of_a_key_of_the_whole_sweep_make_no_axis(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput) as raised:
        load_experiment(write_scenario(tmp_path), quick_axes={"seed": [1, 2], "name": ["a", "b"]})
    assert [problem.place for problem in raised.value.problems] == ["seed", "name"]


def test_a_single_value_of_such_a_key_is_that_of_the_whole_sweep(tmp_path: Path) -> None:
    given: dict[str, list[Any]] = {
        "seed": [9],
        "objective": [[OBJECTIVE]],
        "expect": [[EXPECTATION]],
    }
    experiment = load_experiment(write_scenario(tmp_path), quick_axes=given)
    assert list(experiment.axes) == ["partitioning", "isolation"]
    assert experiment.seed == 9
    assert {cell.scenario.seed for cell in experiment.cells} == {9}
    assert [str(each) for each in experiment.scenario.objectives]
    assert len(experiment.scenario.expect) == 1
    of_option = load_experiment(write_scenario(tmp_path), quick_axes=given, seed=4)
    assert of_option.seed == 4


def test_a_single_value_of_a_part_of_the_sweep_is_heeded(tmp_path: Path) -> None:
    experiment = load_experiment(write_scenario(tmp_path), quick_axes={"sweep.replications": [3]})
    assert (experiment.replications, len(experiment.cells)) == (3, 4)


LOADERS = "writers.loader.count=1..3"


@pytest.mark.parametrize(
    "words",
    [
        ["plan", "--vary", "seed=1..3", "--objective", OBJECTIVE],
        ["plan", "--vary", LOADERS, "--variant", "other:seed=8", "--objective", OBJECTIVE],
        ["sensitivity", "--vary", "seed=1..3", "--measure", "conflict_rate"],
    ],
)
def test_what_plans_compare_has_one_seed(words: list[str], tmp_path: Path) -> None:
    result = invoked(words[0], write_scenario(tmp_path), *words[1:])
    assert result.exit_code == ExitCode.BAD_INPUT
    assert "seed: is the same in all that is compared" in result.stderr


def test_the_objective_of_a_variant_is_refused(tmp_path: Path) -> None:
    words = ["--vary", LOADERS, "--objective", OBJECTIVE]
    words += ["--variant", "other:objective=[job_success_rate >= 1 %]"]
    result = invoked("plan", write_scenario(tmp_path), *words)
    assert result.exit_code == ExitCode.BAD_INPUT
    assert "objective: is the same in all that is compared" in result.stderr
