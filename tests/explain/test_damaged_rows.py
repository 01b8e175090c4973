"""An engine that commits over what another moved: nobody is aborted, and rows are wrong."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import whitecap
from whitecap.cli import main
from whitecap.explaining import Explained
from whitecap.reports.pages.explanation_page import explanation_part

EVENTS = """
name: events
schema: "id BIGINT, amount DOUBLE"
files:
  - - {id: 1, amount: 1.0}
  - - {id: 3, amount: 2.0}
"""
OPTIMIZE = "OPTIMIZE events"
OVERWRITE = "INSERT OVERWRITE events VALUES (9, 9.0)"
SIDE_BY_SIDE = ["side by side, A commits first", "side by side, B commits first"]


def explained(a: str, b: str, dialect: str = "delta-rs-1.6.6") -> Explained:
    return whitecap.explain(EVENTS, a, b, dialect=dialect)


def asked(directory: Path, *arguments: str) -> Result:
    table = directory / "events.yaml"
    table.write_text(EVENTS)
    command = ["explain", "--table", str(table), *arguments, "--dialect", "delta-rs-1.6.6"]
    return CliRunner().invoke(main, command)


def test_two_compactions_that_double_rows_do_not_end_well() -> None:
    explanation = explained(OPTIMIZE, OPTIMIZE)
    assert explanation.answer == "Nothing is aborted, but side by side rows are doubled."
    assert not explanation.can_conflict
    document = explanation.as_dict()
    assert [each["order"] for each in document["damage"]] == SIDE_BY_SIDE
    assert [row["id"] for row in document["damage"][0]["doubled"]] == [1, 3]
    assert document["damage"][0]["returned"] == []
    assert document["otherwise"] == "Run them one after the other."


@pytest.mark.parametrize("erasing", [OVERWRITE, "DELETE FROM events"])
def test_rows_that_a_compaction_brings_back_are_told_beside_the_conflict(erasing: str) -> None:
    explanation = explained(OPTIMIZE, erasing)
    assert explanation.can_conflict
    assert explanation.answer.endswith(
        " In other orders nothing is aborted, but side by side rows come back."
    )
    (damage,) = explanation.damage
    assert damage.doubled == ()
    assert damage.text == "back again: (id 1, amount 1.0), (id 3, amount 2.0)"
    assert explanation.as_dict()["otherwise"] == "Run them one after the other."


@pytest.mark.parametrize("dialect", ["delta-rs-1.6.3", "delta-oss-4.4"])
def test_engines_that_look_who_removed_a_file_damage_nothing(dialect: str) -> None:
    assert explained(OPTIMIZE, OPTIMIZE, dialect).damage == ()
    assert explained(OPTIMIZE, OVERWRITE, dialect).damage == ()


def test_what_removes_no_file_twice_damages_nothing() -> None:
    assert explained(OPTIMIZE, "INSERT INTO events VALUES (1, 1.0)").answer == (
        "They cannot conflict: both end well in every order."
    )


def test_damage_is_seen_in_the_terminal_on_the_page_and_by_the_exit_code(tmp_path: Path) -> None:
    result = asked(tmp_path, OPTIMIZE, OPTIMIZE, "--fail-on-conflict")
    assert result.exit_code == 1
    terminal = " ".join(result.stdout.split())
    assert f"{SIDE_BY_SIDE[0]}: doubled: (id 1, amount 1.0), (id 3, amount 2.0)" in terminal
    page = explanation_part(explained(OPTIMIZE, OPTIMIZE).as_dict())
    assert 'class="answer conflict"' in page
    assert "doubled: (id 1, amount 1.0)" in page
