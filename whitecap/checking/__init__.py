"""Checking scenarios: `sim` runs them, `reports` judges what they recorded."""

from whitecap.checking.scenarios import (
    CheckedScenario,
    check_scenarios,
    check_sweep,
    checked_document,
    expected_by,
)

__all__ = [
    "CheckedScenario",
    "check_scenarios",
    "check_sweep",
    "checked_document",
    "expected_by",
]
