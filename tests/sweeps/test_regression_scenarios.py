"""The regression scenarios that come with Whitecap: all met, and one per exception class."""

from __future__ import annotations

from pathlib import Path

import pytest

from whitecap.checking import check_scenarios
from whitecap.engine.rules import ConflictException
from whitecap.reports.expectations.checked import CheckVerdict
from whitecap.scenarios import SCENARIOS
from whitecap.sim.loading import load_scenario

REGRESSION = sorted((SCENARIOS / "regression").rglob("*.yaml"))


@pytest.mark.parametrize("path", REGRESSION, ids=lambda path: path.stem)
def test_a_regression_scenario_is_met(path: Path) -> None:
    (result,) = check_scenarios([path])
    assert result.checked.error is None
    assert [str(each) for _, each in result.checked.judged if not each.is_met] == []
    assert result.checked.verdict is CheckVerdict.OK


@pytest.mark.parametrize("exception", ConflictException)
def test_every_exception_class_is_provoked_by_a_regression_scenario(
    exception: ConflictException,
) -> None:
    expected = [each for path in REGRESSION for each in load_scenario(path).expect]
    provoked = [
        each
        for each in expected
        if each.exception == exception and ((each.equals or 0) > 0 or (each.at_least or 0) > 0)
    ]
    assert provoked
