"""Writers of whom no job is due in a run leave its other objectives decided, and are named."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import whitecap
from tests.deciding.worlds import STEADY, written_to
from whitecap.cli import main
from whitecap.reports.statistics import Standing

NIGHTLY: dict[str, Any] = {
    "statement": "OPTIMIZE events",
    "arrival": {"schedule": {"every": "24 h", "offset": "10 h"}},
}
"""Due for the first time long after the run."""

NOT_JUDGED = "not judged: job success rate of nightly, of which no job was due"


def idle_beside(path: Path, **parts: Any) -> Path:
    """Three steady writers, and one that never has a job."""
    writers = {"etl": STEADY, "nightly": NIGHTLY}
    objective = "job_success_rate >= 80 %"
    return written_to(path, duration="5 min", writers=writers, objective=objective, **parts)


@pytest.fixture(scope="module")
def plan(tmp_path_factory: pytest.TempPathFactory) -> whitecap.Plan:
    path = idle_beside(tmp_path_factory.mktemp("idle") / "idle.yaml")
    return whitecap.plan(path, "writers.etl.count=1..2", max_replications=10, jobs=1, quiet=True)


def test_a_plan_is_decided_by_the_writers_that_have_jobs(plan: whitecap.Plan) -> None:
    assert "at least 2" in str(plan)
    (variant,) = plan.variants
    assert {tried.standing for tried in variant.tried.values()} == {Standing.MET}


def test_a_plan_names_whom_it_does_not_judge(plan: whitecap.Plan) -> None:
    assert NOT_JUDGED in str(plan)
    idle = plan.table.set_index("writer")["is_idle"].groupby(level=0).all()
    assert idle.to_dict() == {"etl": False, "nightly": True}


def test_advice_is_decided_by_the_writers_that_have_jobs(tmp_path: Path) -> None:
    path = idle_beside(tmp_path / "idle.yaml", may_change=["isolation"])
    advice = whitecap.advise(path, replications=5, jobs=1, quiet=True)
    assert advice.is_met
    assert "As it stands: job success rate of etl is 100 %" in str(advice)
    assert NOT_JUDGED[1:] in str(advice)


def test_what_is_asked_of_idle_writers_alone_stays_undecided(tmp_path: Path) -> None:
    path = idle_beside(tmp_path / "idle.yaml")
    asked = [
        "--vary",
        "writers.etl.count=1..2",
        "--objective",
        "job_success_rate of nightly >= 80 %",
    ]
    result = CliRunner().invoke(
        main, ["plan", str(path), *asked, "--max-replications", "10", "--jobs", "1", "--json"]
    )
    (variant,) = json.loads(result.stdout)["variants"]
    assert variant["text"] == "undecided from 1 to 2"
    assert {each["standing"] for each in variant["tried"]} == {"undecided"}
