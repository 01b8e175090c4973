"""What is suggested on Databricks, so that rows decide instead of files."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

import whitecap
from whitecap.engine.races.explain.change import Change

EVENTS = """
name: events
schema: "id BIGINT, day DATE, region STRING, v BIGINT"
properties: {delta.enableDeletionVectors: true}
files:
  - - {id: 1, day: 2026-03-01, region: a, v: 1}
    - {id: 2, day: 2026-03-01, region: b, v: 2}
    - {id: 3, day: 2026-03-02, region: a, v: 3}
  - - {id: 4, day: 2026-03-02, region: b, v: 4}
    - {id: 5, day: 2026-03-03, region: a, v: 5}
"""
WITHOUT_VECTORS = EVENTS.replace("properties: {delta.enableDeletionVectors: true}\n", "")
UPDATE, DELETE = "UPDATE events SET v = 9 WHERE id = 1", "DELETE FROM events WHERE id = 2"
MERGE = (
    "MERGE INTO events t USING (SELECT 2 AS id, 7 AS v) s ON t.id = s.id"
    " WHEN MATCHED THEN UPDATE SET v = s.v"
)


def suggested(
    a: str,
    b: str,
    dialect: str = "databricks-14.3",
    table: str = EVENTS,
    settings: Mapping[str, str] | None = None,
) -> dict[str, Change]:
    suggestions = whitecap.explain(table, a, b, dialect=dialect, settings=settings).suggestions
    return {suggestion.change.key: suggestion.change for suggestion in suggestions}


def test_on_14_2_a_merge_is_given_a_predicate_on_its_target() -> None:
    change = suggested(UPDATE, MERGE, "databricks-14.2")["target_predicate"]
    assert change.how == ("B: AND t.id >= 1",)
    assert "14.2" in change.note
    narrowed = MERGE.replace("s.id ", "s.id AND t.id > 0 ")
    assert not whitecap.explain(EVENTS, UPDATE, narrowed, dialect="databricks-14.2").can_conflict
    assert "target_predicate" not in suggested(UPDATE, MERGE, "databricks-13.3")


def test_on_13_3_a_table_is_clustered_by_what_the_conditions_are_about() -> None:
    changes = suggested(UPDATE, DELETE, "databricks-13.3")
    assert changes["cluster_by"].how == ("ALTER TABLE events CLUSTER BY (id)",)
    off = EVENTS.replace("true", "false") + "partition_by: [day]\n"
    assert suggested(UPDATE, DELETE, "databricks-13.3", off)["cluster_by"].how == (
        "CREATE OR REPLACE TABLE events ... CLUSTER BY (id)",
        "ALTER TABLE events SET TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')",
    )
    assert "cluster_by" not in suggested(UPDATE, DELETE, "delta-oss-4.4")


def test_row_tracking_finds_rows_again_that_were_put_in_another_order() -> None:
    sorting = "OPTIMIZE events ZORDER BY (v)"
    assert suggested(sorting, DELETE)["row_tracking"].how == (
        "ALTER TABLE events SET TBLPROPERTIES ('delta.enableRowTracking' = 'true')",
    )
    assert "row_tracking" not in suggested(sorting, DELETE, "databricks-13.3")
    assert "row_tracking" not in suggested(sorting, DELETE, "delta-oss-4.4")


@pytest.mark.parametrize(
    ("setting", "dialect", "key"),
    [
        ("whitecap.rowLevelConcurrency.enabled", "databricks-14.3", "switch_rows_on"),
        ("whitecap.photon.enabled", "databricks-14.2", "photon"),
    ],
)
def test_what_was_switched_off_is_suggested_again(setting: str, dialect: str, key: str) -> None:
    narrowed = MERGE.replace("s.id ", "s.id AND t.id > 0 ")
    changes = suggested(UPDATE, narrowed, dialect, settings={setting: "false"})
    assert changes[key].how == (f"{setting}: true",)
    assert key not in suggested(UPDATE, UPDATE, dialect, settings={setting: "false"})


def test_vectors_that_make_rows_decide_are_one_change_and_not_two() -> None:
    changes = suggested(UPDATE, DELETE, table=WITHOUT_VECTORS)
    assert "deletion_vectors" in changes
    assert "row_level_concurrency" not in changes


def test_of_row_level_concurrency_only_what_is_missing_is_told() -> None:
    partitioned = EVENTS + "partition_by: [region]\n"
    layout = "CREATE OR REPLACE TABLE events ... without PARTITIONED BY, or with CLUSTER BY"
    vectors = "ALTER TABLE events SET TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')"
    dialect = "dialect databricks-14.3: Databricks Runtime 14.3 or newer"
    same = DELETE.replace("2", "3")
    expected = {
        ("databricks-14.3", partitioned): (layout,),
        ("databricks-13.3", EVENTS): (dialect,),
        ("delta-oss-4.4", EVENTS): (dialect,),
        ("delta-oss-4.4", WITHOUT_VECTORS + "partition_by: [region]\n"): (
            dialect, layout, vectors,
        ),
    }  # fmt: skip
    for (name, table), how in expected.items():
        assert suggested(UPDATE, same, name, table)["row_level_concurrency"].how == how


def test_on_14_2_a_predicate_of_when_matched_counts_where_nothing_is_inserted() -> None:
    narrowed = MERGE.replace("WHEN MATCHED", "WHEN MATCHED AND t.id > 0")
    inserting = f"{narrowed} WHEN NOT MATCHED THEN INSERT (id, v) VALUES (s.id, s.v)"
    for merge, conflicts in ((narrowed, False), (inserting, True)):
        explanation = whitecap.explain(EVENTS, UPDATE, merge, dialect="databricks-14.2")
        assert explanation.can_conflict is conflicts
    assert "target_predicate" in suggested(UPDATE, inserting, "databricks-14.2")


def test_an_alter_that_aborts_writers_is_for_when_nobody_writes() -> None:
    """Delta 4.4 reconciles new deletion vectors with whoever writes meanwhile."""
    caution = "Enable it while nobody writes"
    serializable = EVENTS + "isolation: Serializable\n"
    insert = "INSERT INTO events VALUES (9, DATE'2026-03-09', 'a', 9)"
    theirs = {
        **suggested(UPDATE, DELETE, table=WITHOUT_VECTORS),
        **suggested("TRUNCATE TABLE events", insert, table=serializable),
        **suggested("OPTIMIZE events ZORDER BY (v)", DELETE),
    }
    keys = ("deletion_vectors", "write_serializable", "row_tracking")
    assert all(caution in theirs[key].note for key in keys)
    partitioned = WITHOUT_VECTORS + "partition_by: [region]\n"
    moved = suggested(UPDATE, DELETE.replace("2", "3"), "delta-oss-4.4", partitioned)
    assert caution in moved["row_level_concurrency"].note
    layouts = suggested(UPDATE, DELETE.replace("2", "3"), table=EVENTS + "partition_by: [region]\n")
    assert not any(caution in change.note for change in layouts.values())
