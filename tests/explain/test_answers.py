"""What the answer of an explanation says, and what the reader is told of files and conditions."""

from __future__ import annotations

import re

import pytest

import whitecap
from whitecap.engine.errors import InvalidInput

ORDERS = """
name: orders
schema: "id BIGINT, day DATE, status STRING, amount DOUBLE"
properties: {delta.enableDeletionVectors: true}
files:
  - - {id: 1, day: 2026-03-01, status: open, amount: 1.0}
    - {id: 2, day: 2026-03-01, status: paid, amount: 2.0}
  - - {id: 3, day: 2026-03-02, status: open, amount: 3.0}
other_tables:
  - name: blocked
    schema: "id BIGINT"
    files: [[{id: 1}]]
"""
DELETE_1, INSERT = "DELETE FROM orders WHERE id = 1", "INSERT INTO orders VALUES (9, NULL, 'x', 1)"


def answer(a: str, b: str, dialect: str | None = None) -> str:
    return whitecap.explain(ORDERS, a, b, dialect=dialect).answer


def test_a_statement_that_delta_refuses_does_not_end_well() -> None:
    asking = "DELETE FROM orders WHERE id IN (SELECT id FROM blocked)"
    explanation = whitecap.explain(ORDERS, asking, DELETE_1)
    assert explanation.answer == (
        "A is refused in any case (DELTA_UNSUPPORTED_SUBQUERY). Nothing conflicts."
    )
    (refusal,) = explanation.as_dict()["refusals"]
    assert refusal["message"].startswith(
        "[DELTA_UNSUPPORTED_SUBQUERY] Subqueries are not supported"
    )
    assert answer(asking, DELETE_1, "databricks-14.3").startswith("They conflict")


def test_a_refusal_after_the_other_is_told_beside_the_conflict() -> None:
    assert answer(INSERT, "ALTER TABLE orders ADD COLUMNS (note STRING)") == (
        "They conflict: A is aborted if B commits first (MetadataChangedException)."
        " Run after B, A is refused (DELTA_INSERT_COLUMN_ARITY_MISMATCH)."
    )


def test_a_statement_with_nothing_to_do_is_no_promise_for_other_tables() -> None:
    assert answer("DELETE FROM orders WHERE id = 77", INSERT) == (
        "They cannot conflict on this table: A has nothing to commit."
    )
    nothing = "UPDATE orders SET amount = 0 WHERE id = 78"
    assert answer("DELETE FROM orders WHERE id = 77", nothing) == (
        "They cannot conflict on this table: A and B have nothing to commit."
    )


def test_a_file_with_a_new_deletion_vector_was_neither_added_nor_removed() -> None:
    explanation = whitecap.explain(ORDERS, "DELETE FROM orders WHERE id = 3", DELETE_1)
    (of_a,) = (conflict for conflict in explanation.conflicts if conflict.loser == "A")
    assert of_a.file.endswith(".parquet, of which B deleted rows (it has a new deletion vector)")


def test_a_conflict_about_rows_names_the_condition_that_they_match() -> None:
    first = "UPDATE orders SET amount = 0 WHERE status = 'open'"
    explanation = whitecap.explain(
        ORDERS, first, "UPDATE orders SET status = 'x' WHERE id = 1", dialect="databricks-14.3"
    )
    (of_a,) = (conflict for conflict in explanation.conflicts if conflict.loser == "A")
    assert of_a.verdict.error_class.endswith("ROW_LEVEL_CHANGES")
    assert of_a.reads == "rows where status = 'open'"


BY_SOURCE = (
    "MERGE INTO orders t USING (SELECT 1 AS id) s ON t.id = s.id"
    " WHEN NOT MATCHED BY SOURCE THEN UPDATE SET amount = 0"
)
BY_KEY = BY_SOURCE.replace("NOT MATCHED BY SOURCE", "MATCHED")
TOP = "INSERT INTO orders SELECT * FROM orders WHERE id > 0 LIMIT 1"


@pytest.mark.parametrize(
    ("statement", "dialect", "why"),
    [
        ("UPDATE orders SET amount = 0 WHERE id IN (SELECT id FROM blocked) OR id = 3", "14.3",
         "its condition asks a subquery (one of plain columns and literals would do)"),
        ("UPDATE orders SET amount = 0 WHERE rand() < 2", "14.3",
         "its condition is not deterministic (one of plain columns and literals would do)"),
        (BY_SOURCE, "14.3",
         "WHEN NOT MATCHED BY SOURCE is about rows that no row of the source matches"),
        (BY_SOURCE.replace("s.id", "s.id AND t.id > 0"), "14.2",
         "WHEN NOT MATCHED BY SOURCE is about rows that no row of the source matches"),
        (BY_KEY.replace("1", "3"), "14.2",
         "its ON asks nothing of the target alone (a bound of one of its columns would do)"),
        (TOP, "14.3",
         "its query stops at a LIMIT (a condition of plain columns and literals would do)"),
        ("UPDATE orders SET amount = 0", "14.3", "it has no condition that picks rows"),
    ],
)  # fmt: skip
def test_where_files_decide_in_spite_of_row_level_concurrency_it_is_said_why(
    statement: str, dialect: str, why: str
) -> None:
    update = "UPDATE orders SET amount = 0 WHERE id = 1"
    explanation = whitecap.explain(ORDERS, update, statement, dialect=f"databricks-{dialect}")
    (of_b,) = (conflict for conflict in explanation.conflicts if conflict.loser == "B")
    said = f"rows cannot be told apart, as {why}, so files decide"
    assert of_b.reads == f"the whole table: {said}"


