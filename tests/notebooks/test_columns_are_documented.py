"""`docs/reference/tables.md` names every column of every table that Python gives."""

from __future__ import annotations

import re
from pathlib import Path

import pandas as pd
import pytest
import yaml

import whitecap
from tests.sim.sim_worlds import document
from whitecap.engine.recorded import Measure
from whitecap.sim.recording.recording import SCHEMAS, schema_of

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "tables.md"

OF_A_SWEEP = (
    "measures", "runs", "exceptions", "differences", "tallies", "left_out", "hashes",
    "expectations",
)  # fmt: skip


def documented(heading: str) -> set[str]:
    """The names in code below a heading."""
    text = PAGE.read_text(encoding="utf-8")
    (section,) = re.findall(rf"^### {heading}\n(.*?)(?=^##|\Z)", text, re.MULTILINE | re.DOTALL)
    return set(re.findall(r"`([a-z_0-9]+)`", section))


@pytest.mark.parametrize("name", SCHEMAS)
def test_every_column_of_a_recording_is_documented(name: str) -> None:
    assert set(schema_of(name, tells_apart=True).names) <= documented(name)


@pytest.fixture(scope="module")
def sweep(tmp_path_factory: pytest.TempPathFactory) -> whitecap.Sweep:
    path = tmp_path_factory.mktemp("tables") / "small.yaml"
    expect = [{"measure": "committed", "at_least": 1}]
    path.write_text(yaml.safe_dump(document(duration="2 min", expect=expect)))
    axes = {"writers.loader.count": [1, 2]}
    return whitecap.sweep(path, axes=axes, replications=2, engine="processes", quiet=True)


def test_so_is_every_column_of_what_is_made_of_a_run(sweep: whitecap.Sweep) -> None:
    run = sweep.run(next(iter(sweep.cells)))
    assert set(run.summary.columns) <= documented("summary")
    assert set(run.refusals.columns) <= documented("refusals")


@pytest.mark.parametrize("name", OF_A_SWEEP)
def test_so_is_every_column_of_a_sweep(sweep: whitecap.Sweep, name: str) -> None:
    table: pd.DataFrame = getattr(sweep, name)
    columns = {each for each in table.columns if not each.startswith("axis_")}
    assert columns
    assert columns - (set(Measure) if name == "runs" else set()) <= documented(name)
