"""Names that a recording holds stand in one place."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from whitecap.engine.recorded import COLUMNS_READ, RecordedOutcome
from whitecap.sim.recording import SCHEMAS

ROOT = Path(__file__).parents[2]


def _texts(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


@pytest.mark.parametrize("room", ["sim/replay", "reports", "whitecap/commands"])
def test_outcome_names_are_written_down_once(room: str) -> None:
    """As a text of its own, `in_flight` may stand only where the contract is."""
    for path in (ROOT / room).rglob("*.py"):
        assert RecordedOutcome.IN_FLIGHT.value not in _texts(path), path.relative_to(ROOT)


def test_what_reports_read_is_recorded() -> None:
    for table, columns in COLUMNS_READ.items():
        assert set(columns) <= set(SCHEMAS[table].names), table
