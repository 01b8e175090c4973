"""Finding recorded runs, and refusing what is none with every problem at once."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.reports.synthetic_recordings import (
    add_run,
    recorded,
    remove_run,
    transaction,
    write_run,
    write_sweep,
)
from whitecap.engine.errors import InvalidInput
from whitecap.reports.aggregate import aggregate


def test_a_sweeps_cells_keep_the_order_of_its_definition(grid: Path) -> None:
    runs = recorded(grid)
    assert list(runs.cells)[:3] == [
        "unpartitioned__Serializable", "unpartitioned__WriteSerializable", "by-date__Serializable",
    ]  # fmt: skip
    assert (len(runs.runs), runs.planned, runs.is_sweep) == (18, 18, True)


def test_unfinished_runs_are_counted_and_left_out(tmp_path: Path) -> None:
    root = write_sweep(tmp_path / "s", {"writers": ["2", "4"]}, 2, minutes=5)
    remove_run(root, "4", 1)
    runs = recorded(root)
    assert (len(runs.runs), runs.planned) == (3, 4)


def test_one_run_is_a_set_of_one(tmp_path: Path) -> None:
    runs = recorded(write_run(tmp_path / "any name", [transaction(0)]))
    assert (len(runs.runs), runs.is_sweep) == (1, False)


def test_a_directory_without_recordings_says_what_is_missing(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"neither a sweep's directory \(sweep.json\) nor"):
        recorded(tmp_path)
    with pytest.raises(InvalidInput, match="no such directory"):
        recorded(tmp_path / "absent")
    (tmp_path / "file").touch()
    with pytest.raises(InvalidInput, match="is a file, and recordings are a directory"):
        recorded(tmp_path / "file")


def test_a_misspelt_directory_is_told_with_the_one_beside_it(tmp_path: Path) -> None:
    (tmp_path / "demo").mkdir()
    (tmp_path / "demos").touch()
    with pytest.raises(InvalidInput, match=r"no such directory \(did you mean '.*/demo'\?\)"):
        recorded(tmp_path / "dmo")
    with pytest.raises(InvalidInput, match=r"no such directory$"):
        recorded(tmp_path / "demos" / "dmo")


def test_all_problems_of_a_run_are_told_together(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", [transaction(0)])
    (run / "transactions.parquet").write_bytes(b"PAR1 no longer")
    (run / "writers.parquet").unlink()
    manifest = json.loads((run / "manifest.json").read_text())
    del manifest["seed"]
    manifest["labels"] = ["few"]
    (run / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(InvalidInput) as caught:
        recorded(run)
    message = str(caught.value)
    wrong = "is damaged: seed is missing; labels needs keys with values, not ["
    for part in ("cannot be read as Parquet", "writers.parquet: is missing", wrong):
        assert part in message


def test_a_table_with_other_rows_than_the_manifest_says_is_refused(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", [transaction(0)], tables={"transactions": {"rows": 2}})
    with pytest.raises(InvalidInput, match="holds 1 transactions, the manifest says 2"):
        recorded(run)


def test_rows_that_are_not_there_are_told_with_their_run(tmp_path: Path) -> None:
    root = write_sweep(tmp_path / "s", {"writers": ["2", "4"]}, 1, minutes=5)
    part = next(root.glob("recordings/batch=00001-made/table=transactions/*.parquet"))
    pq.write_table(pq.read_table(part, partitioning=None).slice(1), part)
    with pytest.raises(InvalidInput, match=r"transactions of cell 4, replication 0; recorded were"):
        aggregate(recorded(root))
    part.write_bytes(b"PAR1 no longer")
    with pytest.raises(InvalidInput, match="cannot be read as Parquet"):
        aggregate(recorded(root))


def test_what_a_batch_under_way_has_written_does_not_count(tmp_path: Path) -> None:
    root = write_sweep(tmp_path / "s", {"writers": ["2", "4"]}, 1, minutes=5)
    (root / "recordings" / "batch=00001-made" / "_SUCCESS").unlink()
    assert [run.cell for run in recorded(root).runs] == ["2"]


def test_a_run_that_lies_there_twice_is_refused(tmp_path: Path) -> None:
    root = write_sweep(tmp_path / "s", {"writers": ["2"]}, 1, minutes=5)
    add_run(root, "2", 0, [transaction(0)])
    with pytest.raises(InvalidInput, match="holds 1 runs twice, such as 0 of cell '2'"):
        recorded(root)


def test_a_sweep_with_no_finished_run_is_refused(tmp_path: Path) -> None:
    root = write_sweep(tmp_path / "s", {"writers": ["2"]}, 1, minutes=5)
    remove_run(root, "2", 0)
    with pytest.raises(InvalidInput, match="no run of this sweep is finished"):
        recorded(root)


def test_a_definition_that_is_none_is_refused(tmp_path: Path) -> None:
    (tmp_path / "sweep.json").write_text('{"cells": 3}')
    with pytest.raises(
        InvalidInput,
        match=r"sweep\.json: is damaged: scenario_name is .* cells needs a list, not 3",
    ):
        recorded(tmp_path)


def test_a_table_whose_bytes_changed_since_is_refused(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", [transaction(1)], tables={"transactions": {"sha256": "00"}})
    with pytest.raises(InvalidInput, match="is not as it was recorded"):
        recorded(run)
