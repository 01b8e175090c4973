"""Sweeping on either engine: what is finished stays, failures are named, measures agree."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from msgspec.structs import replace

from tests.sweeps.sweep_scenario import SCENARIO, kept_in, rows_of, write_scenario
from whitecap import cli
from whitecap.engine.errors import InvalidInput
from whitecap.engine.recorded import Measure
from whitecap.exit_codes import ExitCode
from whitecap.reports.measures.measured_run import measure_run
from whitecap.reports.subject import subject_of
from whitecap.sim.machine import processes
from whitecap.sim.recording.dataset.local import LocalPlace
from whitecap.sim.recording.dataset.place import recorded_run
from whitecap.sim.run import run_scenario
from whitecap.sim.sweeps.engines import SweepEngine
from whitecap.sim.sweeps.experiment import Experiment, load_experiment
from whitecap.sim.sweeps.planned import make_run
from whitecap.sim.sweeps.sweep_job import Progress, run_sweep
from whitecap.sweep_engine import sweep_engine
from whitecap.sweep_places import recorded_runs

pytestmark = pytest.mark.spark


Engine = Callable[[], SweepEngine]


@pytest.fixture(scope="module", params=["spark", "processes"])
def engine(request: pytest.FixtureRequest) -> Engine:
    """Each engine."""
    return sweep_engine(request.param, None if request.param == "processes" else "local[2]")


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory, engine: Engine) -> tuple[Experiment, Path]:
    """Four cells, two replications each; processes are started, as if it were a long sweep."""
    directory = tmp_path_factory.mktemp("swept")
    experiment = load_experiment(write_scenario(directory))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(processes, "HERE_S", -1)
        run_sweep(experiment, LocalPlace(directory / "out"), engine)
    return experiment, directory / "out"


def test_every_run_of_the_grid_is_recorded(swept: tuple[Experiment, Path]) -> None:
    experiment, out = swept
    assert len(kept_in(out)) == len(experiment.cells) * experiment.replications == 8
    recording = recorded_run(LocalPlace(out), ("by-date__Serializable", 1))
    assert recording.manifest["labels"] == {"partitioning": "by date", "isolation": "Serializable"}
    assert (recording.manifest["replication"], recording.manifest["seed"]) == (1, 5)


def test_a_run_of_a_sweep_is_row_for_row_one_on_its_own(swept: tuple[Experiment, Path]) -> None:
    experiment, out = swept
    cell = experiment.cells[2]
    alone = run_scenario(cell.scenario, replication=1, labels=cell.labels).recording
    within = recorded_run(LocalPlace(out), (cell.name, 1))
    assert dict(within.manifest) == {**alone.manifest, "tables": within.manifest["tables"]}
    assert within.scenario == alone.scenario
    assert within.tables.keys() == alone.tables.keys()
    for name, table in alone.tables.items():
        assert within.tables[name].equals(table), name
        assert within.tables[name].schema == table.schema


def test_jobs_of_an_open_loop_arrive_at_the_same_instants_in_every_cell(
    swept: tuple[Experiment, Path],
) -> None:
    experiment, out = swept
    arrivals = set()
    for cell in experiment.cells:
        table = recorded_run(LocalPlace(out), (cell.name, 0)).transactions.to_pandas()
        loads = table[(table["writer_group"] == "loader") & (table["rerun_number"] == 0)]
        arrivals.add(tuple(loads["submitted_at_ms"].round(6)))
    assert len(arrivals) == 1


def test_a_sweep_and_the_single_run_measure_alike(
    swept: tuple[Experiment, Path], engine: Engine
) -> None:
    _, out = swept
    runs = recorded_runs(out, engine)
    table = subject_of(runs).tables.runs.set_index(["cell", "replication"])
    for run in runs.runs:
        recording = recorded_run(LocalPlace(out), run.name)
        alone = measure_run(recording.manifest, recording.tables)
        for measure in Measure:
            value = table.loc[(run.cell, run.replication), measure.value]
            expected = alone.tally(measure).value
            assert value == pytest.approx(expected, nan_ok=True), (run.cell, measure)


def test_batches_that_are_whole_are_kept_and_only_the_rest_is_run(
    swept: tuple[Experiment, Path], tmp_path: Path, engine: Engine
) -> None:
    experiment, out = swept
    copy = tmp_path / "out"
    fewer = replace(experiment, cells=experiment.cells[:3], replications=2)
    run_sweep(fewer, LocalPlace(copy), engine)
    half = copy / "recordings" / "batch=00001-broken"
    shutil.copytree(copy / "recordings" / kept_in(copy)["by-date__Serializable", 0], half)
    (half / "_SUCCESS").unlink()
    (copy / "sweep.json").write_bytes((out / "sweep.json").read_bytes())
    before = kept_in(copy)
    seen: list[Progress] = []
    run_sweep(experiment, LocalPlace(copy), engine, seen.append)
    after = kept_in(copy)
    assert len(after) == 8
    assert {name: after[name] for name in before} == before
    assert (seen[0].kept, seen[0].finished, seen[-1].finished) == (6, 6, 8)
    assert not half.exists()
    assert rows_of(copy) == rows_of(out)


def test_a_worker_with_other_code_records_nothing(tmp_path: Path) -> None:
    experiment = load_experiment(write_scenario(tmp_path), replications=1)
    run = next(experiment.runs(str(tmp_path / "out")))
    ran = make_run(replace(run, code_version="0.0.9"))
    assert ran.recording is None
    assert ran.failure is not None
    assert "the sweep is of 0.0.9" in ran.failure["text"]


def test_a_finished_sweep_starts_no_engine(swept: tuple[Experiment, Path]) -> None:
    experiment, out = swept

    def no_engine() -> Any:
        raise AssertionError("there is nothing to run")

    run_sweep(experiment, LocalPlace(out), no_engine)


def test_a_failed_run_is_named_with_what_reproduces_it_and_others_are_kept(
    tmp_path: Path, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    experiment = load_experiment(write_scenario(tmp_path), only={"isolation": []}, replications=1)
    out = tmp_path / "out"
    first, second = experiment.runs(str(out))
    planned = [replace(first, scenario=first.scenario.replace("count: 2", "count: -2")), second]
    monkeypatch.setattr(Experiment, "runs", lambda *_: iter(planned))
    with pytest.raises(InvalidInput) as caught:
        run_sweep(experiment, LocalPlace(out), engine)
    monkeypatch.undo()
    message = str(caught.value)
    assert "1 of 2 runs failed; the others are kept" in message
    assert "cell isolation = Serializable, replication 0, seed 5" in message
    assert f"whitecap run {out}/cells/Serializable.yaml --seed 5 --replication 0" in message
    assert list(kept_in(out)) == [("WriteSerializable", 0)]
    run_sweep(experiment, LocalPlace(out), engine)
    assert len(kept_in(out)) == 2


def test_what_many_runs_failed_of_is_said_once(
    tmp_path: Path, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    experiment = load_experiment(write_scenario(tmp_path), only={"isolation": []}, replications=2)
    out = tmp_path / "out"
    planned = [
        replace(run, scenario=run.scenario.replace("count: 2", "count: -2"))
        for run in experiment.runs(str(out))
        if run.labels["isolation"] == "Serializable"
    ]
    monkeypatch.setattr(Experiment, "runs", lambda *_: iter(planned))
    with pytest.raises(InvalidInput) as caught:
        run_sweep(experiment, LocalPlace(out), engine)
    message = str(caught.value)
    assert "2 of 2 runs failed" in message
    assert "seed 5, and 1 more run: InvalidInput" in message
    assert message.count("to reproduce") == 1


def test_a_sweep_that_meets_another_one_of_its_kind_takes_its_batch_back(
    tmp_path: Path, engine: Engine
) -> None:
    """Both at the same runs: those of the first that closed a batch stay, once."""
    experiment = load_experiment(write_scenario(tmp_path), only={"isolation": []}, replications=1)
    place = LocalPlace(tmp_path / "out")

    def meanwhile(progress: Progress) -> None:
        if progress.finished == 0 and not kept_in(place.path):
            run_sweep(experiment, place, sweep_engine("processes"))

    with pytest.raises(InvalidInput, match="is being filled by another sweep"):
        run_sweep(experiment, place, engine, meanwhile)
    assert len(kept_in(place.path)) == 2
    assert len(place.batches()) == 1


@pytest.mark.parametrize("engine", ["spark", "processes"])
def test_the_command_sweeps_answers_and_says_what_comes_next(engine: str, tmp_path: Path) -> None:
    expect = "expect:\n  - {measure: committed, at_most: 1, because: it is late}\n"
    arguments = [
        "sweep", str(write_scenario(tmp_path, SCENARIO + expect)), "--out", str(tmp_path / "out"),
        "--axis", "isolation", "--set", "writers.corrector.count=1,3", "--replications", "2",
        "--engine", engine,
    ]  # fmt: skip
    result = CliRunner().invoke(cli.main, arguments)
    assert result.exit_code == ExitCode.FINE, result.output
    assert "4 cells x 2 replications = 8 runs" in result.output
    assert "job success rate of every writer group at least 99 %" in " ".join(result.output.split())
    assert "objectives, judged over replications:" in result.output
    assert "Who stops whom in " in result.output
    assert "missed: committed at most 1 (it is late): missed in 4 of 4 cells" in result.output
    assert "and 1 more" in result.output
    assert f"whitecap report {tmp_path / 'out'}" in result.output
    shown = json.loads(CliRunner().invoke(cli.main, [*arguments, "--json"]).stdout)
    answer = json.loads((tmp_path / "out" / "report" / "answer.json").read_text())
    assert shown["answer"] == answer
    assert shown["directory"] == str(tmp_path / "out")
    assert (shown["runs_finished"], shown["runs_planned"]) == (8, 8)
    cell = next(cell for cell in shown["cells"] if cell["name"] == answer["cell"])
    assert cell["labels"]["isolation"] in ("Serializable", "WriteSerializable")
    assert 0 < cell["measures"]["job_success_rate"]["mean"] <= 1
    assert cell["measures"]["goodput_per_minute"]["replications"] == 2
    changed = CliRunner().invoke(cli.main, [*arguments, "--seed", "6"])
    assert changed.exit_code == ExitCode.BAD_INPUT
    assert "seed: was 5, is now 6" in changed.output


def test_without_java_who_asks_for_spark_is_told_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "nowhere"))
    out = tmp_path / "out"
    result = CliRunner().invoke(
        cli.main, ["sweep", str(write_scenario(tmp_path)), "--out", str(out), "--engine", "spark"]
    )
    assert result.exit_code == ExitCode.ENVIRONMENT_MISSING
    assert "Java" in result.output


def test_an_interrupted_sweep_keeps_what_is_finished(tmp_path: Path) -> None:
    out = tmp_path / "out"
    longer = SCENARIO.replace("duration: 8 min", "duration: 90 min")
    command = [
        sys.executable, "-c", "from whitecap.cli import main; main()", "sweep",
        str(write_scenario(tmp_path, longer)), "--out", str(out), "--master", "local[1]",
        "--replications", "4",
    ]  # fmt: skip
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True)
    try:
        _wait_until(lambda: len(kept_in(out)) >= 2, process)
        os.kill(process.pid, signal.SIGINT)
        _, stderr = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 130, stderr
    assert "finished batches are kept" in stderr
    kept = rows_of(out)
    assert 2 <= len(kept) < 16


def _wait_until(condition: Any, process: Any, seconds: float = 150) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert process.poll() is None, process.stderr.read()
        assert time.monotonic() < end, "the sweep did not get anywhere"
        time.sleep(0.05)


def _swept(folder: Path, *options: str) -> Result:
    scenario = str(write_scenario(folder))
    words = ["sweep", scenario, "--out", str(folder / "out"), "--engine", "processes", *options]
    return CliRunner().invoke(cli.main, words)


def test_a_sweep_that_is_gone_on_with_says_how_much_of_it_is_there(tmp_path: Path) -> None:
    first = _swept(tmp_path, "--axis", "isolation", "--replications", "1")
    assert "there already" not in first.stderr
    again = _swept(tmp_path, "--axis", "isolation", "--replications", "1")
    assert "= 2 runs in " in again.stderr.splitlines()[0]
    assert again.stderr.splitlines()[1] == "2 of 2 runs are there already"


def test_a_place_of_another_sweep_is_refused_before_anything_is_said(tmp_path: Path) -> None:
    _swept(tmp_path, "--axis", "isolation", "--replications", "2")
    other = _swept(tmp_path, "--axis", "isolation", "--replications", "1")
    assert other.exit_code == ExitCode.BAD_INPUT
    assert other.stderr.startswith("error: ")
    assert "replications: was 2, is now 1" in other.stderr
