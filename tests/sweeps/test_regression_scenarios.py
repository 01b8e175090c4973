"""The regression scenarios that come with Whitecap: one per exception class.

That all are met is what the README's `whitecap check scenarios/regression` says, and its test.
"""

from __future__ import annotations

import pytest

from whitecap.engine.rules import ConflictException
from whitecap.scenarios import SCENARIOS
from whitecap.sim.loading import load_scenario

REGRESSION = sorted((SCENARIOS / "regression").rglob("*.yaml"))


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
