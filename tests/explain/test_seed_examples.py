"""The files of scenarios/explain give the documented answers."""

from __future__ import annotations

from pathlib import Path

import pytest

import whitecap

EXAMPLES = sorted((Path(__file__).parents[2] / "scenarios" / "explain").glob("*.yaml"))

APPEND, METADATA = "ConcurrentAppendException", "MetadataChangedException"
DELETE_READ, DELETE_DELETE = "ConcurrentDeleteReadException", "ConcurrentDeleteDeleteException"

ANSWERS: dict[str, tuple[list[str], set[str]]] = {
    "alter-and-insert": ([METADATA], set()),
    "insert-and-update": ([APPEND], {"deletion_vectors", "write_serializable"}),
    "merge-and-optimize": (
        [APPEND, DELETE_READ],
        {"name_partitions + compact_elsewhere", "vectors_on_databricks"},
    ),
    "merge-unpartitioned": ([APPEND], {"partition_by", "row_level_concurrency"}),
    "merge-with-literals": ([], set()),
    "merge-without-literals": ([APPEND], {"name_partitions", "row_level_concurrency"}),
    "optimize-and-delete": ([DELETE_DELETE, DELETE_READ], {"without_zorder + deletion_vectors"}),
    "subquery-on-clustered-table": ([APPEND], {"partition_by"}),
    "update-and-delete-partitioned": ([], set()),
    "update-and-delete-unpartitioned": ([APPEND], {"partition_by", "row_level_concurrency"}),
}
"""The exceptions of all orders of an example, and what avoids them, at least."""


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_is_explained_as_documented(path: Path) -> None:
    exceptions, avoided_by = ANSWERS[path.stem]
    why = whitecap.explain(path)
    assert sorted({each.verdict.exception.value for each in why.conflicts}) == exceptions
    assert why.can_conflict == bool(exceptions)
    assert {each.change.key for each in why.suggestions} >= avoided_by


def test_the_documentation_s_examples_are_all_there() -> None:
    assert {path.stem for path in EXAMPLES} >= {
        "update-and-delete-unpartitioned",
        "update-and-delete-partitioned",
        "merge-without-literals",
        "merge-with-literals",
    }


def explained(name: str) -> whitecap.Explained:
    (path,) = (path for path in EXAMPLES if path.stem == name)
    return whitecap.explain(path)


def test_update_and_delete_abort_each_other_without_partitions() -> None:
    explanation = explained("update-and-delete-unpartitioned")
    assert explanation.answer == (
        "They conflict: whichever commits second is aborted (ConcurrentAppendException)."
    )
    assert [(order.title, order.aborted) for order in explanation.orders] == [
        ("A first, then B", ()),
        ("side by side, A commits first", ("B",)),
        ("side by side, B commits first", ("A",)),
        ("B first, then A", ()),
    ]
    first = explanation.conflicts[0]
    assert first.verdict.rule.source.endswith(
        "checkForAddedFilesThatShouldHaveBeenReadByCurrentTxn"
    )
    assert first.verdict.message.startswith("[DELTA_CONCURRENT_APPEND.WITHOUT_HINT]")
    assert first.file.endswith("which A added")
    assert first.reads.startswith("the whole table")
    assert first.rerun == "commits version 4"


def test_partitioning_by_date_avoids_it_and_nothing_cheaper_does() -> None:
    suggested = explained("update-and-delete-unpartitioned").suggestions
    assert [suggestion.change.title for suggestion in suggested] == [
        "Partition the table by date",
        "Use row-level concurrency",
    ]
    assert explained("update-and-delete-unpartitioned").as_dict()["tried"] == [
        "Enable deletion vectors",
        "Use the isolation level WriteSerializable",
    ]


def test_merges_without_literals_are_told_which_literals_to_add() -> None:
    explanation = explained("merge-without-literals")
    assert explanation.conflicts[0].partition == "[date=2026-03-01, country=DE]"
    assert explanation.conflicts[0].reads == (
        "every partition: no part of its condition is about date and country alone"
    )
    literals = explanation.suggestions[0].change
    assert literals.how == (
        "A: AND t.date = DATE '2026-03-01' AND t.country = 'DE'",
        "B: AND t.date = DATE '2026-03-02' AND t.country = 'FR'",
    )
    assert " AND t.country = 'DE' WHEN MATCHED THEN UPDATE SET *" in literals.case.statements[0]


def test_orders_of_merges_are_told_by_the_table_that_is_written() -> None:
    titles = [order.title for order in explained("merge-without-literals").orders]
    assert titles == [
        "A first, then B",
        "side by side, A commits first",
        "side by side, B commits first",
        "B first, then A",
    ]


def test_the_rows_of_every_order_are_those_of_the_statements_that_committed() -> None:
    for order in explained("update-and-delete-unpartitioned").orders:
        deleted = "B" not in order.aborted
        updated = "A" not in order.aborted
        ids = {row["event_id"] for row in order.rows}
        assert ids == ({2, 4} if deleted else {1, 2, 3, 4})
        newer = {row["amount"] for row in order.rows if row["date"] > "2010-01-01"}
        assert newer == ({0.0} if updated else {2.0, 4.0})
