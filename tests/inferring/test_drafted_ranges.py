"""Conditions that name a range become one that moves as those of the log did."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from tests.inferring.synthetic_logs import LogOnDisk
from whitecap.sim.inferring.drafting import DraftedScenario, draft_of
from whitecap.sim.inferring.log.observed import observe
from whitecap.sim.inferring.text import Options
from whitecap.sim.loading import parse_scenario
from whitecap.sim.run import run_scenario

DAYS = ("2026-01-08", "2026-01-09", "2026-01-10", "2026-01-11", "2026-01-12")
"""The last one is the day of the log."""

DELETE = "DELETE FROM events WHERE"


def _draft_of(log: LogOnDisk, from_files: bool = False) -> DraftedScenario:
    return draft_of(observe(str(log.folder), 1000), Options(from_files=from_files))


def _statements(draft: DraftedScenario) -> set[str]:
    return {str(group.statement) for group in parse_scenario(draft.text).writers.values()}


def _daily(folder: Path) -> LogOnDisk:
    log = LogOnDisk(folder / "events")
    for day in DAYS:
        log.append(day)
    return log


def _changes(
    log: LogOnDisk, operation: str, parameters: Sequence[Mapping[str, str]], day: str = DAYS[2]
) -> None:
    for number, stated in enumerate(parameters):
        values = {"day": day} if day else {}
        add = {
            "path": f"{operation}{number}", "partitionValues": values, "size": 5,
            "modificationTime": 0, "dataChange": True, "stats": json.dumps({"numRecords": 5}),
        }  # fmt: skip
        log.commit(operation, {"add": add}, operationParameters=dict(stated))


@pytest.mark.parametrize(
    ("predicate", "condition"),
    [
        ("((day#1 >= 2026-01-10) AND (day#1 < 2026-01-12))", "day >= :day - 2 AND day <= :day - 1"),
        ("((day#1 > 2026-01-10) AND (day#1 <= 2026-01-12))", "day >= :day - 1 AND day <= :day"),
        ("((day#1 >= 2026-01-11) AND (day#1 < 2026-01-12))", "day = :day - 1"),
        ("day BETWEEN '2026-01-11' AND '2026-01-12'", "day >= :day - 1 AND day <= :day"),
        ("(day#1 < 2026-01-11)", "day <= :day - 2"),
        ("(day#1 <= 2026-01-12)", "day <= :day"),
        ("(day#1 >= 2026-01-09)", "day >= :day - 3"),
        ("((day#1 <= 2026-01-10) AND (id#2L = 7))", "day <= :day AND id IN (:keys)"),
    ],
)
@pytest.mark.parametrize("from_files", [False, True])
def test_days_lie_so_far_behind_a_job_as_they_did(
    predicate: str, condition: str, from_files: bool, tmp_path: Path
) -> None:
    log = _daily(tmp_path)
    _changes(log, "DELETE", [{"predicate": json.dumps([predicate])}] * 5)
    draft = _draft_of(log, from_files)
    assert f"{DELETE} {condition}" in _statements(draft)
    run_scenario(parse_scenario(draft.text), until_ms=60_000)


def test_a_range_of_an_expression_is_that_of_what_was_changed(tmp_path: Path) -> None:
    log = _daily(tmp_path)
    _changes(log, "DELETE", [{"predicate": '["(day#1 < some_function(1))"]'}] * 5)
    assert f"{DELETE} day <= :day - 2" in _statements(_draft_of(log))


def test_rows_that_replace_a_range_lie_in_it(tmp_path: Path) -> None:
    log = _daily(tmp_path)
    stated = {"mode": "Overwrite", "predicate": '["(day#1 <= 2026-01-10)"]'}
    _changes(log, "WRITE", [stated] * 5)
    draft = _draft_of(log)
    replaced = "INSERT INTO events REPLACE WHERE day <= :day VALUES :rows"
    assert replaced in _statements(draft)
    changes = {"writers.overwrite.arrival": {"closed": {"think": "1 s"}}}
    run = run_scenario(parse_scenario(draft.text, changes=changes, cells=False), until_ms=600_000)
    ended = run.recording.transactions.to_pylist()
    replacing = [row for row in ended if row["writer_group"] == "overwrite"]
    assert any(row["outcome"] == "committed" for row in replacing)
    errors = {str(row["error_class"]) for row in replacing}
    assert not any("REPLACE_WHERE" in error for error in errors), errors


def test_ranges_that_begin_on_different_days_do_so_in_the_draft(tmp_path: Path) -> None:
    log = _daily(tmp_path)
    spans = [(day, f"2026-01-{int(day[-2:]) + 1:02}") for day in DAYS[:4] * 3]
    texts = [f"((day#1 >= {first}) AND (day#1 <= {last}))" for first, last in spans]
    _changes(log, "DELETE", [{"predicate": json.dumps([text])} for text in texts])
    draft = _draft_of(log)
    assert f"{DELETE} day >= :day - 1 AND day <= :day" in _statements(draft)
    parameter = next(iter(parse_scenario(draft.text).writers["delete"].parameters.values()))
    assert parameter.newest is not None
    assert parameter.newest.within == 4


def _numbered(folder: Path, kind: str, values: Sequence[object]) -> LogOnDisk:
    log = LogOnDisk(folder / "events", f"id BIGINT, part {kind}", ["part"])
    for number, value in enumerate(values):
        add = {
            "path": f"{number}", "partitionValues": {"part": str(value)}, "size": 5,
            "modificationTime": 0, "dataChange": True, "stats": '{"numRecords": 5}',
        }  # fmt: skip
        log.commit("WRITE", {"add": add})
    return log


@pytest.mark.parametrize(
    ("kind", "predicate", "condition"),
    [
        ("INT", "((part#1 >= {}) AND (part#1 < {} + 3))", "part >= :part AND part <= :part + 2"),
        ("SMALLINT", "(part#1 <= {})", "part <= :part"),
        (
            "DOUBLE",
            "((part#1 >= {}.0) AND (part#1 < {}.5))",
            "part >= :part AND part <= :part + 0.5",
        ),
        ("STRING", "((part#1 >= {}) AND (part#1 <= {}))", "part >= :part"),
        ("DOUBLE", "((part#1 >= {}.0) AND (part#1 < Infinity))", "part >= :part"),
    ],
)
def test_a_range_of_listed_values_begins_with_one_of_them(
    kind: str, predicate: str, condition: str, tmp_path: Path
) -> None:
    log = _numbered(tmp_path, kind, range(1, 9))
    texts = [predicate.replace("{}", str(number % 6 + 1)) for number in range(12)]
    _changes(log, "DELETE", [{"predicate": json.dumps([text])} for text in texts], day="")
    draft = _draft_of(log)
    assert f"{DELETE} {condition}" in _statements(draft)
    run_scenario(parse_scenario(draft.text), until_ms=60_000)


def _clustered(folder: Path, kind: str, bounds: Sequence[object]) -> LogOnDisk:
    log = LogOnDisk(folder / "events", f"id BIGINT, at {kind}", [])
    columns = json.dumps({"clusteringColumns": [["at"]], "domainName": "delta.clustering"})
    domain = {"domain": "delta.clustering", "configuration": columns, "removed": False}
    features = ["clustering", "domainMetadata"]
    protocol = {"minReaderVersion": 1, "minWriterVersion": 7, "writerFeatures": features}
    log.commit("CLUSTER BY", {"protocol": protocol}, {"domainMetadata": domain})
    for number, bound in enumerate(bounds):
        stats = {"numRecords": 5, "minValues": {"at": bound}, "maxValues": {"at": bound}}
        add = {
            "path": f"{number}", "partitionValues": {}, "size": 5,
            "modificationTime": 0, "dataChange": True, "stats": json.dumps(stats),
        }  # fmt: skip
        log.commit("WRITE", {"add": add})
    return log


INSTANTS = [f"{day}T05:30:00.000Z" for day in DAYS]


@pytest.mark.parametrize(
    ("kind", "bounds", "predicate", "condition"),
    [
        ("SMALLINT", range(6), "(at#1 = 3)", "at = :at"),
        ("TINYINT", range(6), "((at#1 > 3) AND (at#1 <= 5))", "at >= :at AND at <= :at + 1"),
        ("TIMESTAMP", INSTANTS, "(at#1 >= 2026-01-11 05:00:00)", "at >= :at - 1"),
        ("TIMESTAMP", INSTANTS, "(at#1 < 2026-01-11 00:00:00)", "at <= :at - 2"),
        ("TIMESTAMP", INSTANTS, "(at#1 < 2026-01-11 05:00:00)", "at <= :at - 1"),
        (
            "TIMESTAMP_NTZ",
            INSTANTS,
            "((at#1 >= 2026-01-11 05:00:00) AND (at#1 < 2026-01-11 06:00:00))",
            "at = :at - 1",
        ),
    ],
)
def test_small_numbers_and_instants_of_clustering_columns_are_chosen_from(
    kind: str, bounds: Sequence[object], predicate: str, condition: str, tmp_path: Path
) -> None:
    log = _clustered(tmp_path, kind, bounds)
    _changes(log, "DELETE", [{"predicate": json.dumps([predicate])}] * 5, day="")
    draft = _draft_of(log)
    assert f"{DELETE} {condition}" in _statements(draft)
    run_scenario(parse_scenario(draft.text), until_ms=60_000)


def test_a_draft_says_that_it_has_days_for_instants(tmp_path: Path) -> None:
    text = " ".join(_draft_of(_clustered(tmp_path, "TIMESTAMP", INSTANTS)).text.split())
    assert "of at, a TIMESTAMP, it has the days" in text.replace("# ", "")
    assert "at DATE" in text


def test_days_between_the_bounds_of_a_clustered_file_are_there(tmp_path: Path) -> None:
    log = _clustered(tmp_path, "DATE", [])
    stats = {"numRecords": 9, "minValues": {"at": DAYS[0]}, "maxValues": {"at": DAYS[-1]}}
    add = {
        "path": "all", "partitionValues": {}, "size": 5, "modificationTime": 0,
        "dataChange": True, "stats": json.dumps(stats),
    }  # fmt: skip
    log.commit("WRITE", {"add": add})
    _changes(log, "DELETE", [{"predicate": '["(at#1 = 2026-01-11)"]'}] * 5, day="")
    table = parse_scenario(_draft_of(log).text).table
    assert table is not None
    assert table.values["at"].days == len(DAYS)
