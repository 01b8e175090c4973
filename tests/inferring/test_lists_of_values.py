"""Conditions with lists of values become lists of as many, drawn as those of the log were."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

import whitecap
from tests.inferring.synthetic_logs import LogOnDisk
from whitecap.sim.inferring.drafting import DraftedScenario, draft_of
from whitecap.sim.inferring.log.observed import observe
from whitecap.sim.inferring.text import Options
from whitecap.sim.loading import parse_scenario
from whitecap.sim.scenario.writers import WriterGroup

REGIONS = [f"s{number:02}" for number in range(40)]
DAYS = [f"2026-01-{number:02}" for number in range(1, 13)]
AS_USUAL = Options()


def _log(folder: Path, column: str, values: Sequence[str]) -> LogOnDisk:
    kind = "DATE" if column == "day" else "STRING"
    log = LogOnDisk(folder / "events", f"id BIGINT, `{column}` {kind}, v DOUBLE", [column])
    for value in values:
        log.commit("WRITE", _add(log, column, value))
    return log


def _add(log: LogOnDisk, column: str, value: str) -> dict[str, object]:
    add = {
        "path": f"{log.version}-{value}", "partitionValues": {column: value}, "size": 500,
        "modificationTime": 0, "dataChange": True, "stats": '{"numRecords": 5}',
    }  # fmt: skip
    return {"add": add}


def _updates(log: LogOnDisk, column: str, lists: Sequence[Sequence[str]]) -> None:
    for values in lists:
        word = f"INSET {', '.join(values)}" if len(values) > 10 else f"IN ({','.join(values)})"
        log.commit(
            "UPDATE", *(_add(log, column, value) for value in values),
            operationParameters={"predicate": json.dumps([f"{column}#12 {word}"])},
        )  # fmt: skip


def _draft(log: LogOnDisk, options: Options = AS_USUAL) -> DraftedScenario:
    return draft_of(observe(str(log.folder), 1000), options)


def _update(draft: DraftedScenario) -> tuple[WriterGroup, str]:
    group = parse_scenario(draft.text).writers["update"]
    return group, " ".join(str(group.statement).partition(" WHERE ")[2].split())


def _said(draft: DraftedScenario) -> str:
    return " ".join(draft.text.replace("#", " ").split())


@pytest.mark.parametrize("count", [3, 12])
def test_a_list_that_is_always_the_same_is_that_list(count: int, tmp_path: Path) -> None:
    log = _log(tmp_path, "region", REGIONS)
    _updates(log, "region", [REGIONS[:count]] * 6)
    draft = _draft(log)
    group, condition = _update(draft)
    assert condition.startswith("region IN (:region, :region_listed_2, :region_listed_3")
    assert [each.value for each in group.parameters.values()] == REGIONS[:count]
    assert f"all 6 commits name these {count}" in _said(draft)


def test_lists_that_differ_draw_so_many_that_as_many_differ(tmp_path: Path) -> None:
    draws = np.random.default_rng(1)
    log = _log(tmp_path, "region", REGIONS)
    lists = [sorted(draws.choice(REGIONS, 12, replace=False)) for _ in range(60)]
    _updates(log, "region", lists)
    draft = _draft(log)
    group, condition = _update(draft)
    assert condition.count(":region") == len(group.parameters) == 14
    assert all(each.of_domain for each in group.parameters.values())
    assert {each.column for each in group.parameters.values()} == {None, "region"}
    assert "lists of 12 values in the median" in _said(draft)
    run = whitecap.run(draft.text, changes={"duration": "30 min"})
    assert "committed" in set(run.transactions.outcome)


@pytest.mark.parametrize(
    ("listed", "condition"),
    [
        (DAYS[-2:], "day IN (:day, :day - 1)"),
        ([DAYS[-4], DAYS[-2]], "day IN (:day, :day - 2)"),
    ],
)
def test_days_that_lie_so_far_apart_do_so_in_the_draft(
    listed: list[str], condition: str, tmp_path: Path
) -> None:
    log = _log(tmp_path, "day", DAYS)
    _updates(log, "day", [listed] * 6)
    draft = _draft(log)
    assert _update(draft)[1] == condition
    run = whitecap.run(draft.text, changes={"duration": "30 min"})
    assert "committed" in set(run.transactions.outcome)


def test_days_that_lie_otherwise_each_time_are_drawn(tmp_path: Path) -> None:
    draws = np.random.default_rng(1)
    log = _log(tmp_path, "day", DAYS)
    lists = [sorted(draws.choice(DAYS, 3, replace=False)) for _ in range(40)]
    _updates(log, "day", lists)
    group, condition = _update(_draft(log))
    assert condition == "day IN (:day, :day_listed_2, :day_listed_3)"
    assert group.parameters["day_listed_2"].column == "day"


def test_names_of_several_words_may_be_listed(tmp_path: Path) -> None:
    log = _log(tmp_path, "my region", REGIONS[:5])
    _updates(log, "my region", [REGIONS[:2]] * 6)
    _, condition = _update(_draft(log, Options(from_files=True)))
    assert condition == "`my region` IN (:`my region`, :`my region_listed_2`)"


def test_values_of_an_anonymous_draft_are_nobodys(tmp_path: Path) -> None:
    log = _log(tmp_path, "region", REGIONS[:5])
    _updates(log, "region", [REGIONS[:2]] * 6)
    group, _ = _update(_draft(log, Options(anonymous=True)))
    assert [each.value for each in group.parameters.values()] == ["value 1", "value 2"]
