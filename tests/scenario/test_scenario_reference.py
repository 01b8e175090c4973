"""The reference of scenario files mentions every key and every choice that there is."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.scenario.test_every_field_counts import _models
from whitecap.engine.recorded import Measure
from whitecap.sim.scenario.model import Scenario

REFERENCE = (Path(__file__).parents[2] / "docs" / "scenarios.md").read_text()
WORDS = set(re.findall(r"[\w-]+", REFERENCE))
SAID_OTHERWISE = {
    "columns": "schema",
    "real": "from",
    "copy_object": "copy",
    "source": "source",
    "points": "quantiles",
    "choose": "choose",
}


@pytest.mark.parametrize(
    "key",
    sorted({name for model in _models(Scenario, set()) for name in model.model_fields}),
)
def test_every_key_is_in_the_reference(key: str) -> None:
    assert SAID_OTHERWISE.get(key, key) in WORDS


@pytest.mark.parametrize("measure", sorted(Measure))
def test_every_measure_is_in_the_reference(measure: str) -> None:
    assert measure in WORDS
