"""`whitecap chaos`, as somebody uses it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml

from tests.command_line import invoked
from tests.refusals import require_refused
from tests.sim.sim_worlds import document
from whitecap.engine.errors import InvalidInput, Problem
from whitecap.exit_codes import ExitCode
from whitecap.sim.chaos import campaign, one_run
from whitecap.sim.chaos.campaign import Campaign
from whitecap.sim.chaos.one_run import RunJudge
from whitecap.sim.chaos.swarm import DrawnVariation, drawn
from whitecap.sim.oracles.finding import Anomaly, Finding, Judgement, Oracle
from whitecap.sim.oracles.runs import reopening
from whitecap.sim.run import FinishedRun
from whitecap.sim.scenario.model import Scenario
from whitecap.sim.under_fire import campaign as of_real_writers
from whitecap.sim.under_fire.verdict import SkippedRun
from whitecap.terminal.campaign import again


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "small.yaml"
    path.write_text(yaml.safe_dump(document()))
    return path


_chaos = partial(invoked, "chaos")


def planted(run: FinishedRun) -> Judgement:
    """Finds fault with every run in which somebody did not learn how a commit ended."""
    if not run.recording.manifest["counts"]["unknown"]:
        return Judgement()
    finding = Finding(oracle=Oracle.LOG, anomaly=Anomaly.LOST_COMMIT, sentence="planted here")
    return Judgement((finding,))


def lenient(run: FinishedRun) -> Judgement:
    del run
    return Judgement()


def judge_by(monkeypatch: pytest.MonkeyPatch, judge: RunJudge) -> None:
    monkeypatch.setattr(reopening, "judgement_with_readers", judge)
    monkeypatch.setattr(reopening, "judgement_without_replay", judge)


def test_a_sound_campaign_says_what_it_has_tested(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    judge_by(monkeypatch, lenient)
    result = _chaos(file, "--runs", 6, "--jobs", 1, "--out", tmp_path / "out")
    assert result.exit_code == ExitCode.FINE, result.output
    assert "6 runs" in result.stdout
    assert "none with findings\n" in result.stdout
    assert "none with fewer than 20 commits; no two the same; rows compared in 1" in result.stdout
    assert "never: " in result.stdout


def test_the_same_campaign_prints_the_same_json(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    judge_by(monkeypatch, lenient)
    options = ("--runs", 3, "--jobs", 1, "--json", "--out", tmp_path / "out")
    first, second = _chaos(file, *options), _chaos(file, *options)
    assert first.stdout == second.stdout
    written: dict[str, Any] = json.loads(first.stdout)
    assert written["runs"] == 3
    assert written["findings"] == []


def test_a_campaign_ends_when_its_time_is_up(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    judge_by(monkeypatch, lenient)
    options = ("--minutes", 1e-9, "--jobs", 1, "--json", "--out", tmp_path / "out")
    result = _chaos(file, "--runs", 1000, *options)
    assert result.exit_code == ExitCode.FINE
    assert json.loads(result.stdout)["runs"] == 1
    assert _chaos(file, "--minutes", 0).exit_code == ExitCode.BAD_INPUT


def _interrupted_after(
    monkeypatch: pytest.MonkeyPatch, runner: ModuleType, name: str, made: int
) -> None:
    """Ctrl-C comes when so many runs are made."""
    usual = getattr(runner, name)

    def interrupted(*arguments: Any, **options: Any) -> Iterator[Any]:
        yield from islice(usual(*arguments, **options), made)
        raise KeyboardInterrupt

    monkeypatch.setattr(runner, name, interrupted)


@pytest.mark.parametrize(("made", "said"), [(1, "after 1 run;"), (2, "after 2 runs;")])
def test_an_interrupted_campaign_tells_what_it_found_and_does_not_pass(
    made: int, said: str, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    judge_by(monkeypatch, lenient)
    _interrupted_after(monkeypatch, campaign, "run_campaign", made)
    options = ("--jobs", 1, "--json", "--out", tmp_path / "out")
    result = _chaos(file, *options, "--runs", 3)
    assert result.exit_code == ExitCode.INTERRUPTED
    assert json.loads(result.stdout)["runs"] == made
    assert said in result.stderr
    monkeypatch.undo()
    judge_by(monkeypatch, lenient)
    resumed = _chaos(file, *options, "--resume", "--runs", 3)
    assert (resumed.exit_code, json.loads(resumed.stdout)["runs"]) == (ExitCode.FINE, 3)


def test_a_campaign_that_is_interrupted_before_its_first_run_says_so(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _interrupted_after(monkeypatch, campaign, "run_campaign", 0)
    result = _chaos(file, "--jobs", 1, "--runs", 3, "--out", tmp_path / "out")
    assert result.exit_code == ExitCode.INTERRUPTED
    assert "interrupted: no run was finished, so nothing is kept" in result.stderr


def test_interrupted_real_writers_do_not_pass(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left_out = SkippedRun("small", 0, "none is needed here")
    monkeypatch.setattr(of_real_writers, "run_under_fire", lambda *_: iter([left_out]))
    _interrupted_after(monkeypatch, of_real_writers, "run_under_fire", 1)
    result = _chaos(file, "--real", "deltalake", "--out", tmp_path / "out")
    assert result.exit_code == ExitCode.INTERRUPTED
    assert "after 1 run;" in result.stderr


def test_the_command_that_makes_a_run_again_names_its_own_scenario_alone() -> None:
    paths = [Path("one.yaml"), Path("two.yaml")]
    assert again(paths, Campaign([], 9, 5), 3) == "whitecap chaos two.yaml --seed 5 --only 3"
    calmer = Campaign([], 9, 5, without=frozenset({"pause", "crash_at_request"}))
    assert again(paths, calmer, 4) == (
        "whitecap chaos one.yaml --without crash_at_request --without pause --seed 5 --only 4"
    )


def test_a_draw_that_is_no_scenario_is_told_as_a_defect_with_its_command(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused_once(scenario: Scenario, seed: int, number: int, *others: Any) -> DrawnVariation:
        if number == 1:
            raise InvalidInput([Problem("writers.loader.count", "needs more than 0")])
        return drawn(scenario, seed, number, *others)

    monkeypatch.setattr(one_run, "drawn", refused_once)
    judge_by(monkeypatch, lenient)
    out = tmp_path / "out"
    result = _chaos(file, "--runs", 3, "--jobs", 1, "--out", out, "--save", tmp_path / "kept")
    assert result.exit_code == ExitCode.INVARIANT_VIOLATED, result.output
    assert "no scenario was drawn  (run 1)" in result.stdout
    assert "writers.loader.count: needs more than 0" in result.stdout
    assert "a defect of the draw" in result.stdout
    assert "--seed 1 --only 1" in " ".join(result.stdout.split())
    assert "3 runs" in result.stdout
    assert "1 with findings, 1 unexplained: no scenario was drawn 1\n" in result.stdout
    assert "1 misdrawn" in result.stdout
    assert [path.name for path in out.iterdir()] == ["campaign.json"]
    again = _chaos(file, "--only", 1, "--jobs", 1, "--json", "--out", out)
    assert again.exit_code == ExitCode.INVARIANT_VIOLATED
    document = json.loads(again.stdout)
    assert document["misdrawn_runs"] == 1
    assert document["findings"][0]["misdrawn"] == "writers.loader.count: needs more than 0"


def test_a_cell_that_is_no_scenario_is_the_scenario_s_fault_and_told_before_any_run(
    tmp_path: Path,
) -> None:
    path = tmp_path / "cells.yaml"
    axes = {"writers": {"some": {}, "none": {"writers.loader.count": -1}}}
    path.write_text(yaml.safe_dump(document(sweep={"axes": axes})))
    result = _chaos(path, "--runs", 3, "--jobs", 1, "--out", tmp_path / "out")
    assert result.exit_code == ExitCode.BAD_INPUT
    assert "writers = none" in result.stderr
    assert "writers.loader.count: must be at least 1, not -1" in result.stderr
    assert not (tmp_path / "out").exists()


def test_each_of_several_tables_is_judged(tmp_path: Path) -> None:
    """A batch that is run again is in both tables twice."""
    scenario = "scenarios/failures/f15-batch-for-two-tables.yaml"
    options = ("--only", 4, "--seed", 1, "--no-shrink", "--json", "--out", tmp_path / "out")
    result = _chaos(scenario, "--without", "stale_listing", *options)
    assert result.exit_code == ExitCode.EXPECTATION_MISSED, result.output
    [run] = json.loads(result.stdout)["findings"]
    assert run["cause"] == "batches without txnAppId and txnVersion"
    assert {finding["table"] for finding in run["findings"]} == {"silver", "gold"}


def test_real_writers_refuse_a_scenario_of_several_tables_by_name(tmp_path: Path) -> None:
    options = ("--real", "deltalake", "--out", tmp_path / "out")
    result = _chaos("scenarios/two-tables.yaml", *options)
    assert result.exit_code == ExitCode.BAD_INPUT, result.output
    assert "two-tables.yaml" in result.stderr
    assert "several tables (silver, gold)" in result.stderr


def test_bad_input_is_told_before_anything_runs(file: Path, tmp_path: Path) -> None:
    missing = _chaos(tmp_path / "missing.yaml", "--out", tmp_path / "out")
    assert missing.exit_code == ExitCode.BAD_INPUT
    assert "missing.yaml" in missing.stderr
    assert _chaos(file, "--runs", 0).exit_code == ExitCode.BAD_INPUT
    assert _chaos(file, "--save", tmp_path, "--no-shrink").exit_code == ExitCode.BAD_INPUT
    assert _chaos().exit_code == ExitCode.BAD_INPUT


def test_all_bad_input_is_told_at_once(file: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.yaml"
    other.write_text("duration: soon\n")
    missing = tmp_path / "missing.yaml"
    result = _chaos(missing, other, file, "--without", "pauze", "--save", file, "--out", other)
    require_refused(
        result,
        "missing.yaml",
        "'soon'",
        "did you mean 'pause'?",
        "small.yaml: cannot be written",
        "other.yaml: cannot be written",
    )


def test_all_options_that_exclude_each_other_are_told_at_once(file: Path) -> None:
    several = ("--jobs", 1, "--master", "local[1]", "--resume", "--only", 1, "--runs", 2)
    result = _chaos(file, *several, "--python", "python3", "--save", "kept", "--no-shrink")
    require_refused(
        result,
        "give one of them",
        "--resume makes",
        "--runs says how many",
        "is of --real deltalake",
        "makes none",
    )


def test_a_kind_of_fault_can_be_left_out_of_all_runs(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    judge_by(monkeypatch, lenient)
    options = ("--runs", 12, "--jobs", 1, "--json", "--out", tmp_path / "out")
    whole = json.loads(_chaos(file, *options).stdout)
    left = json.loads(_chaos(file, *options, "--without", "stale_listing").stdout)
    assert "a fault of kind stale_listing" in whole["exercised"]
    assert "a fault of kind stale_listing" not in left["exercised"]
    assert "a fault of kind stale_listing" not in left["never_exercised"]
    assert left["without"] == ["stale_listing"]
    assert set(whole["exercised"]) - set(left["exercised"]) <= {"a fault of kind stale_listing"}


def test_a_fault_that_there_is_not_is_told_with_the_nearest_one(file: Path) -> None:
    result = _chaos(file, "--without", "stale-listing", "--without", "pauze")
    require_refused(
        result, "'stale-listing'", "did you mean 'stale_listing'?", "did you mean 'pause'?"
    )


def test_a_campaign_goes_on_where_it_ended(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    judge_by(monkeypatch, planted)
    options = ("--no-shrink", "--jobs", 1, "--json", "--seed", 4)
    whole = _chaos(file, *options, "--runs", 8, "--out", tmp_path / "whole")
    parts = tmp_path / "parts"
    _chaos(file, *options, "--runs", 5, "--out", parts)
    rest = _chaos(file, *options, "--runs", 8, "--out", parts, "--resume")
    assert json.loads(rest.stdout) == json.loads(whole.stdout)
    assert rest.exit_code == whole.exit_code == ExitCode.EXPECTATION_MISSED


def test_only_the_same_campaign_goes_on(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    judge_by(monkeypatch, lenient)
    options = ("--runs", 1, "--jobs", 1, "--out", tmp_path / "out")
    nothing = _chaos(file, *options, "--resume")
    assert nothing.exit_code == ExitCode.BAD_INPUT
    assert "there is no campaign to go on with" in nothing.stderr
    assert _chaos(file, *options).exit_code == ExitCode.FINE
    other = _chaos(file, *options, "--resume", "--seed", 2, "--without", "pause")
    assert other.exit_code == ExitCode.BAD_INPUT
    assert "is another campaign: its seed, without differ" in other.stderr
    assert _chaos(file, "--resume", "--only", 1).exit_code == ExitCode.BAD_INPUT


@pytest.mark.parametrize(
    "damaged",
    [
        "[]",
        '{"campaign": [], "tally": {}}',
        '{"campaign": 1, "tally": {}, "findings": []}',
        '{"campaign": {}, "tally": {"rans": 1}, "findings": []}',
        '{"campaign": {}, "tally": {"runs": "many"}, "findings": []}',
        '{"campaign": {}, "tally": [], "findings": []}',
    ],
)
def test_a_damaged_campaign_is_told(damaged: str, file: Path, tmp_path: Path) -> None:
    (tmp_path / "campaign.json").write_text(damaged)
    result = _chaos(file, "--runs", 1, "--jobs", 1, "--out", tmp_path, "--resume")
    assert result.exit_code == ExitCode.BAD_INPUT, result.output
    assert "is no campaign" in result.stderr
