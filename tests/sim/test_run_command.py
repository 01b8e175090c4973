"""`whitecap run` and the Python API: what they print, write, return and refuse."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path

import pytest
import yaml

import whitecap
from tests.command_line import invoked
from tests.refusals import require_each_once, require_refused
from tests.sim.sim_worlds import UPDATE, document
from whitecap.engine.errors import InvalidInput, InvariantViolated
from whitecap.exit_codes import ExitCode
from whitecap.sim.recording.recording import read_recording


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "small.yaml"
    path.write_text(yaml.safe_dump(document(warm_up="1 min")))
    return path


_run = partial(invoked, "run")


def test_the_summary_has_a_line_per_writer_and_one_for_all(file: Path) -> None:
    result = _run(file)
    assert result.exit_code == ExitCode.FINE
    lines = result.stdout.splitlines()
    assert "small · seed 1 · 10 min simulated, the first 1 min left out below" in lines[0]
    assert any(line.split()[:2] == ["loader", "INSERT"] for line in lines)
    assert any(line.split()[:2] == ["corrector", "UPDATE"] for line in lines)
    assert any(line.split()[:1] == ["all"] for line in lines)
    assert any(line.startswith("corrector UPDATE: ") for line in lines)
    assert "loader INSERT  ConcurrentAppendException" in result.output


def test_the_summary_says_what_it_leaves_out_and_who_stops_whom(tmp_path: Path) -> None:
    late = {
        "statement": "UPDATE events SET amount = 0.5 WHERE date = :date",
        "parameters": {"date": "newest"},
        "arrival": {"schedule": {"every": "2 s"}},
        "compute": "10 s",
    }
    path = tmp_path / "late.yaml"
    path.write_text(yaml.safe_dump(document(writers={**document()["writers"], "late": late})))
    result = _run(path)
    output = " ".join(result.output.split())
    assert "of 300 due jobs of late had not begun: the schedule is overloaded" in output
    assert "unfinished at the end (in neither success nor latency)" in output
    assert "of the aborts of corrector come from " in output
    assert "success" in output


def test_the_summary_rounds_no_share_to_what_is_asked_for_of_it_nor_to_a_whole(
    tmp_path: Path,
) -> None:
    writers = {"etl": {**UPDATE, "count": 3, "rerun": "none"}}
    (of_etl,) = whitecap.run(document(writers=writers)).summary.to_dict("records")
    asked = 100 * of_etl["job_success_rate"] + 0.001
    close = document(writers=writers, objective=f"job_success_rate >= {asked} %")
    path = tmp_path / "close.yaml"
    path.write_text(yaml.safe_dump(close))
    (row,) = (each for each in _run(path).stdout.splitlines() if each.startswith("etl     UPDATE"))
    success, wasted = (float(each) for each in re.findall(r"([0-9.]+) %", row))
    assert success < asked
    assert wasted == round(100 * of_etl["wasted_compute_share"], 1) != round(wasted)


def test_the_summary_shows_what_was_expected_of_the_scenario_as_it_stands(tmp_path: Path) -> None:
    expect = [
        {"measure": "committed", "writer": "loader", "at_least": 1},
        {"measure": "aborted", "equals": 12345, "because": "nobody knows"},
        {"measure": "aborted", "equals": 0, "when": {"load": "none"}},
    ]
    sweep = {"axes": {"load": {"none": {"writers.corrector.starts": "1 h"}, "some": {}}}}
    path = tmp_path / "expecting.yaml"
    path.write_text(yaml.safe_dump(document(expect=expect, sweep=sweep)))
    lines = _run(path).output.splitlines()
    shown = lines[lines.index("expected, judged by this one run:") + 1 :]
    assert shown[0].startswith("✓ met: committed (loader) is ")
    assert shown[1].startswith("✗ missed: aborted is ")
    assert shown[1].endswith("expected 12345 (nobody knows)")
    assert shown[2] == "1 more expected of cells of its sweep: whitecap check"


def test_recording_and_table_are_written_where_asked(file: Path, tmp_path: Path) -> None:
    out, table = tmp_path / "run", tmp_path / "table"
    result = _run(file, "--seed", 5, "--out", out, "--export", table, "--data", "--requests")
    assert result.exit_code == ExitCode.FINE
    recording = read_recording(out)
    assert recording.manifest["seed"] == 5
    assert recording.requests is not None
    assert list((table / "date=2026-01-14").glob("*.parquet"))


def test_a_history_is_written_into_a_folder_that_is_not_there_yet(
    file: Path, tmp_path: Path
) -> None:
    history = tmp_path / "new" / "history.jsonl"
    result = _run(file, "--quiet", "--history", history)
    assert result.exit_code == ExitCode.FINE, result.output
    assert history.stat().st_size > 0


@pytest.mark.parametrize("option", ["--out", "--export"])
def test_a_history_where_a_directory_will_be_is_refused_before_the_run(
    option: str, file: Path, tmp_path: Path
) -> None:
    place = tmp_path / "place"
    result = _run(file, "--history", place, option, place / "below")
    assert result.exit_code == ExitCode.BAD_INPUT
    assert "--history is a file" in result.stderr
    assert not place.exists()


def test_quiet_prints_only_what_was_written(file: Path, tmp_path: Path) -> None:
    result = _run(file, "--quiet", "--out", tmp_path / "run")
    assert result.stdout == f"recording  {tmp_path / 'run'}\n"


def test_a_wrong_scenario_ends_with_all_problems_and_writes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "wrong.yaml"
    path.write_text(yaml.safe_dump(document(duration="soon", storee="s3")))
    result = _run(path, "--out", tmp_path / "run")
    assert result.exit_code == ExitCode.BAD_INPUT
    assert "'soon' is not a duration" in result.output
    assert "did you mean 'store'" in result.output
    assert not (tmp_path / "run").exists()


def test_an_output_directory_with_something_else_is_bad_input(file: Path, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("precious")
    result = _run(file, "--out", tmp_path / "mine")
    assert result.exit_code == ExitCode.BAD_INPUT
    assert "left alone" in result.output


def test_a_broken_invariant_has_an_exit_code_of_its_own(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import whitecap.sim.run

    def broken(*arguments: object) -> None:
        raise InvariantViolated(f"to reproduce: {arguments[2]}")

    monkeypatch.setattr(whitecap.sim.run, "check_conservation", broken)
    result = _run(file, "--seed", 7)
    assert result.exit_code == ExitCode.INVARIANT_VIOLATED
    assert f"whitecap run {file} --seed 7" in result.output


@pytest.mark.parametrize("option", ["--data", "--requests"])
def test_an_option_that_would_have_no_effect_is_refused(file: Path, option: str) -> None:
    result = _run(file, option)
    assert result.exit_code == ExitCode.BAD_INPUT
    assert "goes with" in result.output


def test_python_runs_a_file_a_text_a_dictionary_and_a_scenario_alike(file: Path) -> None:
    text = file.read_text()
    runs = [
        whitecap.run(given)
        for given in (file, str(file), text, yaml.safe_load(text), whitecap.load_scenario(file))
    ]
    first = runs[0].transactions
    assert len(first) > 50
    assert all(run.transactions.equals(first) for run in runs)


def test_python_changes_a_parameter_by_its_path(file: Path) -> None:
    plain = whitecap.run(file)
    changed = whitecap.run(file, changes={"writers.loader.count": 4})
    assert changed.transactions.writer.nunique() == plain.transactions.writer.nunique() + 2


def test_python_loads_what_was_recorded(file: Path, tmp_path: Path) -> None:
    run = whitecap.run(file, seed=3, out=tmp_path / "run")
    loaded = whitecap.load(tmp_path / "run")
    assert loaded.transactions.equals(run.transactions)
    assert loaded.commits.equals(run.commits)
    assert loaded.scenario.hash == run.scenario.hash
    assert set(run.summary.writer) == {"loader", "corrector", "all"}


def test_python_holds_the_scenarios_expectations_against_the_run(file: Path) -> None:
    expect = [{"measure": "committed", "at_least": 1}, {"measure": "aborted", "equals": 12345}]
    run = whitecap.run(file, changes={"expect": expect})
    assert [result.is_met for result in run.expectations] == [True, False]


def test_python_says_what_is_wrong_with_a_scenario() -> None:
    with pytest.raises(InvalidInput, match="'name' is missing"):
        whitecap.run({"duration": "1 h"})


def test_all_bad_input_is_told_at_once(tmp_path: Path) -> None:
    path = tmp_path / "unsound.yaml"
    path.write_text(yaml.safe_dump(document(duration="soon")))
    words = ("--set", "seed", "--cell", "isolation", "--until", "conflict_rat +- 1 point")
    result = _run(path, *words)
    require_refused(result, "PATH=VALUE", "no cells", "did you mean 'conflict_rate'?", "'soon'")
    with pytest.raises(InvalidInput) as refused:
        whitecap.run(path, until="conflict_rat +- 1 point")
    require_each_once(refused.value, "did you mean 'conflict_rate'?", "'soon'")


def test_a_change_that_is_none_hides_no_path_that_there_is_not(tmp_path: Path) -> None:
    path = tmp_path / "sound.yaml"
    path.write_text(yaml.safe_dump(document()))
    words = ("--set", "seed", "--set", "wrters.loader.count=4", "--set", "tabel.key=id")
    misspelt = ("wrters, as it was set: unknown key", "tabel, as it was set: unknown key")
    require_refused(_run(path, *words), "--set seed: is not PATH=VALUE", *misspelt)


def test_a_cell_that_there_is_not_hides_nothing_of_the_scenario(tmp_path: Path) -> None:
    path = tmp_path / "unsound.yaml"
    axes = {"writers": {"few": {}, "many": {"writers.loader.count": 4}}}
    path.write_text(yaml.safe_dump(document(duration="soon", sweep={"axes": axes})))
    result = _run(path, "--cell", "writers=fev", "--set", "sed=3")
    require_refused(result, "did you mean 'few'?", "did you mean 'seed'?", "'soon'")
