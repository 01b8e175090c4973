"""What no run can begin with is refused by name, with where the scenario says it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.inferring.synthetic_logs import LogOnDisk
from tests.real_table.beginnings import beginning_with, scenario_from
from whitecap.engine.errors import InvalidInput
from whitecap.sim.loading import parse_scenario
from whitecap.sim.scenario.yaml.text import show_document


def _refused(place: Path | str, **table: Any) -> str:
    with pytest.raises(InvalidInput) as raised:
        scenario_from(place, **table)
    return str(raised.value)


def test_a_directory_that_is_no_table(tmp_path: Path) -> None:
    said = _refused(tmp_path)
    assert said == f"real:5 table.from: {tmp_path}: is no Delta table: no commits in _delta_log"


def test_a_directory_that_is_not_there(tmp_path: Path) -> None:
    assert _refused(tmp_path / "none").endswith(f"{tmp_path / 'none'}: is not there")


def test_a_version_that_is_not_there(tmp_path: Path) -> None:
    log = LogOnDisk(tmp_path / "sales")
    log.append("2026-01-10")
    said = _refused(log.folder, version=7)
    assert said.endswith("has no version 7: its log holds versions 0 to 1")


def test_a_version_whose_past_is_cleaned_up(tmp_path: Path) -> None:
    log = LogOnDisk(tmp_path / "sales")
    for _ in range(3):
        log.append("2026-01-10")
    (log.log / f"{0:020d}.json").unlink()
    said = _refused(log.folder, version=2)
    assert said.endswith("version 2 cannot be read any more: no checkpoint up to it is left")


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("schema", "id BIGINT"),
        ("partition_by", ["id"]),
        ("cluster_by", ["id"]),
        ("exists", True),
        ("initial", {"rows": 5}),
    ],
)
def test_what_the_log_says_cannot_be_said_otherwise(tmp_path: Path, key: str, value: Any) -> None:
    log = LogOnDisk(tmp_path / "sales")
    log.append("2026-01-10")
    assert f"table.{key}: {key} is that of the table at {log.folder}" in _refused(
        log.folder, **{key: value}
    )


def test_a_sweep_cannot_say_it_otherwise_either(tmp_path: Path) -> None:
    log = LogOnDisk(tmp_path / "sales")
    log.append("2026-01-10")
    document = beginning_with(log.folder)
    document["sweep"] = {"axes": {"layout": {"none": {"table.partition_by": []}}}}
    with pytest.raises(InvalidInput, match="partition_by is that of the table") as raised:
        parse_scenario(show_document(document), "mine.yaml")
    assert "mine.yaml" in str(raised.value)


def test_values_of_other_columns_than_partitions(tmp_path: Path) -> None:
    log = LogOnDisk(tmp_path / "sales")
    log.append("2026-01-10")
    said = _refused(log.folder, values={"v": [1.0]})
    assert "values of 'v', which is no partition column, are not in the log" in said


@pytest.mark.parametrize("key", ["version", "rows_each"])
def test_keys_that_go_only_with_a_table(key: str, tmp_path: Path) -> None:
    document = beginning_with(tmp_path, **{"schema": "id BIGINT", key: 1})
    del document["table"]["from"]
    with pytest.raises(InvalidInput, match="goes only with from"):
        parse_scenario(show_document(document))


@pytest.mark.parametrize(
    ("features", "said"),
    [
        (["soundProof"], "has the table feature 'soundProof', which is not modelled"),
        (["catalogManaged"], "has the table feature 'catalogManaged': its catalog"),
    ],
)
def test_features_that_are_not_modelled(tmp_path: Path, features: list[str], said: str) -> None:
    log = LogOnDisk(tmp_path / "sales")
    protocol = {
        "minReaderVersion": 3, "minWriterVersion": 7, "readerFeatures": features,
        "writerFeatures": features,
    }  # fmt: skip
    log.commit("UPGRADE PROTOCOL", {"protocol": protocol})
    assert said in _refused(log.folder)


def test_partitions_whose_values_no_scenario_lists(tmp_path: Path) -> None:
    log = LogOnDisk(tmp_path / "sales", "id BIGINT, at TIMESTAMP", by=["at"])
    said = _refused(log.folder)
    assert "is partitioned by 'at', which is TIMESTAMP: values of partitions may be STRING" in said
