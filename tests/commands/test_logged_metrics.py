"""What commitInfo counts of a write, as Delta 4.4.0 counts it."""

from __future__ import annotations

import pytest

from tests.commands.sql_database import Database
from whitecap.engine.commands import Batch, run_batch
from whitecap.engine.outcomes import Committed
from whitecap.engine.storage.memory import run


@pytest.mark.parametrize(
    ("batch", "metrics"),
    [
        (Batch("q", 0, [(6, 60), (6, 61)]), {"numAddedFiles": "1", "numOutputRows": "2"}),
        (Batch("q", 0, [(6, 60)], complete=True), {"numAddedFiles": "1", "numRemovedFiles": "3"}),
        (Batch("q", 0, []), {"numAddedFiles": "0", "numRemovedFiles": "0", "numOutputRows": "0"}),
    ],
)
def test_a_batch_says_what_it_wrote(batch: Batch, metrics: dict[str, str], db: Database) -> None:
    outcome = run(run_batch(db.client()["t"], batch), db.store)
    assert isinstance(outcome, Committed)
    assert outcome.commit_info is not None
    logged = outcome.commit_info.operation_metrics
    assert logged is not None
    names = {"numAddedFiles", "numRemovedFiles", "numOutputRows", "numOutputBytes"}
    assert set(logged) == names
    assert logged.items() >= metrics.items()


@pytest.mark.parametrize(
    ("partition_by", "condition", "files"),
    [
        ((), "v = 0", "1"),
        ((), "v % 5 = 9", "1"),
        ((), "v % 11 = 0", "2"),
        (("x",), "v = 0", "0"),
        (("x",), "v % 11 = 0", "1"),
    ],
)
def test_a_first_task_without_rows_counts_a_file_unless_there_are_partitions(
    partition_by: tuple[str, ...], condition: str, files: str, db: Database
) -> None:
    db.create("w", "x INT, v BIGINT", *partition_by)
    db.commit("INSERT INTO w VALUES (1, 1)")
    outcome = db.commit(f"INSERT OVERWRITE w SELECT * FROM t WHERE {condition}")
    logged = outcome.commit_info.operation_metrics
    assert logged is not None
    assert logged["numFiles"] == files


@pytest.mark.parametrize("vectors", ["true", "false"])
def test_a_replace_where_counts_the_rows_that_stay_in_the_files_it_touches(
    vectors: str, db: Database
) -> None:
    db.create("w", "x INT, v BIGINT", enableDeletionVectors=vectors)
    db.commit("INSERT INTO w SELECT * FROM VALUES (1, 1), (2, 2), (3, 3)")
    logged = db.commit("INSERT INTO w REPLACE WHERE v = 1 VALUES (9, 1)").commit_info
    assert logged.operation_metrics is not None
    expected = {"numFiles": "2", "numOutputRows": "3"}
    assert logged.operation_metrics.items() >= expected.items()


def test_a_replace_where_that_writes_no_row_says_nothing_of_rows(db: Database) -> None:
    replaced = "INSERT INTO t REPLACE WHERE x = 2 SELECT * FROM t WHERE x = 2 AND v = 0"
    logged = db.commit(replaced).commit_info.operation_metrics
    assert logged is not None
    assert "numOutputRows" not in logged
    assert logged["numFiles"] == "0"
