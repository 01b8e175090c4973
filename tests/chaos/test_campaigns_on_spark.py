"""A campaign as jobs of Spark."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from whitecap.cli import main
from whitecap.exit_codes import ExitCode

SCENARIO = "scenarios/field/c49-no-put-if-absent.yaml"


def _chaos(*arguments: object) -> Result:
    return CliRunner().invoke(main, ["chaos", SCENARIO, *map(str, arguments)])


@pytest.mark.spark
def test_spark_finds_what_processes_find(tmp_path: Path) -> None:
    options = ("--runs", 35, "--seed", 2, "--no-shrink", "--json", "--out", tmp_path / "out")
    on_spark = _chaos(*options, "--master", "local[2]")
    in_processes = _chaos(*options, "--jobs", 1)
    assert on_spark.exit_code == in_processes.exit_code == ExitCode.EXPECTATION_MISSED
    assert json.loads(on_spark.stdout) == json.loads(in_processes.stdout)
    assert json.loads(on_spark.stdout)["findings"]


def test_processes_and_a_master_do_not_go_together() -> None:
    result = _chaos("--jobs", 2, "--master", "local[2]")
    assert result.exit_code == ExitCode.BAD_INPUT
    assert "give one of them" in result.stderr
