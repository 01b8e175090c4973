"""A sweep on either engine is the same sweep; in processes it needs no Java and ends with them."""

from __future__ import annotations

import hashlib
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from errno import ENOSPC
from multiprocessing import active_children
from pathlib import Path

import pytest
from click.testing import CliRunner
from msgspec.structs import replace

import whitecap
from tests.sweeps.sweep_scenario import SCENARIO, kept_in, rows_of, write_scenario
from whitecap import until
from whitecap.cli import main
from whitecap.engine.errors import InvalidInput
from whitecap.exit_codes import ExitCode
from whitecap.options.engine import ENGINES
from whitecap.sim.machine import processes
from whitecap.sim.machine.processes import at_a_time
from whitecap.sim.recording.dataset.local import LocalPlace
from whitecap.sim.recording.dataset.place import recorded_run
from whitecap.sim.replay.real.environment import EnvironmentMissing
from whitecap.sim.sweeps.batches import TASKS_PER_SLOT
from whitecap.sim.sweeps.engines import SweepEngineName, engine_asked_for, engine_found
from whitecap.sim.sweeps.experiment import load_experiment
from whitecap.sim.sweeps.in_processes import InProcesses
from whitecap.sim.sweeps.sweep_job import Progress, run_sweep
from whitecap.sweep_engine import sweep_engine

WITH_PROCESSES_AT_ONCE = """
from whitecap.cli import main
from whitecap.sim.machine import processes
processes.HERE_S = -1
main()
"""

INTERRUPTED_IN_ITS_SECOND_BATCH = """
import os, signal, threading
from whitecap.sim.sweeps import sweep_job
next_batch = sweep_job.next_batch
def interrupted(pending, seconds, slots, last):
    if last is not None:
        threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
    return next_batch(pending, seconds, slots, last)
sweep_job.next_batch = interrupted
"""
"""From within: who looks from outside may be kept waiting until the sweep has ended."""

PLAIN_SCRIPT = """
import sys
import whitecap
from whitecap.sim.machine import processes
processes.HERE_S = -1
swept = whitecap.sweep(sys.argv[1], engine="processes", out=sys.argv[2], quiet=True)
print(len(swept.runs))
"""
"""Without the `if __name__ == "__main__"` that spawned processes otherwise ask of a script."""


@pytest.fixture
def long(monkeypatch: pytest.MonkeyPatch) -> None:
    """Processes are started at once, as if the sweep were a long one."""
    monkeypatch.setattr(processes, "HERE_S", -1)


def _digests(root: Path) -> dict[str, str]:
    """Every file but the recordings, which each engine cuts into files as it likes."""
    files = (path for path in root.rglob("*") if path.is_file() and "recordings" not in path.parts)
    return {
        path.relative_to(root).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in files
    }


@pytest.mark.spark
@pytest.mark.usefixtures("long")
def test_rows_are_the_same_and_tables_answer_and_page_byte_for_byte(tmp_path: Path) -> None:
    scenario = write_scenario(tmp_path)
    for engine in SweepEngineName:
        whitecap.sweep(scenario, engine=engine, out=tmp_path / engine / "out", quiet=True)
        whitecap.report(tmp_path / engine / "out", engine=engine)
    on_spark, in_processes = (_digests(tmp_path / engine / "out") for engine in SweepEngineName)
    assert on_spark == in_processes
    assert rows_of(tmp_path / "spark" / "out") == rows_of(tmp_path / "processes" / "out")
    assert {"report/answer.json", "report/report.html", "report/tables/runs.csv"} <= set(on_spark)
    assert len(kept_in(tmp_path / "spark" / "out")) == 8


@pytest.mark.spark
def test_rounds_until_a_number_is_known_after_a_warm_up_that_is_found_are_the_same(
    tmp_path: Path,
) -> None:
    """The second round is made of one replication more; MSER-5 looks at all cells together."""
    scenario = write_scenario(tmp_path, SCENARIO.replace("warm_up: 2 min", "warm_up: auto"))
    warm_ups = {}
    for engine in SweepEngineName:
        out = tmp_path / engine / "out"
        swept = whitecap.sweep(
            scenario, only={"isolation": []}, until="latency_p95_ms +- 0.001 %",
            max_replications=11, engine=engine, out=out, quiet=True,
        )  # fmt: skip
        assert [each.is_met for each in swept.answer.reached] == [False]
        whitecap.report(out, engine=engine)
        warm_ups[engine] = swept.answer.document["warm_up"]
    on_spark, in_processes = (_digests(tmp_path / engine / "out") for engine in SweepEngineName)
    assert on_spark == in_processes
    assert rows_of(tmp_path / "spark" / "out") == rows_of(tmp_path / "processes" / "out")
    assert len(kept_in(tmp_path / "spark" / "out")) == 22
    assert warm_ups[SweepEngineName.SPARK] == warm_ups[SweepEngineName.PROCESSES]


