"""The simulated table on disk is a Delta table that others open and agree on."""

from __future__ import annotations

from pathlib import Path

import pytest
from deltalake import DeltaTable

from tests.sim.sim_worlds import TABLE, ran, steps_of
from whitecap.engine.errors import InvalidInput
from whitecap.sim.run import FinishedRun
from whitecap.sim.table.export import MARK, export_table

TOUCH = {
    "eraser": {
        "statement": "DELETE FROM events WHERE date = :date AND event_id IN (:keys)",
        "parameters": {"date": "uniform", "keys": {"keys": {"count": 3}}},
        "arrival": {"schedule": {"every": "40 s"}},
    },
    "corrector": {
        "statement": "UPDATE events SET amount = amount + 1 WHERE country = :country",
        "parameters": {"country": "uniform"},
        "arrival": {"schedule": {"every": "50 s", "offset": "20 s"}},
    },
    "loader": {
        "statement": "INSERT INTO events VALUES :rows",
        "parameters": {"date": "newest", "rows": {"rows": {"count": 5}}},
        "arrival": {"schedule": {"every": "30 s", "offset": "5 s"}},
    },
}


@pytest.fixture(scope="module")
def run() -> FinishedRun:
    return ran(writers=TOUCH)


def test_deltalake_reads_the_rows_that_the_simulation_says_are_there(
    run: FinishedRun, tmp_path: Path
) -> None:
    version = export_table(run.world.store, tmp_path / "t", data=True)
    table = DeltaTable(tmp_path / "t")
    assert table.version() == version == steps_of(run)[-1].version
    assert table.to_pyarrow_table().num_rows == steps_of(run)[-1].live_rows
    assert len(table.file_uris()) == steps_of(run)[-1].live_files


@pytest.mark.parametrize("version", [0, 1, 7])
def test_an_earlier_version_can_be_exported(run: FinishedRun, tmp_path: Path, version: int) -> None:
    export_table(run.world.store, tmp_path / "t", version=version, data=True)
    table = DeltaTable(tmp_path / "t")
    assert table.version() == version
    assert table.to_pyarrow_table().num_rows == steps_of(run)[version].live_rows


def test_every_version_of_an_export_can_be_read(run: FinishedRun, tmp_path: Path) -> None:
    export_table(run.world.store, tmp_path / "t", data=True)
    for step in steps_of(run)[1:12]:
        table = DeltaTable(tmp_path / "t", version=step.version)
        assert table.to_pyarrow_table().num_rows == step.live_rows


def test_without_data_the_log_is_the_simulations_byte_for_byte(
    run: FinishedRun, tmp_path: Path
) -> None:
    export_table(run.world.store, tmp_path / "t")
    for file in (tmp_path / "t" / "_delta_log").iterdir():
        assert file.read_bytes() == run.world.store.objects[f"_delta_log/{file.name}"].body
    assert {path.name for path in (tmp_path / "t").iterdir()} == {"_delta_log", MARK}


def test_deletion_vectors_are_exported(tmp_path: Path) -> None:
    from whitecap.engine.session.table import Table
    from whitecap.engine.storage.disk.directory import DirectoryStore
    from whitecap.engine.storage.memory import run as run_now

    table = {**TABLE, "properties": {"delta.enableDeletionVectors": True}}
    run = ran(table=table, writers=TOUCH)
    version = export_table(run.world.store, tmp_path / "t", data=True)
    snapshot = run_now(Table("t").latest(), DirectoryStore(tmp_path / "t"))
    assert snapshot.version == version
    assert any(file.deletion_vector for file in snapshot.all_files())
    stored = {f.deletion_vector.storage_type for f in snapshot.all_files() if f.deletion_vector}
    if "u" in stored:
        assert list((tmp_path / "t").glob("deletion_vector_*.bin"))


def test_a_directory_that_holds_something_is_left_alone(run: FinishedRun, tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("precious")
    with pytest.raises(InvalidInput, match="left alone"):
        export_table(run.world.store, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


def test_a_version_that_the_table_never_had_is_bad_input(run: FinishedRun, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="versions 0 to"):
        export_table(run.world.store, tmp_path / "t", version=10_000)
    assert not (tmp_path / "t").exists()
