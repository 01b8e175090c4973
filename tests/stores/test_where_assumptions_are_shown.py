"""Who reads a result sees which figures of the store rest on assumptions."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.sim.sim_worlds import document
from whitecap.cli import main
from whitecap.reports.provenance import stores_of


def _scenario(folder: Path, store: object) -> Path:
    path = folder / "scenario.yaml"
    path.write_text(json.dumps(document(store=store, duration="3 min")))
    return path


def _said(*arguments: str) -> str:
    result = CliRunner(env={"COLUMNS": "80"}).invoke(main, arguments)
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.fixture
def recorded(tmp_path: Path) -> tuple[Path, str]:
    """A run on a store that the scenario changed, and what was printed of it."""
    path = _scenario(tmp_path, {"profile": "azure", "head": {"latency": "5 ms"}})
    return tmp_path / "out", _said("run", str(path), "--out", str(tmp_path / "out"))


def test_below_the_summary_of_a_run(recorded: tuple[Path, str]) -> None:
    words = " ".join(recorded[1].split())
    assert "store azure rests on assumptions: put_if_absent.at_key, put_if_absent.success" in words
    assert "store azure, set by the scenario: head." in words


def test_at_the_foot_of_the_page(recorded: tuple[Path, str]) -> None:
    _said("report", str(recorded[0]))
    page = (recorded[0] / "report" / "report.html").read_text()
    body, foot = page.split("<footer>")
    assert "store azure rests on assumptions: " in foot
    assert "put_if_absent.at_key assumes" in body
    assert "commits of one log do not wait for each other" in body


def test_nothing_is_said_of_a_store_without_assumptions(tmp_path: Path) -> None:
    assert "assumptions" not in _said("run", str(_scenario(tmp_path, "instant")))


def test_runs_on_several_stores_are_told_store_by_store() -> None:
    def manifest(profile: str, *given: str) -> dict[str, object]:
        assumptions = {"head": "as get"}
        store = {"profile": profile, "assumptions": assumptions, "set_by_scenario": list(given)}
        return {"store": store}

    stores = stores_of([manifest("s3"), manifest("gcs"), manifest("s3", "put"), {}])
    assert [(store.profile, store.set_by_scenario) for store in stores] == [
        ("gcs", ()),
        ("s3", ("put",)),
    ]
