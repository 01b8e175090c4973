"""Runs have an answer too, and every way to it gives the same."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import whitecap
from tests.command_line import invoked
from tests.deciding.worlds import written_to
from tests.sim.sim_worlds import UPDATE
from tests.sweeps.sweep_scenario import SCENARIO, write_scenario

STATED = """\
objective:
- job_success_rate of loader >= 90 %
- latency_p95_ms of corrector <= 1 s
"""


def printed(*words: object) -> str:
    """What a command prints."""
    result = invoked(*words, columns=200)
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.fixture
def stated(tmp_path: Path) -> Path:
    """A scenario that states objectives."""
    return write_scenario(tmp_path, SCENARIO + STATED)


def test_a_run_shows_its_objectives_with_how_they_came_out(stated: Path) -> None:
    text = printed("run", stated)
    assert "objective: job success rate of loader at least 90 %; p95 latency of corrector" in text
    assert "✓ met: job success rate of loader is 100 %, at least" in text
    assert "✗ missed: p95 latency of corrector is" in text


@pytest.mark.parametrize("most", ["1 s", "100 min"])
def test_how_a_run_stands_to_its_only_objective_is_told_once(most: str, tmp_path: Path) -> None:
    only = f"objective: latency_p95_ms of corrector <= {most}\n"
    text = printed("run", write_scenario(tmp_path, SCENARIO + only))
    assert text.count("p95 latency of corrector is") == 1
    assert f"objective: p95 latency of corrector at most {most}" in text


def test_an_answer_leaves_the_name_of_a_writer_group_as_it_is(tmp_path: Path) -> None:
    late = {**UPDATE, "arrival": {"schedule": {"every": "1 s"}}}
    path = written_to(tmp_path / "late.yaml", writers={"eTL": late})
    assert any("due jobs of eTL had" in each for each in whitecap.run(path).answer.sentences)


def test_a_run_without_an_objective_shows_the_default(tmp_path: Path) -> None:
    text = printed("run", write_scenario(tmp_path))
    assert "objective, by default: job success rate of every writer group at least 99 %" in text


def test_python_json_and_terminal_give_a_run_the_same_answer(stated: Path, tmp_path: Path) -> None:
    answer = whitecap.run(stated, out=tmp_path / "run").answer
    document = json.loads(printed("run", stated, "--json"))
    assert document["answer"] == json.loads(json.dumps(answer.document))
    assert whitecap.load(tmp_path / "run").answer.document == answer.document
    assert f"{answer.headline}." in printed("run", stated)


def test_the_page_of_a_run_begins_with_its_answer(stated: Path, tmp_path: Path) -> None:
    answer = whitecap.run(stated, out=tmp_path / "run").answer
    assert f"{answer.headline}." in printed("report", tmp_path / "run")
    report = tmp_path / "run" / "report"
    assert json.loads((report / "answer.json").read_text())["headline"] == answer.headline
    page = (report / "report.html").read_text().replace("\u00a0", " ")
    assert page.index(answer.headline) < page.index("All measures")
    assert "Latency counts survivors" in page


def test_an_answer_reads_as_text(stated: Path) -> None:
    answer = whitecap.run(stated).answer
    assert repr(answer) == str(answer)
    assert str(answer).splitlines()[0] == f"{answer.headline}."


def test_another_objective_can_be_asked_for_when_sweeping(stated: Path) -> None:
    from whitecap.sim.sweeps.experiment import load_experiment

    experiment = load_experiment(stated, objective=["aborted of all <= 5"])
    assert [row["measure"] for row in experiment.definition()["objectives"]] == ["aborted"]
