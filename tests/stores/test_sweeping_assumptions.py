"""What a profile takes for granted can be swept, and the answer then says how much hangs on it."""

from __future__ import annotations

import json
from pathlib import Path

from click.testing import CliRunner

from tests.sim.sim_worlds import INSERT, document
from whitecap.cli import main

AT_KEY = "store.put_if_absent.at_key.success"


def _swept(tmp_path: Path, *arguments: str) -> dict[str, float]:
    """Retries per cell of eight writers on Azure."""
    crowd = {**INSERT, "count": 8, "compute": "100 ms", "arrival": "closed"}
    plain = document(store="azure", writers={"crowd": crowd}, duration="60 s")
    (tmp_path / "scenario.yaml").write_text(json.dumps(plain))
    command = ["sweep", str(tmp_path / "scenario.yaml"), "--out", str(tmp_path / "out"), "--json"]
    chosen = ["--engine", "processes", "--replications", "2", *arguments]
    result = CliRunner().invoke(main, [*command, *chosen])
    assert result.exit_code == 0, result.output
    shown = json.loads(result.stdout)
    assert shown["stores"][0]["set_by_scenario"] == ["put_if_absent.at_key"]
    return {
        cell["labels"][AT_KEY]: cell["measures"]["goodput_per_minute"]["mean"]
        for cell in shown["cells"]
    }


def test_the_queue_of_a_store_without_measurements_is_an_axis(tmp_path: Path) -> None:
    goodput = _swept(tmp_path, "--set", f"{AT_KEY}=0 ms,500 ms")
    assert goodput["500 ms"] < 0.9 * goodput["0 ms"]
