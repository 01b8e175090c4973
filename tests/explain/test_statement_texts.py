"""Statements as people write them: CASE, comments, names that look like keywords."""

from __future__ import annotations

import pytest

import whitecap
from whitecap.engine.races.explain.conditions import compaction_of, condition_of, without_sorting
from whitecap.engine.races.explain.suggestions import Suggestion

EVENTS = """
name: events
schema: "event_id BIGINT, date DATE, amount DOUBLE"
partition_by: [date]
properties: {delta.enableDeletionVectors: true}
files:
  - - {event_id: 1, date: 2026-03-01, amount: 1.0}
    - {event_id: 2, date: 2026-03-01, amount: 2.0}
  - - {event_id: 3, date: 2026-03-02, amount: 2.0}
    - {event_id: 4, date: 2026-03-02, amount: 2.0}
"""
UPDATE, DELETE = (
    "UPDATE events SET amount = 0 WHERE event_id = 1",
    "DELETE FROM events WHERE event_id = 3",
)
MERGE = (
    "MERGE INTO events t USING (SELECT 1 AS id) s ON {on}"
    " WHEN MATCHED THEN UPDATE SET amount = CASE WHEN t.amount > 1 THEN 0 ELSE 1 END"
)


def suggested(a: str, b: str, table: str = EVENTS) -> dict[str, Suggestion]:
    suggestions = whitecap.explain(table, a, b).suggestions
    return {suggestion.change.key: suggestion for suggestion in suggestions}


def statements(a: str, b: str, key: str = "name_partitions") -> tuple[str, str]:
    return suggested(a, b)[key].change.case.statements


def test_the_when_of_a_case_does_not_end_a_condition() -> None:
    on = "t.event_id = CASE WHEN s.id = 1 THEN s.id END"
    (merge, _) = statements(MERGE.format(on=on), DELETE)
    assert f"{on} AND t.date = DATE '2026-03-01' WHEN MATCHED" in merge


def test_a_comment_behind_a_condition_stays_behind_it() -> None:
    assert statements(UPDATE + " -- nightly", DELETE + "; -- daily")[0] == (
        UPDATE + " AND date = DATE '2026-03-01' -- nightly"
    )
    on = "t.event_id = s.id -- the key\n"
    assert (
        "t.event_id = s.id AND t.date = DATE '2026-03-01' -- the key\n WHEN"
        in (statements(MERGE.format(on=on), DELETE)[0])
    )


@pytest.mark.parametrize("comment", ["-- nightly", "/* WHERE ZORDER BY (x) */"])
def test_a_comment_behind_a_compaction_stays_behind_it(comment: str) -> None:
    condition = compaction_of(f"OPTIMIZE events {comment}")
    assert condition is not None
    assert condition.with_all(["a = 1"]) == f"OPTIMIZE events WHERE a = 1 {comment}"


def test_names_and_comments_that_hold_keywords_are_no_keywords() -> None:
    condition = compaction_of("OPTIMIZE whereabouts WHERE date = '2026-03-01' ZORDER BY (a)")
    assert condition is not None
    assert condition.text == "date = '2026-03-01'"
    picked = condition_of("DELETE FROM t /* WHERE */ WHERE `where` = 'WHERE' OR t.end = 1 -- x")
    assert picked is not None
    assert picked.with_all(["b = 2"]) == (
        "DELETE FROM t /* WHERE */ WHERE (`where` = 'WHERE' OR t.end = 1) AND b = 2 -- x"
    )


@pytest.mark.parametrize(
    ("sorting", "plain"),
    [
        ("OPTIMIZE zorders ZORDER BY (id)", "OPTIMIZE zorders"),
        ("/* zorder by day */ OPTIMIZE t ZORDER BY (id)", "/* zorder by day */ OPTIMIZE t"),
        ("OPTIMIZE `zorder` zorder\n by (id) -- zorder", "OPTIMIZE `zorder` -- zorder"),
        ("DELETE FROM zorders", "DELETE FROM zorders"),
    ],
)
def test_leaving_out_zorder_by_leaves_all_else(sorting: str, plain: str) -> None:
    assert without_sorting(sorting) == plain


def test_a_compaction_of_a_table_named_like_a_keyword_is_explained() -> None:
    table = EVENTS.replace("name: events", "name: whereabouts").replace(": true", ": false")
    helps = suggested(
        "DELETE FROM whereabouts WHERE date = '2026-03-02' AND event_id = 3",
        "OPTIMIZE whereabouts WHERE date < '2026-04-01'",
        table + "  - - {event_id: 5, date: 2026-03-02, amount: 2.0}\n"
        "  - - {event_id: 6, date: 2026-03-01, amount: 2.0}\n",
    )
    assert "compact_elsewhere" in helps
