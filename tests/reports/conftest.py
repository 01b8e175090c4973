"""Sweeps made once per session, and the one Spark session that reads them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.reports.synthetic_recordings import write_sweep
from whitecap.reports.runs import RunSet
from whitecap.sweep_engine import sweep_engine
from whitecap.sweep_places import recorded_runs

GRID = {
    "partitioning": ["unpartitioned", "by date", "by date and country"],
    "isolation": ["Serializable", "WriteSerializable"],
}


@pytest.fixture
def grid(tmp_path: Path) -> Path:
    """Six cells, three replications each."""
    return write_sweep(tmp_path / "grid", GRID, replications=3, minutes=20)


@pytest.fixture(scope="session")
def on_spark() -> Callable[[Path], RunSet]:
    """The runs of a place, to be measured by the process's Spark session."""
    return lambda root: recorded_runs(root, sweep_engine("spark", "local[2]"))
