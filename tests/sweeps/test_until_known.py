"""`--until` of run, sweep and check: replications in rounds, and what the user is told of them."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import pytest

import whitecap
from tests.command_line import invoked
from tests.sweeps import sweep_scenario
from whitecap.checking import check_scenarios
from whitecap.engine.errors import InvalidInput
from whitecap.exit_codes import ExitCode
from whitecap.sim.run import run_scenario
from whitecap.until import until_of

SCENARIO = sweep_scenario.SCENARIO.replace("mean: 5 s", "mean: 20 s")
"""Of writers that think longer: its rounds are the same, and soon made."""

EXPECT = "expect:\n  - {measure: job_success_rate, at_least: 0.2}\n"
EASY = "job_success_rate +- 30 points"
HARD = "latency_p95_ms +- 0.001 %"


call = partial(invoked, columns=200)

write_scenario = partial(sweep_scenario.write_scenario, text=SCENARIO)


def test_replications_are_the_same_as_without_rounds(tmp_path: Path) -> None:
    scenario = write_scenario(tmp_path)
    only: dict[str, list[str]] = {"isolation": []}
    rounds = whitecap.sweep(
        scenario, only=only, until=HARD, max_replications=11, out=tmp_path / "until",
        engine="processes", quiet=True,
    )  # fmt: skip
    at_once = whitecap.sweep(
        scenario, only=only, replications=11, out=tmp_path / "n", engine="processes", quiet=True
    )
    order = ["cell", "replication"]
    hashes = [each.hashes.sort_values(order).reset_index(drop=True) for each in (rounds, at_once)]
    assert len(hashes[0]) == 22
    assert hashes[0].equals(hashes[1])
    assert rounds.measures.equals(at_once.measures)


def test_it_stops_when_all_cells_are_known_and_the_answer_says_how_exactly(tmp_path: Path) -> None:
    out = tmp_path / "out"
    words = ["sweep", write_scenario(tmp_path), "--engine", "processes", "--axis", "isolation"]
    result = call(*words, "--out", out, "--until", EASY)
    assert result.exit_code == ExitCode.FINE, result.output
    assert "2 cells x 10 to 100 replications" in result.stderr
    said = "Job success rate is known to ± 30 points in all 2 cells, with 10 replications"
    assert said in result.stdout
    call("report", out, "--engine", "processes")
    page = (out / "report" / "report.html").read_text(encoding="utf-8")
    assert said in page.replace("\u00a0", " ")
    (until,) = json.loads((out / "report" / "answer.json").read_text())["until"]
    assert until["reached"] is True
    assert until["until"] == EASY
    (reached,) = whitecap.load_sweep(out, engine="processes").answer.reached
    assert reached.is_met
    assert until["text"] == str(reached)


def test_what_is_not_reached_is_told_and_no_failure(tmp_path: Path) -> None:
    words = ["sweep", write_scenario(tmp_path), "--engine", "processes", "--axis", "isolation"]
    result = call(*words, "--out", tmp_path / "out", "--until", HARD, "--max-replications", 11)
    assert result.exit_code == ExitCode.FINE, result.output
    assert (
        "P95 latency is not known to ± 0.001 % in 2 of 2 cells with 11 replications"
        in result.stdout
    )


def test_a_sweep_goes_on_from_the_replications_that_lie_there(tmp_path: Path) -> None:
    words = ["sweep", write_scenario(tmp_path), "--engine", "processes", "--axis", "isolation"]
    words += ["--out", tmp_path / "out"]
    assert call(*words, "--until", EASY).exit_code == ExitCode.FINE
    more = call(*words, "--until", HARD, "--max-replications", 12)
    assert more.exit_code == ExitCode.FINE, more.output
    assert "with 12 replications" in more.stdout
    definition = json.loads((tmp_path / "out" / "sweep.json").read_text())
    assert (definition["replications"], definition["max_replications"]) == (12, 12)
    other = call(*words, "--until", HARD, "--seed", 99)
    assert other.exit_code == ExitCode.BAD_INPUT
    assert "seed: was 5, is now 99" in other.stderr


def test_a_run_becomes_a_sweep_of_one_cell_with_the_runs_of_its_replications(
    tmp_path: Path,
) -> None:
    scenario = write_scenario(tmp_path, text=SCENARIO + EXPECT)
    result = call("run", scenario, "--until", EASY, "--out", tmp_path / "out")
    assert result.exit_code == ExitCode.FINE, result.output
    assert "95 % intervals over 10 replications." in result.stdout
    assert "Job success rate is known to ± 30 points, with 10 replications" in result.stdout
    assert "met: job_success_rate at least 20 %" in result.stdout
    assert "\nWho stops whom:\n" in result.stdout
    assert "run:" not in result.stdout
    swept = whitecap.load_sweep(tmp_path / "out", engine="processes")
    alone = run_scenario(whitecap.load_scenario(scenario), replication=3).recording
    again = swept.run("run", 3).recording
    assert again.tables["transactions"].equals(alone.tables["transactions"])
    assert again.manifest["scenario_hash"] == alone.manifest["scenario_hash"]
    assert call("report", tmp_path / "out", "--engine", "processes").exit_code == ExitCode.FINE


def test_a_run_in_python_and_as_json(tmp_path: Path) -> None:
    scenario = write_scenario(tmp_path)
    cell = {"partitioning": "by date", "isolation": "Serializable"}
    swept = whitecap.run(scenario, cell=cell, until=EASY, max_replications=20)
    assert [str(each.asked) for each in swept.answer.reached] == [EASY]
    chosen = ",".join(f"{axis}={label}" for axis, label in cell.items())
    document = json.loads(call("run", scenario, "--cell", chosen, "--until", EASY, "--json").stdout)
    assert document["answer"] == json.loads(json.dumps(swept.answer.document))
    assert document["cells"][0]["labels"] == cell
    with pytest.raises(InvalidInput, match="requests: is of one run"):
        whitecap.run(scenario, until=EASY, requests=True)


@pytest.mark.parametrize(
    "words",
    [["--replication", 2], ["--export", "x"], ["--overwrite"], ["--requests", "--out", "x"]],
)
def test_what_is_of_one_run_does_not_go_with_it(words: list[object], tmp_path: Path) -> None:
    result = call("run", write_scenario(tmp_path), "--until", EASY, *words)
    assert result.exit_code == ExitCode.BAD_INPUT
    assert f"{words[0]} is of one run" in result.output


@pytest.mark.parametrize("command", ["run", "sweep", "check"])
def test_a_misspelt_measure_is_told_before_anything_is_run(command: str, tmp_path: Path) -> None:
    scenario = write_scenario(tmp_path, text=SCENARIO + EXPECT)
    result = call(command, scenario, "--until", "conflict_rat +- 1 point")
    assert result.exit_code == ExitCode.BAD_INPUT
    assert "there is no measure 'conflict_rat' (did you mean 'conflict_rate'?)" in result.stderr
    alone = call(command, scenario, "--max-replications", 3)
    assert alone.exit_code == ExitCode.BAD_INPUT
    assert "nothing is asked for" in alone.stderr


def test_a_check_adds_replications_and_says_what_was_reached(tmp_path: Path) -> None:
    scenario = write_scenario(tmp_path, text=SCENARIO.partition("sweep:")[0] + EXPECT)
    result = call("check", "--jobs", 1, scenario, "--until", HARD, "--max-replications", 12)
    assert result.exit_code == ExitCode.FINE, result.output
    assert "12 runs" in result.stdout
    assert "P95 latency is not known to ± 0.001 % with 12 replications" in result.stdout
    document = json.loads(call("check", "--jobs", 1, scenario, "--until", EASY, "--json").stdout)
    (until,) = document["scenarios"][0]["until"]
    assert (until["reached"], until["replications"]) == (True, 10)
    assert document["scenarios"][0]["runs"] == 10
    (checked,) = check_scenarios([scenario], until=until_of(EASY, None))
    assert checked.runs == 10
    with pytest.raises(InvalidInput):
        until_of("nothing +- 1", None)


def test_what_is_judged_by_one_run_is_run_once(tmp_path: Path) -> None:
    exactly = "expect:\n  - {measure: committed, at_least: 1, exactly: true}\n"
    scenario = write_scenario(tmp_path, text=SCENARIO.partition("sweep:")[0] + exactly)
    (checked,) = check_scenarios([scenario], until=until_of(HARD, 12))
    assert (checked.runs, checked.reached) == (1, ())
