"""What counts as read, and what it costs to find out."""

from __future__ import annotations

import pytest

from tests.races import WRITE, Table, add, metadata, remove, rule_of, where
from whitecap.engine.errors import DeltaError
from whitecap.engine.log.actions import Protocol
from whitecap.engine.outcomes import Committed
from whitecap.engine.settings import Settings, Widening
from whitecap.engine.transaction.entries import PredicateEntry
from whitecap.engine.transaction.transaction import Transaction

PLAIN = Protocol(min_reader_version=1, min_writer_version=2)


def paths(files: object) -> list[str]:
    return [file.path for file in files]  # type: ignore[attr-defined]


def a_table() -> Table:
    return Table.of_files(add("a", 1), add("b", 2), add("n", None))


def test_a_condition_over_partition_columns_selects_partitions() -> None:
    transaction = a_table().start()
    assert paths(transaction.filter_files(where("X = 1"))) == ["a"]
    assert paths(transaction.filter_files(where("x IS NULL OR x > 1"))) == ["n", "b"]
    assert len(transaction.read_set.entries) == 2


def test_one_expression_over_both_kinds_of_columns_is_a_data_predicate_as_a_whole() -> None:
    transaction = a_table().start()
    assert paths(transaction.filter_files(where("x = 1 AND v > 5"))) == ["n", "a", "b"]
    (entry,) = transaction.read_set.entries
    assert entry.text == "true"


def test_statistics_leave_out_files_for_data_predicates() -> None:
    low = '{"numRecords":1,"minValues":{"v":1},"maxValues":{"v":9},"nullCount":{"v":0}}'
    high = '{"numRecords":1,"minValues":{"v":10},"maxValues":{"v":19},"nullCount":{"v":0}}'
    table = Table.of_files(add("a", stats=low), add("b", stats=high), add("c"))
    assert paths(table.start().filter_files(where("x = 1", "v > 12"))) == ["b", "c"]
    table.settings = Settings(stats_skipping=False)
    assert paths(table.start().filter_files(where("x = 1", "v > 12"))) == ["a", "b", "c"]


def test_what_is_random_leaves_out_no_file_but_widens_what_may_conflict() -> None:
    ends = {}
    for widening in Widening:
        table = a_table()
        table.settings = Settings(widen_non_deterministic=widening)
        transaction = table.start()
        assert paths(transaction.filter_files(where("x = 7 AND rand() > 2"))) == ["n", "a", "b"]
        table.commit(add("w", 7))
        ends[widening] = rule_of(table.end(transaction, [add("m")]))
    assert ends == {"on": "added_files", "off": "committed", "logging": "committed"}


def test_dynamic_overwrite_finds_partitions_by_typed_values_and_reads_no_file() -> None:
    table = Table.of_files(add("a", partition_values={"x": "01"}), add("b", 2))
    transaction = table.start()
    files = transaction.filter_files_by_partitions_of([add("new", 1)])
    assert paths(files) == ["a"]
    assert transaction.read_set.file_read_at("a") is None
    table.commit(remove("a"))
    assert rule_of(table.end(transaction, [add("new", 1)])) == "committed"


def test_partition_values_that_do_not_parse_are_compared_as_text_unless_told_to_fail() -> None:
    table = Table.of_files(add("a", partition_values={"x": "abc"}))
    written = [add("new", partition_values={"x": "abc"})]
    assert paths(table.start().filter_files_by_partitions_of(written)) == ["a"]
    table.settings = Settings(fail_on_partition_value_parsing_error=True)
    with pytest.raises(DeltaError) as refused:
        table.start().filter_files_by_partitions_of(written)
    assert refused.value.error_class == "DELTA_PARTITION_COLUMN_CAST_FAILED"
    assert "`abc` to `IntegerType` for partition column `x`" in refused.value.message


def test_reading_metadata_or_an_empty_list_of_files_depends_on_nothing() -> None:
    transaction = a_table().start()
    assert transaction.metadata.partition_columns == ["x"]
    transaction.track_files_read([])
    assert not transaction.read_set.depends_on_files


def test_a_limit_tracks_only_the_files_it_came_to() -> None:
    table = a_table()
    transaction = table.start()
    transaction.filter_files_for_limit([add("a")], where("x >= 1"))
    table.commit(remove("b", 2))
    assert rule_of(table.end(transaction, [add("m")])) == "committed"


def test_reads_are_of_the_snapshot_even_after_the_winner_landed() -> None:
    table = a_table()
    transaction = table.start()
    table.commit(remove("a"))
    assert paths(transaction.filter_files(where("x = 1"))) == ["a"]
    assert rule_of(table.end(transaction, [add("m")])) == "removed_vs_read"


def test_reads_are_matched_by_the_partitioning_that_was_read() -> None:
    table = a_table()
    transaction = table.start()
    transaction.filter_files(where("x = 1"))
    transaction.update_metadata(metadata(partitioned=False))
    table.commit(add("w", 2))
    assert rule_of(table.end(transaction, [add("m", partition_values={})])) == "committed"


def test_a_check_costs_what_the_winner_changed_not_what_the_table_holds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    counts = {}
    for size in (10, 1_000):
        table = Table.of_files(*(add(f"f{x}", x) for x in range(size)))
        transaction = table.start()
        transaction.filter_files(where("x < 5"))
        table.commit(remove("f7", 7), add("g7", 7))
        with monkeypatch.context() as patch:
            counts[size] = _evaluations(patch, table, transaction)
    assert counts[10] == counts[1_000] == 1


def _evaluations(patch: pytest.MonkeyPatch, table: Table, transaction: Transaction) -> int:
    """How often a commit evaluates a predicate."""
    seen = []
    original = PredicateEntry._evaluate

    def counting(self: PredicateEntry, values: object) -> bool:
        seen.append(values)
        return original(self, values)  # type: ignore[arg-type]

    patch.setattr(PredicateEntry, "_evaluate", counting)
    assert isinstance(table.end(transaction, [add("m", 6)], WRITE), Committed)
    return len(seen)
