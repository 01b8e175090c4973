"""A run begins with exactly the files that a real table has, by its log alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.inferring.synthetic_logs import MONDAY_MS, LogOnDisk
from tests.real_table.beginnings import beginning_with, fingerprint, scenario_from
from tests.sim.sim_worlds import steps_of
from whitecap.engine.dialects import dialect_named
from whitecap.engine.errors import InvalidInput
from whitecap.engine.log.statistics import parse_statistics
from whitecap.sim.loading import load_scenario, scenario_of
from whitecap.sim.real_table.origins import REAL_TABLES, origins_of_tables
from whitecap.sim.run import run_scenario
from whitecap.sim.scenario.model import Scenario
from whitecap.sim.scenario.yaml.text import show_document
from whitecap.sim.time.random_streams import RandomStreams
from whitecap.sim.world import SimulatedWorld

VECTORS = {"delta.enableDeletionVectors": "true"}
VECTOR = {
    "storageType": "u", "pathOrInlineDv": "ab^-aqEH.-t@S}K{vb[*k^", "offset": 4,
    "sizeInBytes": 40, "cardinality": 300,
}  # fmt: skip


def _add(path: str, day: str | None, rows: int, **more: Any) -> dict[str, Any]:
    stats = {"numRecords": rows, **more.pop("stats", {})}
    return {
        "add": {
            "path": path,
            "partitionValues": {"day": day},
            "size": 1000 + rows,
            "modificationTime": MONDAY_MS,
            "dataChange": True,
            "stats": json.dumps(stats),
            **more,
        }
    }


def _ids(least: int, most: int) -> dict[str, Any]:
    bounds = {"minValues": {"id": least}, "maxValues": {"id": most}, "nullCount": {"id": 0}}
    return {"stats": bounds}


def _world(scenario: Scenario) -> SimulatedWorld:
    return SimulatedWorld.of(scenario, RandomStreams(scenario.seed, 0))


@pytest.fixture
def table(tmp_path: Path) -> LogOnDisk:
    """Three days, of which one has two files, and a file whose rows are partly deleted."""
    log = LogOnDisk(tmp_path / "sales", properties={**VECTORS, "delta.checkpointInterval": "7"})
    protocol = {
        "minReaderVersion": 3, "minWriterVersion": 7, "readerFeatures": ["deletionVectors"],
        "writerFeatures": ["appendOnly", "deletionVectors", "invariants"],
    }  # fmt: skip
    log.commit("UPGRADE PROTOCOL", {"protocol": protocol})
    log.commit("WRITE", _add("day=2026-01-10/a%20b.parquet", "2026-01-10", 1000, **_ids(0, 999)))
    log.commit("WRITE", _add("s3://other/c.parquet", "2026-01-11", 5000, **_ids(10, 90_000)))
    more = _ids(500, 80_000)
    log.commit("WRITE", _add("d.parquet", "2026-01-11", 1000, deletionVector=VECTOR, **more))
    log.commit("WRITE", _add("e.parquet", "2026-01-12", 200, **_ids(7, 7)))
    return log


def test_paths_sizes_partitions_and_bounds_are_those_of_the_log(table: LogOnDisk) -> None:
    world = _world(scenario_from(table.folder, key="id", rows_each=100))
    (landed,) = (world.tables[0].history.snapshot(1),)
    files = {file.path: file for file in landed.all_files()}
    assert list(files) == [
        "d.parquet", "day=2026-01-10/a%20b.parquet", "day=2026-01-11/000003-c.parquet", "e.parquet",
    ]  # fmt: skip
    assert [file.size for file in files.values()] == [2000, 2000, 6000, 1200]
    assert files["e.parquet"].partition_values == {"day": "2026-01-12"}
    statistics = parse_statistics(files["day=2026-01-11/000003-c.parquet"].stats)
    assert (statistics.num_records, statistics.min_values, statistics.max_values) == (
        50, {"id": 10}, {"id": 90_000},
    )  # fmt: skip
    vector = files["d.parquet"].deletion_vector
    assert vector is not None
    assert (vector.storage_type, vector.cardinality) == ("i", 3)


def test_its_layout_properties_log_and_start_are_the_tables(table: LogOnDisk) -> None:
    scenario = scenario_from(table.folder, key="id")
    begun = scenario.table
    assert begun is not None
    assert begun.columns == "id BIGINT, day DATE, v DOUBLE"
    assert begun.partition_by == ["day"]
    assert begun.properties == {
        **VECTORS,
        "delta.checkpointInterval": "7",
        "delta.feature.appendOnly": "supported",
        "delta.feature.deletionVectors": "supported",
        "delta.feature.invariants": "supported",
    }
    assert begun.values["day"].days == 3
    assert begun.log is not None
    assert begun.log.commits == table.version
    assert scenario.start_ms == MONDAY_MS + table.version * 60_000
    snapshot = _world(scenario).tables[0].history.snapshot(1)
    assert snapshot.protocol is not None
    assert snapshot.protocol.writer_features == ["appendOnly", "deletionVectors", "invariants"]


def test_what_a_scenario_says_goes_before_what_the_log_says(table: LogOnDisk) -> None:
    scenario = scenario_from(
        table.folder,
        key="id",
        isolation="Serializable",
        properties={"delta.checkpointInterval": 3},
        values={"day": ["2026-01-11"]},
        log={"commits": 9},
        bytes_per_row=5,
    )
    begun = scenario.table
    assert begun is not None
    assert begun.configuration()["delta.isolationLevel"] == "Serializable"
    assert begun.properties["delta.checkpointInterval"] == "3"
    assert begun.properties["delta.enableDeletionVectors"] == "true"
    assert begun.values["day"].among == ["2026-01-11"]
    assert begun.log is not None
    assert (begun.log.commits, begun.bytes_per_row) == (9, 5)


@pytest.mark.parametrize("spelling", ["serializable", "SERIALIZABLE", "Serializable"])
def test_a_level_is_read_in_any_case_as_delta_reads_it(tmp_path: Path, spelling: str) -> None:
    log = LogOnDisk(tmp_path / "sales", by=(), properties={"delta.isolationLevel": spelling})
    begun = scenario_from(log.folder, key="id").table
    assert begun is not None
    assert begun.isolation == "Serializable"


@pytest.mark.parametrize("level", ["SnapshotIsolation", "ReadCommitted"])
def test_a_level_that_no_scenario_has_is_named_as_left_out(tmp_path: Path, level: str) -> None:
    log = LogOnDisk(tmp_path / "sales", by=(), properties={"delta.isolationLevel": level})
    scenario = scenario_from(log.folder, key="id")
    assert scenario.table is not None
    assert scenario.table.isolation is None
    origins = origins_of_tables([scenario.table], dialect_named(scenario.dialect))
    (origin,) = origins[REAL_TABLES].values()
    said = "property delta.isolationLevel, whose value is not Serializable or WriteSerializable"
    assert origin["left_out"] == [said]


def test_rows_lie_between_the_bounds_of_their_file(table: LogOnDisk) -> None:
    world = _world(scenario_from(table.folder, key="id", rows_each=100))
    store = world.store
    files = list(world.tables[0].history.snapshot(1).all_files())
    assert files
    for file in files:
        statistics = parse_statistics(file.stats)
        rows = store.data_files[file.path.replace("%20", " ")].written.rows
        assert len(rows) == statistics.num_records
        keys = [row[0] for row in rows]
        assert statistics.min_values["id"] <= min(keys)
        assert max(keys) <= statistics.max_values["id"]
        assert {str(row[1]) for row in rows} == {(file.partition_values or {})["day"]}


def test_rows_that_are_not_thinned_out_have_every_key(table: LogOnDisk) -> None:
    world = _world(scenario_from(table.folder, key="id", rows_each=1))
    rows = world.store.data_files["day=2026-01-10/a b.parquet"].written.rows
    assert [row[0] for row in rows] == list(range(1000))


def test_a_statement_reads_the_files_whose_bounds_hold_its_key(table: LogOnDisk) -> None:
    """Key 600 lies within the bounds of three files, of which a deletion decides one."""
    document = beginning_with(table.folder, key="id", rows_each=1)
    document["writers"]["loader"]["statement"] = "DELETE FROM events WHERE id = 600"
    run = run_scenario(scenario_of(document))
    (deletion,) = (step for step in steps_of(run) if step.operation == "DELETE")
    assert (deletion.files_added, deletion.files_removed) == (1, 1)
    assert deletion.rows_added == -1


def test_writers_choose_keys_that_are_left(table: LogOnDisk) -> None:
    tables = _world(scenario_from(table.folder, key="id", rows_each=100)).tables
    (day,) = (d for d in tables[0].rows.dimensions if d.name == "day")
    of_day = [tables[0].keys.count((value,)) for value in day.initial]
    assert of_day == [10, 50 + 10 - 3, 2]
    assert tables[0].first_new_key == 90_001


def test_the_newest_version_is_pinned_and_told(table: LogOnDisk) -> None:
    scenario = scenario_from(table.folder, key="id")
    newest = table.version - 1
    assert scenario.document["table"]["version"] == newest
    manifest = run_scenario(scenario).recording.manifest
    (real_table,) = manifest["real_tables"].values()
    assert real_table["version"] == newest
    assert real_table["files"] == 4
    assert real_table["place"] == str(table.folder)
    table.commit("WRITE", _add("later.parquet", "2026-01-12", 10))
    again = run_scenario(scenario_of(scenario.document))
    assert again.recording.manifest["real_tables"]["events"] == real_table


def test_an_older_version_begins_with_its_own_files(table: LogOnDisk) -> None:
    scenario = scenario_from(table.folder, key="id", version=3)
    assert _world(scenario).tables[0].history.snapshot(1).num_files == 2


def test_the_same_scenario_seed_and_table_give_the_same_recording(table: LogOnDisk) -> None:
    document = beginning_with(table.folder, key="id")
    document["writers"]["loader"] |= {
        "statement": "UPDATE events SET v = v + 1.0 WHERE day = :day AND id IN (:keys)",
        "parameters": {"day": "uniform", "keys": {"keys": {"count": 2}}},
        "count": 3,
        "arrival": {"closed": {"think": "5 s"}},
    }
    first, second = (run_scenario(scenario_of(document)).recording for _ in range(2))
    assert first.manifest == second.manifest
    assert first.transactions.equals(second.transactions)
    assert first.manifest["counts"]["committed"] > 3


def test_nothing_is_written_to_the_table(table: LogOnDisk) -> None:
    before = fingerprint(table.folder)
    run_scenario(scenario_from(table.folder, key="id"))
    assert fingerprint(table.folder) == before


def test_a_relative_path_is_one_from_the_scenarios_file(table: LogOnDisk) -> None:
    file = table.folder.parent / "mine.yaml"
    file.write_text(show_document(beginning_with("sales", key="id")))
    assert load_scenario(file).document["table"]["from"] == str(table.folder)


def test_a_sweep_pins_the_tables_of_its_variants(table: LogOnDisk) -> None:
    document = beginning_with(table.folder, key="id", version=3)
    variants = {"then": {}, "now": {"table.from": str(table.folder)}}
    document["sweep"] = {"replications": 1, "axes": {"table": variants}}
    pinned = scenario_of(document).document["sweep"]["axes"]["table"]["now"]
    assert pinned["table.version"] == table.version - 1
    now = scenario_of(document, cell={"table": "now"})
    assert _world(now).tables[0].history.snapshot(1).num_files == 4


def test_a_password_in_a_uri_is_refused() -> None:
    with pytest.raises(InvalidInput, match="leave it to the environment") as raised:
        scenario_from("s3://me:secret@bucket/table")
    assert "secret" not in str(raised.value)
