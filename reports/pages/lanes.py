"""What the interactive timeline of a run draws: its transactions by columns, as plain values.

A hundred thousand transactions have to fit into a page, so each column is a list of whole numbers
(milliseconds, or places in the lists of names beside it), and what only a refusal has stands apart.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.parquet as pq

from whitecap.engine.recorded import RecordedOutcome
from whitecap.engine.rules import Rule
from whitecap.reports.instants import with_instants
from whitecap.reports.measures.groups import TABLE_COLUMN
from whitecap.reports.natural_order import natural

COLUMNS = (
    "job_id", "rerun_number", "writer", "writer_group", "command", "read_version",
    "submitted_at_ms", "snapshot_at_ms", "commit_started_at_ms", "ended_at_ms", "outcome",
    "committed_version", "exception", "rule", "winning_version", "evidence", "attempts",
)  # fmt: skip
OF_COMMITS = ("version", "committed_at_ms")

NONE = -1
"""What is not there: no commit, no end, no winner."""

OUTCOMES = tuple(RecordedOutcome)

RULES = {rule.value: rule for rule in Rule}
"""By the names that recordings have."""

Lanes = dict[str, Any]


def lanes_of_run(directory: Path) -> str | None:
    """The JSON that the page's timeline reads; `None` where a recording has no snapshots."""
    file = directory / "transactions.parquet"
    present = pq.read_schema(file).names
    if not set(COLUMNS) <= set(present):
        return None
    table = [name for name in (TABLE_COLUMN,) if name in present]
    transactions = pd.read_parquet(file, columns=[*COLUMNS, *table])
    commits = pd.read_parquet(directory / "commits.parquet", columns=[*OF_COMMITS, *table])
    lanes = lanes_of(with_instants(transactions, commits))
    return json.dumps(lanes, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")


def lanes_of(transactions: pd.DataFrame) -> Lanes:
    """Transactions by the instant of their snapshot; of one that got none, its submission.

    `landed` is when the version was there, which a line from a refusal leads to.
    """
    begins = transactions["snapshot_at_ms"].fillna(transactions["submitted_at_ms"])
    rows = transactions.assign(begin=begins).sort_values("begin", kind="stable", ignore_index=True)
    begin = rows["begin"].round().astype(int)
    writers = sorted(dict.fromkeys(rows["writer"]), key=natural)
    commands, groups = _names(rows["command"]), _names(rows["writer_group"])
    group_of = dict(zip(rows["writer"], rows["writer_group"], strict=True))
    return {
        "writers": writers,
        "groups": groups,
        "group_of_writer": [groups.index(group_of[writer]) for writer in writers],
        "commands": commands,
        "outcomes": list(OUTCOMES),
        "begin": np.diff(begin, prepend=0).tolist(),
        "commit": _since(rows["commit_started_at_ms"], begin),
        "length": _since(rows["ended_at_ms"], begin),
        "landed": _since(rows["committed_at_ms"], begin),
        "writer": _places(rows["writer"], writers),
        "command": _places(rows["command"], commands),
        "outcome": _places(rows["outcome"], OUTCOMES),
        "read": _whole(rows["read_version"]),
        "version": _whole(rows["committed_version"]),
        "attempts": _whole(rows["attempts"]),
        "job": _whole(rows["job_id"]),
        "rerun": _whole(rows["rerun_number"]),
        "refused": _refused(rows),
    }


def _refused(rows: pd.DataFrame) -> Lanes:
    """Which transactions were aborted, by whom, by what rule and for what evidence."""
    refused = rows[rows["outcome"] == RecordedOutcome.ABORTED]
    exceptions, evidence = _names(refused["exception"]), _names(refused["evidence"])
    rules = _names(refused["rule"])
    return {
        "exceptions": exceptions,
        "rules": [_described(rule) for rule in rules],
        "evidences": evidence,
        "place": refused.index.tolist(),
        "exception": _places(refused["exception"], exceptions),
        "rule": _places(refused["rule"], rules),
        "evidence": _places(refused["evidence"], evidence),
        "winner": _winners(rows, refused),
        "winning": _whole(refused["winning_version"]),
    }


def _described(rule: str) -> dict[str, str]:
    definition = RULES[rule]
    return {"name": rule, "sentence": definition.sentence, "source": definition.source}


def _winners(rows: pd.DataFrame, refused: pd.DataFrame) -> list[int]:
    """The place of each refusal's winner; none where nobody of the run committed it."""
    table = [TABLE_COLUMN] if TABLE_COLUMN in rows else []
    commits = rows.dropna(subset="committed_version").drop_duplicates([*table, "committed_version"])
    places = commits.assign(place=commits.index).set_index([*table, "committed_version"])["place"]
    won = refused.join(places, on=[*table, "winning_version"])["place"]
    return _whole(won)


def _names(values: pd.Series) -> list[str]:
    return sorted(set(values.dropna()), key=natural)


def _places(values: pd.Series, names: Sequence[str]) -> list[int]:
    place = {name: number for number, name in enumerate(names)}
    return values.map(place).fillna(NONE).astype(int).tolist()


def _whole(values: pd.Series) -> list[int]:
    return values.fillna(NONE).astype(int).tolist()


def _since(instants: pd.Series, begin: pd.Series) -> list[int]:
    return (instants - begin).round().clip(lower=0).fillna(NONE).astype(int).tolist()
