"""Regression scenarios, run and recorded."""

from __future__ import annotations

from pathlib import Path

from whitecap.sim.loading import load_scenario
from whitecap.sim.run import run_scenario

REGRESSION = Path(__file__).parents[2] / "scenarios" / "regression"


def record(name: str, out: Path, seed: int = 1) -> Path:
    """Record the scenario of that name in the directory `out`, which is returned."""
    run_scenario(load_scenario(REGRESSION / f"{name}.yaml"), seed=seed, out=out)
    return out
