"""Sweeps made once per session, and the one Spark session that reads them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from synthetic_recordings import write_sweep

GRID = {
    "partitioning": ["unpartitioned", "by date", "by date and country"],
    "isolation": ["Serializable", "WriteSerializable"],
}


@pytest.fixture
def grid(tmp_path: Path) -> Path:
    """Six cells, three replications each."""
    return write_sweep(tmp_path / "grid", GRID, replications=3, minutes=20)


@pytest.fixture(scope="session")
def spark() -> Any:
    """The process's Spark session."""
    from whitecap.spark import aggregation_session

    return aggregation_session("local[2]")
