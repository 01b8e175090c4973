"""`whitecap plan`: what is asked for wrongly is refused before anything runs; a small one works."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner

import whitecap
from tests.sim.sim_worlds import document
from whitecap.cli import main
from whitecap.engine.errors import InvalidInput
from whitecap.exit_codes import ExitCode


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "small.yaml"
    path.write_text(yaml.safe_dump(document(duration="3 min")))
    return path


OBJECTIVE = "job_success_rate of corrector >= 90 %"


@pytest.mark.parametrize(
    ("vary", "objective", "said"),
    [
        ("writers.corector.count=1..5", OBJECTIVE, "did you mean 'corrector'?"),
        ("writers.corrector.cont=1..5", OBJECTIVE, "did you mean 'count'?"),
        ("writers.corrector.count=5..1", OBJECTIVE, "5 is more than 1: write 1..5"),
        ("writers.corrector.count=few..many", OBJECTIVE, "are not two numbers"),
        (f"writers.corrector.count=1..{'9' * 400}", OBJECTIVE, "are not two numbers"),
        ("table.isolation=1..5", OBJECTIVE, "is none of Serializable"),
        ("writers.corrector.count=1..5", "", "states no `objective:`"),
        ("writers.corrector.count=1..5", "job_succes_rate >= 9 %", "job_success_rate"),
        ("writers.corrector.count=1..5", "given_up <= 3", "is a count"),
    ],
)
def test_what_is_wrong_is_told_before_anything_runs(
    file: Path, vary: str, objective: str, said: str
) -> None:
    with pytest.raises(InvalidInput) as refused:
        whitecap.plan(file, vary, objective=objective or (), quiet=True)
    assert said in str(refused.value)


def test_a_small_plan_finds_its_boundary_and_writes_it(file: Path, tmp_path: Path) -> None:
    arguments = [
        "plan", str(file), "--vary", "writers.corrector.count=1..6", "--objective", OBJECTIVE,
        "--variant", "by date:", "--variant", "one heap:table.partition_by=[]",
        "--max-runs", "20", "--max-replications", "5", "--jobs", "1",
        "--out", str(tmp_path / "out"), "--json",
    ]  # fmt: skip
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == ExitCode.FINE, result.output
    printed = json.loads(result.stdout)
    assert [each["name"] for each in printed["variants"]] == ["by date", "one heap"]
    assert printed["runs"] <= 20
    kept = json.loads((tmp_path / "out" / "plan.json").read_text())
    assert kept["variants"] == printed["variants"]
    assert (tmp_path / "out" / "plan.png").stat().st_size > 1000


def test_every_one_of_several_objectives_is_held_against_each_value(file: Path) -> None:
    """Where no latency will do nothing holds, however well jobs succeed."""
    objectives = [OBJECTIVE, "latency_p95_ms of corrector <= 1 ms"]
    plan = whitecap.plan(
        file, "writers.corrector.count=1..3", objective=objectives, max_replications=10, jobs=1,
        sense="largest", quiet=True,
    )  # fmt: skip
    assert "not even 1" in str(plan)
    assert set(plan.table["measure"]) == {"job_success_rate", "latency_p95_ms"}
