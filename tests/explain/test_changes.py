"""What is suggested against a conflict: no more than what is needed, and all of it true."""

from __future__ import annotations

import whitecap
from whitecap.engine.races.explain.case import RaceCase, conflicts_in
from whitecap.engine.races.explain.suggestions import Suggestion

ORDERS = """
name: orders
schema: "id BIGINT, day DATE, country STRING, amount DOUBLE"
partition_by: [day, country]
files:
  - - {id: 1, day: 2026-03-01, country: DE, amount: 1.0}
  - - {id: 2, day: 2026-03-01, country: DE, amount: 2.0}
  - - {id: 3, day: 2026-03-01, country: FR, amount: 3.0}
  - - {id: 4, day: 2026-03-02, country: FR, amount: 4.0}
  - - {id: 5, day: 2026-03-02, country: FR, amount: 5.0}
"""
PINNED = "UPDATE orders SET amount = 0 WHERE day = '2026-03-01' AND country IN ('DE') AND id = 1"
LOOSE = "DELETE FROM orders WHERE id = 4"


def suggested(a: str, b: str, dialect: str = "delta-oss-4.4") -> dict[str, Suggestion]:
    suggestions = whitecap.explain(ORDERS, a, b, dialect=dialect).suggestions
    return {suggestion.change.key: suggestion for suggestion in suggestions}


def test_partitions_that_a_condition_names_already_are_not_named_again() -> None:
    named = suggested(PINNED, LOOSE)["name_partitions"].change
    assert named.how == ("B: AND day = DATE '2026-03-02' AND country = 'FR'",)
    assert named.case.statements[0] == PINNED


def test_a_range_of_a_partition_column_is_not_as_good_as_its_value() -> None:
    ranged = "UPDATE orders SET amount = 0 WHERE day >= '2026-03-01' AND id = 1"
    named = suggested(ranged, LOOSE)["name_partitions"].change
    assert named.how[0] == "A: AND day = DATE '2026-03-01' AND country = 'DE'"


def test_compaction_may_leave_out_the_partitions_that_the_other_changes() -> None:
    compacted = suggested(PINNED, "OPTIMIZE orders ZORDER BY (id)")["compact_elsewhere"].change
    assert compacted.how == (
        "B: OPTIMIZE orders WHERE NOT (day = DATE '2026-03-01' AND country = 'DE') ZORDER BY (id)",
    )
    narrowed = suggested(PINNED, "OPTIMIZE orders WHERE day > '2026-01-01'")["compact_elsewhere"]
    assert narrowed.change.how == (
        "B: OPTIMIZE orders WHERE day > '2026-01-01'"
        " AND NOT (day = DATE '2026-03-01' AND country = 'DE')",
    )


def test_compaction_that_has_nothing_left_to_do_is_no_suggestion() -> None:
    assert "compact_elsewhere" not in suggested(PINNED, "OPTIMIZE orders WHERE day = '2026-03-01'")


def test_a_level_that_sql_refuses_is_not_suggested_as_sql() -> None:
    insert = "INSERT INTO orders VALUES (9, DATE'2026-03-02', 'FR', 1)"
    ours = suggested(LOOSE, insert)
    assert list(ours)[-1] == "row_level_concurrency"
    (how,) = ours["write_serializable"].change.how
    assert "ALTER TABLE" not in how
    assert "refuses" in how
    serializable = ORDERS + "isolation: Serializable\ndialect: databricks-14.3\n"
    (theirs,) = (
        suggestion for suggestion in whitecap.explain(serializable, LOOSE, insert).suggestions
        if suggestion.change.key == "write_serializable"
    )  # fmt: skip
    assert theirs.change.how == (
        "ALTER TABLE orders SET TBLPROPERTIES ('delta.isolationLevel' = 'WriteSerializable')",
    )


def test_what_helps_is_named_and_not_what_comes_along_with_it() -> None:
    """Databricks' default level lets the append pass, whatever rows say."""
    insert = "INSERT INTO orders VALUES (9, DATE'2026-03-02', 'FR', 1)"
    suggestions = suggested("TRUNCATE TABLE orders", insert)
    assert list(suggestions) == ["write_serializable"]
    assert "row_level_concurrency" in suggested(LOOSE, insert)


def test_against_compaction_databricks_needs_vectors_and_no_other_layout() -> None:
    suggestions = suggested("OPTIMIZE orders", "OPTIMIZE orders")
    assert list(suggestions) == ["vectors_on_databricks"]
    case = suggestions["vectors_on_databricks"].change.case
    assert case.table.partition_columns == ["day", "country"]
    theirs = suggested("OPTIMIZE orders", LOOSE, "databricks-14.3")
    assert "deletion_vectors" in theirs
    assert "row_level_concurrency" not in theirs


def test_every_suggestion_holds_when_it_is_tried_again() -> None:
    tried: list[RaceCase] = []
    for other in (LOOSE, "OPTIMIZE orders", "INSERT INTO orders VALUES (9, NULL, 'FR', 1)"):
        tried += [
            suggestion.change.case
            for suggestion in suggested("DELETE FROM orders WHERE id < 2", other).values()
        ]
    assert len(tried) > 4
    assert not any(conflicts_in(case.played()) for case in tried)


def test_nothing_is_suggested_that_a_clustered_table_has_already() -> None:
    clustered = ORDERS.replace("partition_by: [day, country]", "cluster_by: [id]")
    asking = "DELETE FROM orders WHERE id IN (SELECT 1)"
    document = whitecap.explain(clustered, asking, "DELETE FROM orders WHERE id = 2",
                                dialect="databricks-14.3").as_dict()  # fmt: skip
    assert document["can_conflict"]
    assert document["tried"] == []


def test_against_a_change_of_metadata_no_layout_is_tried() -> None:
    explanation = whitecap.explain(ORDERS, LOOSE, "ALTER TABLE orders ADD COLUMNS (note STRING)")
    assert explanation.can_conflict
    assert (explanation.suggestions, explanation.as_dict()["tried"]) == ((), [])


def test_a_suggestion_does_not_depend_on_which_statement_is_first() -> None:
    """To name the partition is right if the UPDATE is second only: it raises a row of another."""
    raising = "UPDATE orders SET amount = 100 WHERE id = 1"
    above = "DELETE FROM orders WHERE amount > 3.5"
    assert "name_partitions" not in suggested(above, raising)
    assert "name_partitions" not in suggested(raising, above)


def test_a_partition_without_a_value_is_named_too() -> None:
    table = ORDERS.replace("{id: 4, day: 2026-03-02,", "{id: 4, day: null,")
    both = "DELETE FROM orders WHERE id IN (4, 5)"
    helps = whitecap.explain(table, PINNED, both).suggestions
    (named,) = (each.change for each in helps if each.change.key == "name_partitions")
    assert named.how == ("B: AND (day IS NULL OR day = DATE '2026-03-02') AND country = 'FR'",)
    (named, *_) = (
        each.change
        for each in whitecap.explain(table, PINNED, LOOSE).suggestions
        if each.change.key == "name_partitions"
    )
    assert named.how == ("B: AND day IS NULL AND country = 'FR'",)
