"""Finding recorded runs, and refusing what is none with every problem at once."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from synthetic_recordings import transaction, write_run, write_sweep

from whitecap.engine.errors import InvalidInput
from whitecap.reports.runs import find_runs


def test_a_sweeps_cells_keep_the_order_of_its_definition(grid: Path) -> None:
    runs = find_runs(grid)
    assert list(runs.cells)[:3] == [
        "unpartitioned__Serializable", "unpartitioned__WriteSerializable", "by-date__Serializable",
    ]  # fmt: skip
    assert (len(runs.runs), runs.planned, runs.is_sweep) == (18, 18, True)


def test_unfinished_runs_are_counted_and_left_out(tmp_path: Path) -> None:
    root = write_sweep(tmp_path / "s", {"writers": ["2", "4"]}, 2, minutes=5)
    (root / "runs" / "4" / "1" / "manifest.json").unlink()
    runs = find_runs(root)
    assert (len(runs.runs), runs.planned) == (3, 4)


def test_one_run_is_a_set_of_one(tmp_path: Path) -> None:
    runs = find_runs(write_run(tmp_path / "any name", [transaction(0)]))
    assert (len(runs.runs), runs.is_sweep) == (1, False)


def test_a_directory_without_recordings_says_what_is_missing(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"neither a sweep's directory \(sweep.json\) nor"):
        find_runs(tmp_path)
    with pytest.raises(InvalidInput, match="no such directory"):
        find_runs(tmp_path / "absent")


def test_all_problems_of_all_runs_are_told_together(grid: Path) -> None:
    runs = sorted((grid / "runs" / "by-date__Serializable").iterdir())
    (runs[0] / "transactions.parquet").write_bytes(b"PAR1 no longer")
    (runs[1] / "transactions.parquet").unlink()
    manifest = json.loads((runs[2] / "manifest.json").read_text())
    manifest["tables"]["transactions"]["rows"] += 1
    del manifest["seed"]
    (runs[2] / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(InvalidInput) as caught:
        find_runs(grid)
    told = str(caught.value)
    for part in ("cannot be read as Parquet", "is missing", "has no 'seed'", "the manifest says"):
        assert part in told


def test_a_sweep_with_no_finished_run_is_refused(tmp_path: Path) -> None:
    root = write_sweep(tmp_path / "s", {"writers": ["2"]}, 1, minutes=5)
    (root / "runs" / "2" / "0" / "manifest.json").unlink()
    with pytest.raises(InvalidInput, match="no run of this sweep is finished"):
        find_runs(root)


def test_a_definition_that_is_none_is_refused(tmp_path: Path) -> None:
    (tmp_path / "sweep.json").write_text('{"cells": 3}')
    with pytest.raises(InvalidInput, match="is not a sweep's definition"):
        find_runs(tmp_path)


def test_a_table_whose_bytes_changed_since_is_refused(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", [transaction(1)], tables={"transactions": {"sha256": "00"}})
    with pytest.raises(InvalidInput, match="is not as it was recorded"):
        find_runs(run)
