"""`--axis` of `sweep` and `plan`, and `--vary`: nothing that is given goes unheard."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.command_line import invoked
from tests.sweeps.sweep_scenario import SCENARIO, write_scenario
from whitecap.engine.errors import InvalidInput, Problem
from whitecap.exit_codes import ExitCode
from whitecap.options.assignments import labels_named
from whitecap.sim.sweeps.experiment import load_experiment

OBJECTIVE = "job_success_rate >= 90 %"
LOADERS = "writers.loader.count=1..3"


def _kept(file: Path, *options: str) -> dict[str, list[str]]:
    """The labels of each axis that these `--axis` keep."""
    problems: list[Problem] = []
    axes = load_experiment(file, only=labels_named(options, problems)).axes
    assert problems == []
    return {axis: list(labels) for axis, labels in axes.items()}


def test_the_labels_of_an_axis_that_is_given_again_are_joined(tmp_path: Path) -> None:
    file = write_scenario(tmp_path)
    levels = [f"isolation={level}" for level in ("Serializable", "WriteSerializable")]
    assert _kept(file, *levels) == {"isolation": ["Serializable", "WriteSerializable"]}
    assert _kept(file, *levels[:1], *levels[:1]) == {"isolation": ["Serializable"]}


def test_a_comma_within_a_label_is_part_of_it(tmp_path: Path) -> None:
    text = SCENARIO.replace("by date:", '"by date, then": {}\n      then: {}\n      "a,b":')
    file = write_scenario(tmp_path, text)
    for option, labels in {
        "by date, then": ["by date, then"],
        "by date,then,a,b": ["by date, then", "a,b"],
        "then,unpartitioned": ["then", "unpartitioned"],
        "a, b,": ["a,b"],
    }.items():
        assert _kept(file, f"partitioning={option}") == {"partitioning": labels}
    with pytest.raises(InvalidInput, match="there is no label 'b'"):
        _kept(file, "partitioning=b,a,b")


def test_a_plan_searches_along_one_parameter_only(tmp_path: Path) -> None:
    words = ["--vary", LOADERS, "--vary", "writers.corrector.count=1..3", "--objective", OBJECTIVE]
    result = invoked("plan", write_scenario(tmp_path), *words)
    assert result.exit_code == ExitCode.BAD_INPUT
    assert "--vary: is given twice" in result.stderr


@pytest.mark.parametrize("words", [["sweep"], ["plan", "--vary", LOADERS]])
def test_an_axis_with_all_of_its_labels_and_some_of_them_is_refused(
    words: list[str], tmp_path: Path
) -> None:
    options = [*words[1:], "--axis", "isolation", "--axis", "isolation=Serializable"]
    result = invoked(words[0], write_scenario(tmp_path), *options)
    assert result.exit_code == ExitCode.BAD_INPUT
    assert "--axis isolation: is given with and without labels" in result.stderr
