"""The regression scenarios that come along hold, and cover every exception class."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.outcomes import ConflictException
from scenarios import SCENARIOS
from sim.expectations import evaluate
from sim.run import run_scenario
from sim.scenario import load_scenario

REGRESSION = sorted((SCENARIOS / "regression").glob("*.yaml"))


@pytest.mark.parametrize("path", REGRESSION, ids=lambda path: path.stem)
def test_a_regression_scenario_is_as_it_expects(path: Path) -> None:
    scenario = load_scenario(path)
    results = evaluate(scenario.expect, run_scenario(scenario).recording)
    assert results
    assert [str(result) for result in results if not result.is_met] == []


def test_each_of_deltas_conflict_exceptions_has_a_scenario() -> None:
    expected = {e.exception for path in REGRESSION for e in load_scenario(path).expect}
    assert expected >= {exception.value for exception in ConflictException}
