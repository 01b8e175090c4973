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


KEYS = (Path(__file__).parents[2] / "docs" / "scenario-keys.md").read_text()


def rows_of(part: str) -> str:
    """The table of a part on the page of all keys."""
    return KEYS.partition(f"\n## {part}\n")[2].partition("\n## ")[0]


@pytest.mark.parametrize("part", ["Store", "Client", "LogStore", "Limits"])
def test_keys_that_a_profile_brings_are_not_called_needed(part: str) -> None:
    assert "| needed |" not in rows_of(part).replace("| `profile` | text | needed |", "")
    assert "| in a profile |" in rows_of(part)


def test_keys_that_a_scenario_has_to_name_are_called_needed() -> None:
    assert "| `profile` | text | needed |" in rows_of("Store")
    assert "| needed |" in rows_of("WriterGroup")
    assert "| needed |" in rows_of("Uniform")
