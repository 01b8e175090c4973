"""Who misspells a name is told the one that was meant, and no other one for want of it."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from whitecap.cli import COMMANDS, main
from whitecap.engine.dialects import DIALECTS
from whitecap.engine.errors import nearest
from whitecap.engine.recorded import Measure
from whitecap.engine.spelling import likely_names
from whitecap.sim.bundled import all_bundled

MEASURES = list(Measure)
COLUMNS = ["order_id", "country", "status", "amount", "day", "updated_at"]
BUNDLED = sorted(each.stem for each in all_bundled())


@pytest.mark.parametrize(
    ("name", "names", "meant"),
    [
        ("contry", COLUMNS, "country"),
        ("orderid", COLUMNS, "order_id"),
        ("ADY", COLUMNS, "day"),
        ("s4", ["s3", "gcs", "azure"], "s3"),
        ("swep", COMMANDS, "sweep"),
        ("scenario", COMMANDS, "scenarios"),
        ("databricks-14.4", DIALECTS, "databricks-14.3"),
        ("oss", DIALECTS, "delta-oss-4.4"),
        ("conflicts", MEASURES, "conflict_rate"),
        ("p98_latency", MEASURES, "latency_p99_ms"),
        ("job_sucess", MEASURES, "job_success_rate"),
        ("vv", ["v", "id"], "v"),
    ],
)
def test_what_was_meant_is_named(name: str, names: list[str], meant: str) -> None:
    assert nearest(name, names) == meant


@pytest.mark.parametrize(
    ("name", "names"),
    [
        ("nowhere", BUNDLED),
        ("nope", BUNDLED),
        ("mine", BUNDLED),
        ("foo", COMMANDS),
        ("prod", COMMANDS),
        ("id", ["ts", "day"]),
        ("x", ["s", "t", "id"]),
        ("throughput", MEASURES),
        ("fabric", DIALECTS),
        ("", COLUMNS),
    ],
)
def test_what_is_another_name_is_answered_with_none(name: str, names: list[str]) -> None:
    assert likely_names(name, names) == []


def test_a_place_that_is_not_there_is_not_taken_for_a_bundled_scenario() -> None:
    result = CliRunner().invoke(main, ["check", "nowhere"])
    assert result.exit_code == 2
    assert "did you mean" not in result.stderr
