"""The regression scenarios that come with Whitecap: all met, and one per exception class."""

from __future__ import annotations

from pathlib import Path

import pytest

from whitecap.engine.outcomes import ConflictException
from whitecap.scenarios import SCENARIOS
from whitecap.sim.regression import Verdict, check_scenario, find_scenarios
from whitecap.sim.scenario import load_scenario

REGRESSION = find_scenarios([SCENARIOS / "regression"])


@pytest.mark.parametrize("path", REGRESSION, ids=lambda path: path.stem)
def test_a_regression_scenario_is_met(path: Path) -> None:
    checked = check_scenario(path)
    assert checked.error is None
    assert [f"{each.subject} is {each.found}" for each in checked.misses] == []
    assert checked.verdict is Verdict.OK


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
