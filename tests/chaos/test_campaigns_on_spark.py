"""A campaign as jobs of Spark."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import pytest

from tests.command_line import invoked
from whitecap.exit_codes import ExitCode

SCENARIO = "scenarios/field/c49-no-put-if-absent.yaml"


_chaos = partial(invoked, "chaos", SCENARIO)


@pytest.mark.spark
def test_spark_finds_what_processes_find(tmp_path: Path) -> None:
    options = ("--runs", 12, "--seed", 2, "--no-shrink", "--json", "--out", tmp_path / "out")
    on_spark = _chaos(*options, "--master", "local[2]")
    in_processes = _chaos(*options, "--jobs", 1)
    assert on_spark.exit_code == in_processes.exit_code == ExitCode.EXPECTATION_MISSED
    assert json.loads(on_spark.stdout) == json.loads(in_processes.stdout)
    assert json.loads(on_spark.stdout)["findings"]


def test_processes_and_a_master_do_not_go_together() -> None:
    result = _chaos("--jobs", 2, "--master", "local[2]")
    assert result.exit_code == ExitCode.BAD_INPUT
    assert "give one of them" in result.stderr
