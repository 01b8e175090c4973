"""What a run's timeline is drawn from: columns, winners, and texts that cannot end the script."""

from __future__ import annotations

import json
from itertools import accumulate
from pathlib import Path
from typing import Any

import pandas as pd

import whitecap
from whitecap.reports.pages.lanes import COLUMNS, lanes_of, lanes_of_run

EVENTS = Path(__file__).parents[2] / "scenarios" / "events.yaml"


def row(**values: Any) -> dict[str, Any]:
    """A transaction of `a-1` that commits version 1 after a second."""
    usual: dict[str, Any] = {
        "job_id": 1, "rerun_number": 0, "writer": "a-1", "writer_group": "a", "command": "UPDATE",
        "read_version": 0, "submitted_at_ms": 0.0, "snapshot_at_ms": 10.0,
        "commit_started_at_ms": 900.0, "ended_at_ms": 1010.0, "outcome": "committed",
        "committed_version": 1, "exception": None, "rule": None, "winning_version": None,
        "evidence": None, "attempts": 1, "committed_at_ms": 1000.0,
    }  # fmt: skip
    return usual | values


def refused(**values: Any) -> dict[str, Any]:
    """A transaction of `b-1` that version 1 refuses."""
    usual = {
        "writer": "b-1", "writer_group": "b", "outcome": "aborted", "committed_version": None,
        "committed_at_ms": None,
        "exception": "ConcurrentAppendException", "rule": "added_files", "winning_version": 1,
        "evidence": "day=1/part-1.parquet",
    }  # fmt: skip
    return row(**(usual | values))


def test_a_refusal_leads_to_the_transaction_that_committed_the_winning_version() -> None:
    lanes = lanes_of(pd.DataFrame([refused(snapshot_at_ms=5.0), row()]))
    assert lanes["refused"]["place"] == [0]
    assert lanes["refused"]["winner"] == [1]
    assert lanes["landed"] == [-1, 990]
    rule = lanes["refused"]["rules"][lanes["refused"]["rule"][0]]
    assert rule["name"] == "added_files"
    assert rule["source"].startswith("ConflictChecker.scala")


def test_of_several_tables_the_winner_is_of_the_same_one() -> None:
    rows = [
        row(table_name="gold"),
        row(table_name="silver", writer="c-1", snapshot_at_ms=20.0),
        refused(table_name="silver", snapshot_at_ms=30.0),
    ]
    assert lanes_of(pd.DataFrame(rows))["refused"]["winner"] == [1]


def test_a_winner_from_outside_the_run_is_nobody() -> None:
    lanes = lanes_of(pd.DataFrame([refused(winning_version=7), row()]))
    assert lanes["refused"]["winner"] == [-1]
    assert lanes["refused"]["winning"] == [7]


def test_what_has_no_end_or_no_snapshot_is_drawn_from_its_submission() -> None:
    waiting = row(
        snapshot_at_ms=None, commit_started_at_ms=None, ended_at_ms=None, outcome="in_flight",
        committed_version=None, submitted_at_ms=3.0,
    )  # fmt: skip
    lanes = lanes_of(pd.DataFrame([row(), waiting]))
    assert list(accumulate(lanes["begin"])) == [3, 10]
    assert lanes["length"] == [-1, 1000]
    assert lanes["commit"] == [-1, 890]


def test_every_transaction_of_a_run_is_there_in_the_order_of_snapshots(tmp_path: Path) -> None:
    run = whitecap.run(EVENTS, changes={"duration": "20 min"}, out=tmp_path / "run")
    text = lanes_of_run(tmp_path / "run")
    assert text is not None
    lanes = json.loads(text)
    transactions = run.transactions
    assert len(lanes["writer"]) == len(transactions)
    assert sum(length >= 0 for length in lanes["length"]) == transactions["ended_at_ms"].count()
    assert len(lanes["refused"]["place"]) == (transactions["outcome"] == "aborted").sum()
    assert all(step >= 0 for step in lanes["begin"])
    assert -1 not in lanes["refused"]["winner"]


def test_no_text_of_a_recording_can_end_the_script(tmp_path: Path) -> None:
    rows = pd.DataFrame([refused(evidence="</script><script>alert(1)"), row()])[list(COLUMNS)]
    rows.to_parquet(tmp_path / "transactions.parquet")
    commits = pd.DataFrame({"version": [1], "committed_at_ms": [1000.0]})
    commits.to_parquet(tmp_path / "commits.parquet")
    text = lanes_of_run(tmp_path)
    assert text is not None
    assert "<" not in text
    assert json.loads(text)["refused"]["evidences"] == ["</script><script>alert(1)"]
