"""The order of a script's steps follows from read versions and versions of decision."""

from __future__ import annotations

import pytest

from whitecap.engine.errors import InvalidInput
from whitecap.sim.replay.real_commands import Sql
from whitecap.sim.replay.script import End, Planned, Result, first_version, steps


def _planned(name: str, read: int, decided: int, version: int | None = None) -> Planned:
    recorded = Result(End.COMMITTED, version) if version else Result(End.ABORTED)
    return Planned(name, Sql(f"-- {name}"), read, decided, recorded)


def _order(*planned: Planned) -> list[str]:
    return [f"{step.move} {step.planned.name}" for step in steps(planned)]


def test_a_loser_begins_before_the_winner_commits_and_ends_after_it() -> None:
    loser, winner = _planned("loser", 4, 5), _planned("winner", 4, 4, version=5)
    assert _order(loser, winner) == ["begin loser", "begin winner", "finish winner", "finish loser"]


def test_what_reads_a_version_begins_before_anything_ends_there() -> None:
    order = _order(_planned("a", 0, 0, 1), _planned("late", 1, 1, 2), _planned("loser", 0, 1))
    assert order.index("begin late") < order.index("finish loser") < order.index("finish late")


def test_a_script_starts_at_the_oldest_version_that_is_read() -> None:
    assert first_version([_planned("a", 7, 8), _planned("b", 6, 6, 7)]) == 6


def test_every_contradiction_of_a_script_is_listed() -> None:
    with pytest.raises(InvalidInput) as raised:
        steps([_planned("early", 5, 3), _planned("odd", 3, 3, version=6)])
    text = str(raised.value)
    assert "early: decided at version 3, before its read version 5" in text
    assert "odd: commits version 6 but is decided at 3" in text
    assert "versions: the script makes [6], but should make [4]" in text
