"""`whitecap fuzz`: how long it races, and that it does not pass without having compared."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from whitecap.cli import main
from whitecap.engine.races.conformance.case import CaseResult, CaseStatus, StatementCase
from whitecap.exit_codes import ExitCode
from whitecap.sim.replay import fuzz as fuzzing
from whitecap.sim.replay.drawing.races import draw_race
from whitecap.sim.replay.fuzz import FuzzedRace, fuzz


class Clock:
    """Says how late it is; a race takes ten seconds."""

    def __init__(self) -> None:
        self.now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


class Races:
    """In the place of the fuzzer: every race takes ten seconds and ends as it is told."""

    def __init__(self, clock: Clock, status: CaseStatus = CaseStatus.PASSED) -> None:
        self.clock, self.status = clock, status

    def play(self, drawn: Any) -> FuzzedRace:
        self.clock.now_s += 10
        case: StatementCase = drawn.case()
        return FuzzedRace(case, CaseResult(case.id, self.status, (), reason="as told"))


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """A session takes three minutes to start."""
    clock = Clock()

    def started(*_: object) -> object:
        clock.now_s += 180
        return object()

    monkeypatch.setattr(fuzzing, "delta_session", started)
    return clock


def test_the_minutes_begin_with_the_first_race(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fuzzing, "Fuzzer", lambda *_: Races(clock))
    assert len(list(fuzz(1, seed=1, clock=clock))) == 6


def _fuzz(monkeypatch: pytest.MonkeyPatch, *statuses: CaseStatus, out: Path) -> Result:
    def races(*_: object, **__: object) -> Iterator[FuzzedRace]:
        for status in statuses:
            yield Races(Clock(), status).play(draw_race(1, 0))

    monkeypatch.setattr(fuzzing, "fuzz", races)
    return CliRunner().invoke(main, ["fuzz", "--minutes", "1", "--out", str(out)])


def test_races_that_agree_are_fine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    result = _fuzz(monkeypatch, CaseStatus.PASSED, CaseStatus.SKIPPED, out=tmp_path)
    assert result.exit_code == ExitCode.FINE, result.output
    assert "1 races agree, 0 differ, 1 skipped" in result.output


@pytest.mark.parametrize("statuses", [(), (CaseStatus.SKIPPED,)])
def test_nothing_compared_is_not_fine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, statuses: tuple[CaseStatus, ...]
) -> None:
    result = _fuzz(monkeypatch, *statuses, out=tmp_path)
    assert result.exit_code == ExitCode.NOTHING_COMPARED, result.output
    assert "nothing was compared" in result.output


def test_no_time_at_all_is_bad_input(tmp_path: Path) -> None:
    result = CliRunner().invoke(main, ["fuzz", "--minutes", "0", "--out", str(tmp_path)])
    assert result.exit_code == ExitCode.BAD_INPUT
