"""How many files a MERGE adds: one for each task that writes rows, as seen on Delta 4.4.0."""

from __future__ import annotations

import json

import pytest

from tests.commands.sql_database import Database, adds

UPSERT = "MATCHED THEN UPDATE SET v = s.v WHEN NOT MATCHED THEN INSERT *"
NEW_ONLY = "NOT MATCHED THEN INSERT *"
OF_BOTH = f"{UPSERT} WHEN NOT MATCHED BY SOURCE AND t.v = 0 THEN DELETE"
OF_TARGET = "MATCHED THEN UPDATE SET v = s.v WHEN NOT MATCHED BY SOURCE THEN UPDATE SET v = 9"


def counts(
    vectors: bool, partition_by: tuple[str, ...], clauses: str, first_key: int = 2
) -> list[int]:
    """The rows of each new file of a MERGE of a source of two files, which two tasks read."""
    db = Database()
    db.create("t", "k INT, v INT", *partition_by, enableDeletionVectors=str(vectors).lower())
    db.create("s", "k INT, v INT")
    db.sql("INSERT INTO t SELECT * FROM VALUES (1, 0), (2, 0), (3, 0)")
    for key in (first_key, first_key + 2):
        db.sql(f"INSERT INTO s SELECT * FROM VALUES ({key}, 1), ({key + 1}, 1)")
    outcome = db.commit(f"MERGE INTO t USING s ON t.k = s.k WHEN {clauses}")
    written = [json.loads(add.stats or "") for add in adds(outcome) if not add.deletion_vector]
    return sorted(each["numRecords"] for each in written)


@pytest.mark.parametrize(("vectors", "files"), [(True, [2, 2]), (False, [5])])
def test_rows_that_stay_where_they_are_bring_all_rows_into_one_task(
    vectors: bool, files: list[int]
) -> None:
    assert counts(vectors, (), UPSERT) == files


@pytest.mark.parametrize("vectors", [True, False])
def test_new_rows_alone_are_written_by_the_tasks_of_the_source(vectors: bool) -> None:
    assert counts(vectors, (), NEW_ONLY) == [2]
    assert counts(vectors, (), NEW_ONLY, first_key=4) == [2, 2]
    assert counts(vectors, (), UPSERT, first_key=4) == [2, 2]


def test_rows_without_a_match_on_both_sides_meet_in_one_task() -> None:
    assert counts(True, (), OF_BOTH) == [4]


def test_rows_of_the_target_alone_are_written_by_its_own_tasks() -> None:
    assert counts(True, (), OF_TARGET) == [3]


def test_what_goes_into_partitions_is_shuffled_by_them() -> None:
    assert counts(True, ("v",), UPSERT) == [4]