@pytest.mark.spark
@pytest.mark.parametrize("begun", list(SweepEngineName))
def test_what_one_engine_began_the_other_finishes(begun: SweepEngineName, tmp_path: Path) -> None:
    (other,) = set(SweepEngineName) - {begun}
    experiment = load_experiment(write_scenario(tmp_path), replications=1)
    run_sweep(experiment, LocalPlace(tmp_path / "whole"), sweep_engine(begun))
    part = replace(experiment, cells=experiment.cells[:3])
    run_sweep(part, LocalPlace(tmp_path / "out"), sweep_engine(begun))
    shutil.copy(tmp_path / "whole" / "sweep.json", tmp_path / "out")
    kept = kept_in(tmp_path / "out")
    run_sweep(experiment, LocalPlace(tmp_path / "out"), sweep_engine(other))
    assert rows_of(tmp_path / "out") == rows_of(tmp_path / "whole")
    assert kept.items() <= kept_in(tmp_path / "out").items()
    assert len(kept) == 3


def _without_java() -> dict[str, str]:
    named = {name: value for name, value in os.environ.items() if name != "JAVA_HOME"}
    return named | {"PATH": "/nowhere"}


def test_without_java_sweep_and_report_say_so_and_work(tmp_path: Path) -> None:
    out = str(tmp_path / "out")
    sweep = ("sweep", str(write_scenario(tmp_path)), "--out", out, "--axis", "isolation")

    def called(*arguments: str) -> tuple[int, str]:
        command = [sys.executable, "-m", "whitecap", *arguments]
        ended = subprocess.run(
            command, env=_without_java(), capture_output=True, text=True, check=False
        )
        return ended.returncode, ended.stderr

    code, said = called(*sweep)
    assert code == ExitCode.FINE, said
    assert said.count("in processes of this machine, without Spark: Java is not there") == 1
    assert len(kept_in(tmp_path / "out")) == 4
    code, said = called("report", out)
    assert (code, "Spark" in said) == (ExitCode.FINE, False), "the tables were there"
    shutil.rmtree(tmp_path / "out" / "report")
    code, said = called("report", out)
    assert (code, "without Spark: Java is not there" in said) == (ExitCode.FINE, True)
    code, said = called(*sweep, "--seed", "6", "--out", out + "2", "--engine", "spark")
    assert (code, "Java is not there. Install" in said) == (ExitCode.ENVIRONMENT_MISSING, True)


