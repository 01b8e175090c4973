"""Names that a recording holds stand in one place, and cover what the engine and simulator do."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from whitecap.engine.recorded import (
    COLUMNS_READ,
    EXCEPTIONS,
    OTHER_REFUSALS,
    REFUSED_BY_DELTA,
    Interruption,
    RecordedOutcome,
)
from whitecap.engine.rules import Rule
from whitecap.sim.recording.recording import SCHEMAS

ROOT = Path(__file__).parents[2]
EXCEPTION = re.compile(r"[A-Z]\w+(?:Exception|Error)")


def _texts(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def _raised() -> set[str]:
    """What the engine names anywhere but in the list itself."""
    paths = [path for path in (ROOT / "engine").rglob("*.py") if path.stem != "recorded"]
    return {text for path in paths for text in _texts(path) if EXCEPTION.fullmatch(text)}


def test_every_exception_that_the_engine_names_can_be_expected() -> None:
    assert _raised() <= EXCEPTIONS


def test_no_exception_is_listed_that_the_engine_never_raises() -> None:
    assert _raised() >= OTHER_REFUSALS


@pytest.mark.parametrize("rule", Rule)
def test_a_rule_of_the_conflict_check_is_decided_somewhere(rule: Rule) -> None:
    rooms = (ROOT / "engine" / room for room in ("conflicts", "row_level", "transaction"))
    checks = "".join(path.read_text() for room in rooms for path in room.rglob("*.py"))
    assert f"Rule.{rule.name}" in checks


@pytest.mark.parametrize("room", ["sim", "reports", "whitecap/commands"])
def test_outcome_names_are_written_down_once(room: str) -> None:
    """As a text of its own, `in_flight` may stand only where the contract is."""
    for path in (ROOT / room).rglob("*.py"):
        assert RecordedOutcome.IN_FLIGHT.value not in _texts(path), path.relative_to(ROOT)


@pytest.mark.parametrize("cut_off", Interruption)
def test_an_interruption_says_its_rule_and_its_words_where_it_is_defined(
    cut_off: Interruption,
) -> None:
    assert Interruption.of_rule(cut_off.rule) is cut_off
    assert cut_off.not_replayed == f"{cut_off.happened}, which is not replayed"
    assert cut_off.rule not in {*Rule, REFUSED_BY_DELTA}
    assert cut_off.happened


def test_a_rule_that_is_no_interruption_is_none() -> None:
    assert {Interruption.of_rule(rule) for rule in (None, REFUSED_BY_DELTA, *Rule)} == {None}


def test_what_reports_read_is_recorded() -> None:
    for table, columns in COLUMNS_READ.items():
        assert set(columns) <= set(SCHEMAS[table].names), table