@pytest.mark.parametrize(
    ("other", "advice"),
    [
        ("DELETE FROM orders WHERE id = 1", "Run them one after the other"),
        ("ALTER TABLE orders SET TBLPROPERTIES ('a' = 'b')", "Change a table's metadata while"),
    ],
)
def test_there_is_always_something_to_do(other: str, advice: str) -> None:
    assert whitecap.explain(ORDERS, DELETE_1, other).as_dict()["otherwise"].startswith(advice)
    assert whitecap.explain(ORDERS, INSERT, INSERT).as_dict()["otherwise"] == ""


def test_orders_with_several_commits_of_one_statement_are_told_apart() -> None:
    titles = [order.title for order in whitecap.explain(ORDERS, "VACUUM orders", DELETE_1).orders]
    assert "side by side, commits of A, B, A" in titles


def test_of_a_removed_file_it_is_told_why_it_was_read() -> None:
    plain = ORDERS.replace("true", "false")
    delete = "DELETE FROM orders WHERE id IN (1, 2)"
    reads = {
        first: whitecap.explain(plain, first, delete).conflicts[-1].reads
        for first in (DELETE_1, "DELETE FROM orders", "OPTIMIZE orders")
    }
    assert reads == {
        DELETE_1: "files that may hold rows where id = 1",
        "DELETE FROM orders": "every file",
        "OPTIMIZE orders": "the files that it compacts",
    }


@pytest.mark.parametrize(
    ("other", "advice"),
    [
        (INSERT, "Run B before A: after A, B is refused."),
        (
            "ALTER TABLE orders ADD COLUMNS (note STRING)",
            "Run only one of them: whichever runs second is refused.",
        ),
        (
            DELETE_1,
            "Change a table's metadata while nobody writes it, or run what was aborted again.",
        ),
    ],
)
def test_what_would_be_refused_is_not_to_be_run_again(other: str, advice: str) -> None:
    altering = "ALTER TABLE orders ADD COLUMNS (note STRING)"
    assert whitecap.explain(ORDERS, altering, other).as_dict()["otherwise"] == advice


def test_a_refusal_side_by_side_alone_is_told_beside_the_one_in_turn() -> None:
    table = ORDERS.replace("{delta.", "{delta.feature.checkConstraints: supported, delta.")
    dropping = "ALTER TABLE orders DROP FEATURE checkConstraints"
    explanation = whitecap.explain(
        table, dropping, "ALTER TABLE orders ADD CONSTRAINT c CHECK (id > 0)"
    )
    assert explanation.answer.endswith(
        "Side by side with B, A is refused (DELTA_FEATURE_DROP_CONFLICT_REVALIDATION_FAIL)."
        " Run after B, A is refused (DELTA_CANNOT_DROP_CHECK_CONSTRAINT_FEATURE)."
    )
    sides = [refusal.side_by_side for refusal in explanation.refusals]
    assert sides == [True, False]


def test_orders_in_which_the_loser_read_at_different_times_have_titles_of_their_own() -> None:
    altering = "ALTER TABLE orders ADD COLUMNS (note STRING)"
    orders = whitecap.explain(ORDERS, "VACUUM orders", altering).orders
    titles = [order.title for order in orders if order.aborted]
    assert "side by side, commits of A, B; A reads after 1 of them" in titles
    upgrading = "REORG TABLE orders APPLY (UPGRADE UNIFORM (ICEBERG_COMPAT_VERSION = 2))"
    ends: dict[str, set[tuple[str, str]]] = {
        order.title: set() for order in whitecap.explain(ORDERS, upgrading, DELETE_1).orders
    }
    for order in whitecap.explain(ORDERS, upgrading, DELETE_1).orders:
        ends[order.title].add(order.endings)
    assert all(len(endings) == 1 for endings in ends.values())
    assert "side by side, commits of A, A, A; B reads after 1 of them" in ends


def test_a_conflict_on_delta_rs_has_neither_the_message_nor_the_source_of_delta() -> None:
    plain = ORDERS.replace("properties: {delta.enableDeletionVectors: true}\n", "")
    document = whitecap.explain(
        plain, "OPTIMIZE orders", DELETE_1, dialect="delta-rs-1.6.6"
    ).as_dict()
    shown = {
        (each["source"], each["message"], each["error_class"]) for each in document["conflicts"]
    }
    checks = (
        "check_for_added_files_that_should_have_been_read_by_current_txn",
        "check_for_deleted_files_against_current_txn_read_files",
    )
    assert shown == {(f"conflict_checker.rs: {check}", "", "") for check in checks}


def test_a_parameter_without_a_name_is_called_as_it_is_written() -> None:
    with pytest.raises(InvalidInput, match=re.escape("the parameter ?, which has no value")):
        whitecap.explain(ORDERS, "DELETE FROM orders WHERE id = ?", INSERT)