def test_a_sweep_in_processes_that_is_interrupted_keeps_what_is_finished_and_leaves_no_process(
    tmp_path: Path,
) -> None:
    out = tmp_path / "out"
    scenario = write_scenario(tmp_path, SCENARIO.replace("duration: 8 min", "duration: 30 min"))
    arguments = ["sweep", str(scenario), "--out", str(out), "--engine", "processes"]
    first_batch = TASKS_PER_SLOT * at_a_time()
    arguments += ["--replications", str(first_batch // 4 + 1)]
    script = INTERRUPTED_IN_ITS_SECOND_BATCH + WITH_PROCESSES_AT_ONCE
    # All processes write to one pipe, which ends with the last of them.
    ended = subprocess.run(
        [sys.executable, "-c", script, *arguments],
        stderr=subprocess.PIPE, text=True, start_new_session=True, timeout=300, check=False,
    )  # fmt: skip
    assert ended.returncode == ExitCode.INTERRUPTED, ended.stderr
    assert "finished batches are kept" in ended.stderr
    kept = kept_in(out)
    assert len(kept) == first_batch
    for name in kept:
        assert "interrupted" not in recorded_run(LocalPlace(out), name).manifest
    rest = CliRunner().invoke(main, arguments)
    assert rest.exit_code == ExitCode.FINE, rest.output
    assert kept.items() <= kept_in(out).items()
    assert len(kept_in(out)) == first_batch + 4


@pytest.mark.usefixtures("long")
def test_a_process_that_dies_ends_the_sweep_with_what_to_do(tmp_path: Path) -> None:
    longer = SCENARIO.replace("duration: 8 min", "duration: 600 min")
    experiment = load_experiment(write_scenario(tmp_path, longer), replications=3)
    before = set(active_children())

    def kill(_: Progress) -> None:
        for process in set(active_children()) - before:
            process.kill()

    with pytest.raises(EnvironmentMissing, match="A process that made runs of the sweep ended"):
        run_sweep(experiment, LocalPlace(tmp_path / "out"), sweep_engine("processes"), kill)


def test_a_plain_script_can_sweep_in_processes(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(PLAIN_SCRIPT)
    command = [sys.executable, str(script), str(write_scenario(tmp_path)), str(tmp_path / "out")]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (ended.stdout, ended.returncode) == ("8\n", 0), ended.stderr


def test_an_unknown_engine_is_answered_with_the_nearest(tmp_path: Path) -> None:
    scenario = write_scenario(tmp_path)
    with pytest.raises(InvalidInput, match=r"no engine 'sparc' \(did you mean 'spark'\?\)"):
        whitecap.sweep(scenario, engine="sparc", out=tmp_path / "out")
    result = CliRunner().invoke(main, ["sweep", str(scenario), "--engine", "sparc"])
    assert result.exit_code == ExitCode.BAD_INPUT
    assert "'sparc' is none of spark, processes (did you mean 'spark'?)" in result.output
    assert not (tmp_path / "out").exists()


def test_only_spark_has_a_master_and_who_names_one_asks_for_spark() -> None:
    assert engine_asked_for(None, "local[2]") is SweepEngineName.SPARK
    assert engine_asked_for(None, None) is None
    with pytest.raises(InvalidInput, match="master: 'local"):
        engine_asked_for("processes", "local[2]")


def test_the_command_line_knows_the_engines_that_there_are() -> None:
    assert tuple(SweepEngineName) == ENGINES


@pytest.mark.spark
def test_where_spark_is_it_is_the_engine() -> None:
    assert engine_found() == (SweepEngineName.SPARK, "")


class AskedOverAWire(InProcesses):
    """An engine that is interrupted while it is asked how far it is, and makes that an error."""

    pressed = 0

    def done(self) -> int:
        """As Py4J: its connection breaks."""
        self.pressed += 1
        try:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.01)
        except KeyboardInterrupt as error:
            raise RuntimeError("the connection is broken") from error
        return super().done()


def test_an_engine_is_not_interrupted_while_it_is_asked_how_far_it_is(tmp_path: Path) -> None:
    longer = SCENARIO.replace("duration: 8 min", "duration: 2 h")
    experiment = load_experiment(write_scenario(tmp_path, longer))
    engine = AskedOverAWire()
    with pytest.raises(KeyboardInterrupt):
        run_sweep(experiment, LocalPlace(tmp_path / "out"), lambda: engine)
    assert engine.pressed == 1
    assert len(kept_in(tmp_path / "out")) < 8
    for thread in threading.enumerate():
        if thread.name == "sweep":
            thread.join(60)  # or it computes beside the next tests, some of which count calls


def test_a_sweep_says_what_is_kept_whatever_a_library_made_of_the_interruption(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        try:
            raise KeyboardInterrupt
        except KeyboardInterrupt:
            raise RuntimeError("the connection is broken")  # noqa: B904 as Py4J, in a handler

    monkeypatch.setattr(until, "sweep_until", broken)
    arguments = ["sweep", str(write_scenario(tmp_path)), "--out", str(tmp_path / "out")]
    result = CliRunner().invoke(main, [*arguments, "--engine", "processes"])
    assert result.exit_code == ExitCode.INTERRUPTED
    assert "interrupted: finished batches are kept" in result.output


def test_a_full_disk_is_not_taken_for_too_little_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object) -> None:
        raise OSError(ENOSPC, "Error writing bytes to file. Detail: [errno 28] No space left")

    monkeypatch.setattr(InProcesses, "record", refused)
    experiment = load_experiment(write_scenario(tmp_path), replications=1)
    with pytest.raises(EnvironmentMissing) as missing:
        run_sweep(experiment, LocalPlace(tmp_path / "out"), InProcesses)
    said = "No space is left where the sweep is written. Finished batches are kept."
    assert str(missing.value) == said
