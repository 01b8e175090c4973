"""Random races: repeatable, sensible, and made small when one shows a difference."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from whitecap.engine.races.conformance.case import (
    CaseResult,
    CaseStatus,
    Entrant,
    StatementCase,
    load_cases,
)
from whitecap.engine.races.conformance.run import run_cases
from whitecap.sim.replay.drawing.layouts import LAYOUTS
from whitecap.sim.replay.drawing.races import PROPERTIES, SETTINGS, DrawnRace, draw_race
from whitecap.sim.replay.fuzz import FuzzedRace, Fuzzer, save_case


def test_a_race_depends_on_its_seed_and_number_alone() -> None:
    assert draw_race(3, 7).case() == draw_race(3, 7).case()
    assert draw_race(3, 7).case() != draw_race(3, 8).case()
    assert draw_race(4, 7).case() != draw_race(3, 7).case()


def _kind(entrant: Entrant) -> str:
    """The first word of a statement; no drawn race has a numbered write."""
    assert isinstance(entrant, str)
    return entrant.split()[0]


@pytest.mark.parametrize("seed", [1, 2])
def test_every_drawn_race_means_something_to_the_engine(seed: int) -> None:
    cases = [draw_race(seed, number).case() for number in range(60)]
    results = list(run_cases(cases))
    assert [r for r in results if r.status is not CaseStatus.PASSED] == []
    kinds = {_kind(case.current) for case in cases}
    assert kinds >= {"INSERT", "DELETE", "UPDATE", "MERGE", "OPTIMIZE"}


def test_races_are_drawn_in_every_shape() -> None:
    drawn = [draw_race(1, number) for number in range(300)]
    assert {len(race.winners) for race in drawn} == {1, 2, 3}
    assert {race.overlapping for race in drawn if len(race.winners) > 1} == {False, True}
    assert {race.rerun for race in drawn} == {False, True}
    assert {len(race.before) for race in drawn} == {0, 1, 2}
    assert {race.waits_at for race in drawn} == {1, 2, 3}
    assert {race.layout.name for race in drawn} == {layout.name for layout in LAYOUTS}
    properties = {key for race in drawn for key in race.properties}
    assert properties >= {key for each in PROPERTIES for key in each}
    settings = {key for race in drawn for key in race.settings}
    assert settings >= {key for each in SETTINGS for key in each}


class _Pretended(Fuzzer):
    """Instead of racing: a race differs as long as it has a DELETE winner and its second file."""

    def __init__(self, wanted: Any) -> None:
        self._wanted = wanted

    def play(self, drawn: DrawnRace) -> FuzzedRace:
        deletes = any(each.text.startswith("DELETE") for each in drawn.winners)
        differs = deletes and self._wanted in drawn.files
        status = CaseStatus.FAILED if differs else CaseStatus.PASSED
        case = drawn.case()
        return FuzzedRace(case, CaseResult(case.id, status))


def test_a_difference_is_shrunk_to_the_parts_that_it_takes() -> None:
    drawn = next(
        race
        for race in (draw_race(1, number) for number in range(200))
        if len(race.winners) == 2
        and race.properties
        and race.layout.name != "unpartitioned"
        and sum(each.text.startswith("DELETE") for each in race.winners) == 1
    )
    fuzzer = _Pretended(drawn.files[1])
    smallest = fuzzer.shrink(drawn, fuzzer.play(drawn)).case
    assert [_kind(each) for each in smallest.winners] == ["DELETE"]
    assert smallest.winners == ["DELETE FROM target"]
    assert smallest.tables["target"].files == [drawn.files[1]]
    assert smallest.tables["target"].properties == {}


def test_a_saved_case_is_one_that_the_conformance_command_reads(tmp_path: Path) -> None:
    case = replace(draw_race(1, 1).case(), expect={"current": "committed"})
    (again,) = load_cases(save_case(case, tmp_path / "found"))
    assert again == case


class _Session:
    """A session that answers, or not."""

    def __init__(self, answers: bool) -> None:
        self._answers = answers

    def range(self, _: int) -> Any:
        return self

    def count(self) -> int:
        if not self._answers:
            raise ConnectionError("the session is gone")
        return 1


class _Troubled(Fuzzer):
    """Whose races cannot be played."""

    def __init__(self, trouble: Exception, answers: bool = True) -> None:
        self._trouble = trouble
        self._spark: Any = _Session(answers)

    def observed(self, case: StatementCase) -> StatementCase:
        raise self._trouble


def test_a_race_that_cannot_be_played_is_skipped_with_the_reason() -> None:
    finding = _Troubled(RuntimeError("no place")).play(draw_race(1, 1))
    assert finding.result.status is CaseStatus.SKIPPED
    assert "no place" in finding.result.reason


def test_a_session_that_is_gone_ends_the_fuzz() -> None:
    with pytest.raises(ConnectionError):
        _Troubled(RuntimeError("no place"), answers=False).play(draw_race(1, 1))


def test_an_interrupt_ends_the_fuzz_also_where_it_comes_as_another_error() -> None:
    trouble = RuntimeError("gateway")
    trouble.__context__ = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        _Troubled(trouble).play(draw_race(1, 1))
