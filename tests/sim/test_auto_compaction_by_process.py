"""Auto compaction begins when one process has added enough files, whatever others have added."""

from __future__ import annotations

from typing import Any

import pytest

from tests.sim.sim_worlds import INSERT, TABLE, ran, rows
from whitecap.reports.provenance import compaction_sentences

FEWEST = 6
"""Files that make compaction due."""


COMPACTED: dict[str, Any] = {
    "table": {
        **TABLE,
        "partition_by": [],
        "properties": {"delta.autoOptimize.autoCompact": "true"},
    },
    "settings": {"spark.databricks.delta.autoCompact.minNumFiles": str(FEWEST)},
}


def first_compacted(**parts: Any) -> tuple[str, dict[str, int]]:
    """Whose commit the first compaction follows, and how many files each had added by then."""
    run = ran(**COMPACTED, **parts)
    writer_of = {row["transaction_id"]: row["writer"] for row in rows(run)}
    added: dict[str, int] = {}
    for commit in rows(run, "commits"):
        if commit["transaction_id"] is None:
            continue  # it made the table
        writer = writer_of[commit["transaction_id"]]
        if commit["operation"] == "OPTIMIZE":
            return writer, added
        added[writer] = added.get(writer, 0) + 1
    raise AssertionError("nothing was compacted")


def test_apart_each_writer_counts_its_own_files() -> None:
    writer, added = first_compacted(writers={"loader": {**INSERT, "count": 3}})
    assert added[writer] == FEWEST
    assert max(added.values()) <= FEWEST
    assert sum(added.values()) > FEWEST


@pytest.mark.parametrize("reads", [False, True])
def test_writers_of_a_cluster_count_together(reads: bool) -> None:
    """Whichever way their statements go."""
    statement = "INSERT INTO events SELECT * FROM (VALUES :rows)" if reads else INSERT["statement"]
    loader = {**INSERT, "statement": statement, "count": 3, "cluster": "etl"}
    _, added = first_compacted(writers={"loader": loader})
    assert sum(added.values()) == FEWEST


def test_a_driver_that_starts_again_has_counted_nothing() -> None:
    crash = {"writer_crash": {"rate": "4 per min", "restart": "1 s"}}
    loader = {**INSERT, "compute": "1 s", "arrival": {"closed": {"think": "4 s"}}}
    writer, added = first_compacted(writers={"loader": loader}, faults=[crash])
    assert added[writer] > FEWEST


def compactions(compute: Any) -> tuple[int, list[str]]:
    """How many there were, and what is said of those that took no time."""
    run = ran(**COMPACTED, writers={"loader": {**INSERT, "compute": compute}})
    count = sum(commit["operation"] == "OPTIMIZE" for commit in rows(run, "commits"))
    return count, compaction_sentences([run.recording.manifest])


def test_compactions_that_take_no_time_beside_jobs_that_do_are_told() -> None:
    count, said = compactions("2 s")
    assert count > 1
    (sentence,) = said
    assert sentence.startswith(f"auto compaction took no time ({count} of loader)")
    assert "per_file" in sentence


@pytest.mark.parametrize("compute", [{"time": "2 s", "per_file": "100 ms"}, "0 s"])
def test_compactions_that_take_their_time_or_are_among_none_that_do_are_not(compute: Any) -> None:
    count, said = compactions(compute)
    assert count > 1
    assert not said
