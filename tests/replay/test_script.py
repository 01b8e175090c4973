"""The order of a script's steps follows from read versions and versions of decision."""

from __future__ import annotations

import pytest

from whitecap.engine.errors import InvalidInput
from whitecap.sim.replay.playing.script import CommandPart, End, Planned, TransactionResult, steps
from whitecap.sim.replay.real.commands import Sql


def _planned(name: str, read: int, decided: int, version: int | None = None) -> Planned:
    return _of_parts(name, CommandPart(read, decided, version))


def _of_parts(name: str, *parts: CommandPart) -> Planned:
    version = parts[-1].version
    recorded = (
        TransactionResult(End.COMMITTED, version) if version else TransactionResult(End.ABORTED)
    )
    return Planned(name, Sql(f"-- {name}"), parts, recorded)


def _order(first: int, last: int, *planned: Planned) -> list[str]:
    return [f"{step.move} {step.name}".strip() for step in steps(planned, first, last)]


def test_a_loser_begins_before_the_winner_commits_and_ends_after_it() -> None:
    loser, winner = _planned("loser", 4, 5), _planned("winner", 4, 4, version=5)
    order = _order(4, 5, loser, winner)
    assert order == ["begin loser", "begin winner", "finish winner", "finish loser"]


def test_what_reads_a_version_begins_before_anything_ends_there() -> None:
    order = _order(0, 2, _planned("a", 0, 0, 1), _planned("late", 1, 1, 2), _planned("loser", 0, 1))
    assert order.index("begin late") < order.index("finish loser") < order.index("finish late")


def test_a_version_that_nobody_plays_is_put() -> None:
    order = _order(3, 6, _planned("a", 3, 4, 5))
    assert order == ["begin a", "put", "finish a", "put"]


def test_a_command_that_starts_again_does_so_where_it_was_refused() -> None:
    """Refused at version 5, it begins again there, after all others that read that version."""
    again = _of_parts("optimize", CommandPart(3, 5), CommandPart(5, 6))
    order = _order(3, 6, again, _planned("reader", 5, 5, 6))
    assert order == [
        "begin optimize",
        "put",
        "put",
        "begin reader",
        "finish optimize",
        "begin optimize",
        "finish reader",
        "finish optimize",
    ]


def test_others_commit_between_the_commits_of_one_command() -> None:
    vacuum = _of_parts("vacuum", CommandPart(0, 0, 1), CommandPart(1, 2, 3))
    order = _order(0, 3, vacuum, _planned("other", 1, 1, 2))
    assert order.index("finish vacuum") < order.index("finish other")
    assert order[-1] == "finish vacuum"


def test_every_contradiction_of_a_script_is_listed() -> None:
    with pytest.raises(InvalidInput) as raised:
        steps(
            [
                _planned("early", 5, 3),
                _planned("odd", 3, 3, version=6),
                _planned("twin", 5, 5, version=6),
                _planned("old", 1, 4),
                _planned("late", 3, 9),
            ],
            first=3,
            last=6,
        )
    text = str(raised.value)
    assert "early: decided at version 3, before its read version 5" in text
    assert "odd: commits version 6 but is decided at 3" in text
    assert "twin: commits version 6, as odd does" in text
    assert "old: reads version 1, before 3" in text
    assert "late: is decided at version 9, after 6" in text
