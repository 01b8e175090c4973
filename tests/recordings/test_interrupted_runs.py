"""Ctrl-C during a run: what was recorded until then is kept, whole and marked."""

from __future__ import annotations

import gc
import json
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

import whitecap
from tests.sim.sim_worlds import document, scenario
from whitecap.cli import main
from whitecap.exit_codes import ExitCode
from whitecap.sim import tables_at_start
from whitecap.sim.machine.interruption import RunInterrupted
from whitecap.sim.recording.recording import read_recording
from whitecap.sim.replay.replay import simulate_again
from whitecap.sim.run import Tick, run_scenario
from whitecap.sim.table.initial_table import InitialTable, create_table
from whitecap.sim.world import SimulatedWorld

AT = 0.3


@pytest.fixture(autouse=True)
def no_collection() -> Iterator[None]:
    """What is raised while the collector calls back (hypothesis asks it to) is lost."""
    gc.disable()
    yield
    gc.enable()


def _press_at(share: float, times: int = 1, number: int = signal.SIGINT) -> Any:
    """Progress that presses Ctrl-C or sends another signal, once or several times in a row."""
    pressed = False

    def tick(now: Tick) -> None:
        nonlocal pressed
        if now.now_ms >= share * now.duration_ms and not pressed:
            pressed = True
            for _ in range(times):
                os.kill(os.getpid(), number)

    return tick


@contextmanager
def _handled(number: signal.Signals, handler: Any) -> Iterator[None]:
    """Let a signal be handled so meanwhile."""
    before = signal.signal(number, handler)
    try:
        yield
    finally:
        signal.signal(number, before)


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    with pytest.raises(RunInterrupted, match="is kept in"):
        run_scenario(scenario(), out=tmp_path / "run", progress=_press_at(AT))
    return tmp_path / "run"


def test_the_recording_is_whole_and_says_that_it_was_interrupted(kept: Path) -> None:
    manifest = read_recording(kept).manifest
    assert manifest["interrupted"] is True
    assert manifest["planned_duration_ms"] == 600_000
    assert AT * 600_000 <= manifest["duration_ms"] < 0.5 * 600_000
    assert manifest["counts"]["submitted"] > 10


def test_it_is_the_beginning_of_the_run_that_was_meant(kept: Path) -> None:
    part = whitecap.load(kept)
    whole = whitecap.run(document())
    end = part.recording.manifest["duration_ms"]
    began = whole.transactions[whole.transactions.submitted_at_ms < end]
    assert part.is_interrupted
    assert not whole.is_interrupted
    ended = began.ended_at_ms < end
    assert part.transactions.statement.tolist() == began.statement.tolist()
    assert part.transactions[ended.to_numpy()].astype(object).equals(began[ended].astype(object))
    assert set(part.transactions[~ended.to_numpy()].outcome) <= {"in_flight"}


def test_it_can_be_simulated_again_for_a_replay(kept: Path) -> None:
    recording = read_recording(kept)
    again = simulate_again(recording, "kept")
    assert again.recording.transactions.equals(recording.transactions)


def test_a_run_that_is_not_interrupted_is_not_marked(tmp_path: Path) -> None:
    run_scenario(scenario(), out=tmp_path / "run")
    assert "interrupted" not in read_recording(tmp_path / "run").manifest


