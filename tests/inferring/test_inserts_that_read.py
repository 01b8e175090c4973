"""An INSERT that reads its table, as one that leaves out what is there, is no blind append."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import whitecap
from tests.inferring.synthetic_logs import LogOnDisk
from whitecap.sim.inferring.drafting import DraftedScenario, draft_of
from whitecap.sim.inferring.log.observed import observe
from whitecap.sim.inferring.text import Options
from whitecap.sim.loading import parse_scenario

DAY = "2026-01-12"
APPEND = {"mode": "Append", "partitionBy": "[]"}
READING = (
    "INSERT INTO events SELECT v.* FROM"
    " (SELECT * FROM VALUES :rows AS v(id, day, payload)) AS v"
    " LEFT ANTI JOIN events AS t ON t.id = v.id"
)
BLIND = "INSERT INTO events VALUES :rows"


def _drafted(log: LogOnDisk, from_files: bool = False) -> DraftedScenario:
    return draft_of(observe(str(log.folder), 1000), Options(from_files=from_files))


def _statements(draft: DraftedScenario) -> list[str]:
    writers = parse_scenario(draft.text).writers.values()
    return [" ".join(str(group.statement).split()) for group in writers]


def _words(draft: DraftedScenario) -> str:
    return " ".join(draft.text.replace("#", " ").split())


def test_an_insert_whose_commits_read_the_table_reads_it_in_the_draft(tmp_path: Path) -> None:
    log = LogOnDisk(tmp_path / "events")
    for _ in range(5):
        log.append(DAY, operationParameters=APPEND, isBlindAppend=True)
        log.append(DAY, rows=7, operationParameters=APPEND, isBlindAppend=False)
    draft = _drafted(log)
    assert sorted(_statements(draft)) == [READING, BLIND]
    assert "guessed: 5 of 5 commits say that they are no blind append" in _words(draft)
    assert "the log does not say what of the table they read" in _words(draft)


def test_jobs_that_read_what_they_append_to_may_be_more_than_committed_at_a_time(
    tmp_path: Path,
) -> None:
    log = LogOnDisk(tmp_path / "events")
    for _ in range(5):
        read = log.version - 1
        log.append(DAY, operationParameters=APPEND, isBlindAppend=False, readVersion=read)
    assert "no two of its jobs ran at a time and committed" in _words(_drafted(log))


def test_such_an_insert_is_refused_in_a_run_of_the_draft(tmp_path: Path) -> None:
    log = LogOnDisk(tmp_path / "events", properties={"delta.isolationLevel": "Serializable"})
    for _ in range(5):
        log.append(DAY, operationParameters=APPEND, isBlindAppend=True)
        log.append(DAY, operationParameters=APPEND, isBlindAppend=False)
    often = {"schedule": {"every": "20 s"}}
    changes: dict[str, Any] = {"duration": "10 min"}
    for name in ("insert", "insert-2"):
        changes |= {f"writers.{name}.arrival": often, f"writers.{name}.compute": "15 s"}
    run = whitecap.run(_drafted(log).text, changes=changes)
    assert "ConcurrentAppendException" in set(run.transactions.exception)


@pytest.mark.parametrize(
    "stated",
    [
        {"operationParameters": APPEND, "isBlindAppend": True},
        {"operationParameters": APPEND},
        {"operationParameters": APPEND, "isBlindAppend": "no"},
    ],
)
def test_an_append_that_is_blind_or_does_not_say_it_reads_nothing(
    stated: dict[str, Any], tmp_path: Path
) -> None:
    log = LogOnDisk(tmp_path / "events")
    for _ in range(5):
        log.append(DAY, **stated)
    assert _statements(_drafted(log)) == [BLIND]


def test_an_insert_that_reads_has_all_columns_of_the_table_itself(tmp_path: Path) -> None:
    log = LogOnDisk(tmp_path / "events", "id BIGINT, day DATE, `for what` STRING")
    for _ in range(5):
        log.append(DAY, operationParameters=APPEND, isBlindAppend=False)
    (statement,) = _statements(_drafted(log, from_files=True))
    assert "AS v(id, day, `for what`)) AS v LEFT ANTI JOIN events AS t" in statement