def test_what_a_store_might_have_refused_is_made_again_up_to_the_interruption(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C comes before the requests of the last moments are held to the limits."""
    settle = SimulatedWorld.settle

    def pressed_before(world: SimulatedWorld) -> None:
        if not world.kernel.patient and world.recorder.submitted:
            os.kill(os.getpid(), signal.SIGINT)
        settle(world)

    monkeypatch.setattr(SimulatedWorld, "settle", pressed_before)
    limits = {"writes_per_s": 1, "reads_per_s": 1, "source": "me"}
    limited = scenario(store={"profile": "s3", "limits": limits})
    with pytest.raises(RunInterrupted):
        run_scenario(limited, out=tmp_path / "run")
    manifest = read_recording(tmp_path / "run").manifest
    assert manifest["interrupted"] is True
    assert manifest["counts"]["submitted"] > 0
    assert 0 < manifest["duration_ms"] < 600_000


def test_an_interruption_in_the_warm_up_measures_nothing(tmp_path: Path) -> None:
    with pytest.raises(RunInterrupted):
        run_scenario(scenario(warm_up="5 min"), out=tmp_path, progress=_press_at(0.1))
    run = whitecap.load(tmp_path)
    assert run.summary.submitted.sum() == 0
    assert len(run.transactions) > 0


def test_a_run_that_was_interrupted_in_its_warm_up_has_a_report(tmp_path: Path) -> None:
    """Its rates are of no time at all."""
    priced = scenario(warm_up="5 min", price={"per_slot_hour": 1, "currency": "EUR"})
    with pytest.raises(RunInterrupted):
        run_scenario(priced, out=tmp_path, progress=_press_at(0.1))
    whitecap.report(tmp_path)
    answer = json.loads((tmp_path / "report/answer.json").read_text())
    assert answer["headline"].startswith("Too few jobs to judge")


def test_without_a_place_to_keep_it_an_interruption_is_one_as_ever() -> None:
    with pytest.raises(KeyboardInterrupt) as raised:
        run_scenario(scenario(), progress=_press_at(AT))
    assert not isinstance(raised.value, RunInterrupted)


def test_a_ctrl_c_that_comes_twice_at_once_is_one(tmp_path: Path) -> None:
    """So does the one of `timeout -s INT 60 whitecap run ...`."""
    with pytest.raises(RunInterrupted):
        run_scenario(scenario(), out=tmp_path / "run", progress=_press_at(AT, times=2))
    assert read_recording(tmp_path / "run").manifest["interrupted"] is True


def test_it_holds_while_a_run_starts_again_whose_store_may_refuse(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tables = 0

    def pressing(*asked: Any) -> InitialTable:
        nonlocal tables
        tables += 1
        if tables == 2:
            os.kill(os.getpid(), signal.SIGINT)
        return create_table(*asked)

    monkeypatch.setattr(tables_at_start, "create_table", pressing)
    limited = scenario(store={"profile": "s3", "limits": {"writes_per_s": 2}})
    with pytest.raises(RunInterrupted):
        run_scenario(limited, out=tmp_path / "run")
    assert tables == 2
    assert read_recording(tmp_path / "run").manifest["interrupted"] is True


def test_a_second_ctrl_c_ends_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("whitecap.sim.machine.interruption.ECHO_S", 0.0)
    with pytest.raises(KeyboardInterrupt) as raised:
        run_scenario(scenario(), out=tmp_path / "run", progress=_press_at(AT, times=2))
    assert not isinstance(raised.value, RunInterrupted)
    assert not (tmp_path / "run").exists()


def test_afterwards_ctrl_c_is_what_it_was(tmp_path: Path) -> None:
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(RunInterrupted):
        run_scenario(scenario(), out=tmp_path / "run", progress=_press_at(AT))
    assert signal.getsignal(signal.SIGINT) is before


def test_somebodys_own_handling_of_sigterm_stays_where_ctrl_c_is_ignored(tmp_path: Path) -> None:
    own = []
    with (
        _handled(signal.SIGINT, signal.SIG_IGN),
        _handled(signal.SIGTERM, lambda *met: own.append(met)),
    ):
        run_scenario(
            scenario(), out=tmp_path / "run", progress=_press_at(AT, number=signal.SIGTERM)
        )
    assert len(own) == 1
    assert "interrupted" not in read_recording(tmp_path / "run").manifest


@pytest.mark.parametrize(
    ("number", "ctrl_c"),
    [
        (signal.SIGINT, signal.default_int_handler),
        (signal.SIGTERM, signal.default_int_handler),
        (signal.SIGTERM, signal.SIG_IGN),
    ],
    ids=["Ctrl-C", "SIGTERM", "SIGTERM in the background of a script"],
)
def test_the_command_says_what_is_kept_and_exits_130(
    number: int, ctrl_c: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A shell's background commands ignore Ctrl-C (POSIX, 2.11 Signals and Error Handling)."""

    @contextmanager
    def pressing(what: str, *, quiet: bool = False) -> Iterator[Any]:
        assert (what, quiet) == ("simulating", False)
        tick = _press_at(AT, number=number)
        yield lambda now, total, _: tick(Tick(now, total, 0))

    monkeypatch.setattr("whitecap.terminal.progress.progress", pressing)
    path = tmp_path / "small.yaml"
    path.write_text(yaml.safe_dump(document()))
    out = tmp_path / "run"
    with _handled(signal.SIGINT, ctrl_c):
        result = CliRunner().invoke(main, ["run", str(path), "--out", str(out)])
        assert signal.getsignal(signal.SIGINT) is ctrl_c
    assert result.exit_code == ExitCode.INTERRUPTED
    assert result.stdout == ""
    assert result.stderr.startswith("interrupted: what was recorded in the first 3")
    assert result.stderr.endswith(f"is kept in {out}\n")
    assert whitecap.load(out).is_interrupted
