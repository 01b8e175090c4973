"""The table that Delta Lake publishes comes out of the races, cell by cell."""

from __future__ import annotations

import pytest

from tests.matrix.matrices import CHANGES, cell_of, cells_of, matrix, published_matrix
from whitecap.engine.dialects import dialect_named
from whitecap.engine.errors import InvalidInput, UnsupportedFeature
from whitecap.engine.isolation import IsolationLevel
from whitecap.engine.races.matrix.choice import choice_of, table_level_named

DELTA_3_3_DOCUMENTATION = [
    ("INSERT", "INSERT", "Cannot conflict"),
    (CHANGES, "INSERT", "Can conflict"),
    (CHANGES, CHANGES, "Can conflict"),
    ("COMPACTION", "INSERT", "Cannot conflict"),
    ("COMPACTION", CHANGES, "Can conflict"),
    ("COMPACTION", "COMPACTION", "Can conflict"),
]
"""https://docs.delta.io/3.3.1/concurrency-control.html, "Write conflicts"."""

DIALECTS = ["delta-oss-3.3", "delta-oss-4.4"]


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize(("row", "column", "text"), DELTA_3_3_DOCUMENTATION)
def test_the_races_give_the_documented_cell(dialect: str, row: str, column: str, text: str) -> None:
    cell = cell_of(dialect, "delta-oss", row, column)
    assert cell.cell.sentence == text
    assert cell.agrees


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_conflict_has_a_witness_and_nothing_else_has_one(dialect: str) -> None:
    for pair, cell in cells_of(published_matrix(dialect)).items():
        assert (cell.witness is not None) == cell.can_conflict, pair


def test_a_witness_tells_the_shortest_way_into_the_conflict() -> None:
    witness = cells_of(published_matrix("delta-oss-4.4"))["UPDATE", "INSERT"].witness
    assert witness is not None
    assert witness.variant.text == "unpartitioned, no deletion vectors, Serializable"
    assert [(line.who, line.text) for line in witness.lines] == [
        ("A", "reads version 4, stages 1 file"),
        ("B", "reads version 4, stages 1 file"),
        ("A", "commits version 5"),
        (
            "B",
            "finds version 5 taken, checks what was committed meanwhile,"
            " is aborted with ConcurrentAppendException",
        ),
    ]
    assert witness.loser == "B"
    assert witness.statements[1].startswith("UPDATE")


def test_an_insert_is_never_the_one_that_is_aborted() -> None:
    cells = cells_of(published_matrix("delta-oss-4.4"))
    assert not any(cell.can_conflict for (loser, _), cell in cells.items() if loser == "INSERT")


def test_naming_the_partition_limits_conflicts_to_it() -> None:
    cells = cells_of(published_matrix("delta-oss-4.4"))
    assert cells["UPDATE", "DELETE"].only_when == (
        "on partitioned tables only in the same partition, if the conditions name it"
    )


def test_the_loser_and_the_winner_are_told_apart() -> None:
    cells = cells_of(matrix("delta-oss-4.4", ("INSERT", "ADD COLUMN", "TRUNCATE")))
    assert cells["INSERT", "ADD COLUMN"].exceptions == ["MetadataChangedException"]
    assert not cells["ADD COLUMN", "INSERT"].can_conflict
    assert cells["TRUNCATE", "INSERT"].exceptions == ["ConcurrentAppendException"]
    assert not cells["INSERT", "TRUNCATE"].can_conflict


def test_streams_conflict_only_if_they_share_a_checkpoint() -> None:
    cells = cells_of(matrix("delta-oss-4.4", ("streaming append", "streaming, one checkpoint")))
    assert not cells["streaming append", "streaming append"].can_conflict
    shared = cells["streaming, one checkpoint", "streaming, one checkpoint"]
    assert shared.exceptions == ["ConcurrentTransactionException"]


def test_enabling_deletion_vectors_harms_writers_before_delta_4_only() -> None:
    names = ("INSERT", "enabling deletion vectors")
    assert cells_of(matrix("delta-oss-3.3", names))[names].can_conflict
    assert not cells_of(matrix("delta-oss-4.4", names))[names].can_conflict


def test_a_part_of_the_family_is_not_held_against_the_published_table() -> None:
    names = ("INSERT", "UPDATE", "DELETE", "MERGE", "OPTIMIZE", "OPTIMIZE ZORDER BY")
    part = matrix("delta-oss-4.4", names, partitioned=True, deletion_vectors=False)
    assert not part.is_whole
    assert published_matrix("delta-oss-4.4").is_whole


def test_what_a_dialect_lacks_cannot_be_asked_for() -> None:
    dialect = dialect_named("delta-oss-4.4")
    with pytest.raises(UnsupportedFeature, match="row-level concurrency"):
        choice_of(dialect, None, True, None, None)
    with pytest.raises(UnsupportedFeature, match="lets nobody set WriteSerializable"):
        choice_of(dialect, IsolationLevel.WRITE_SERIALIZABLE, None, None, None)


def test_row_level_concurrency_on_a_partitioned_table_is_refused() -> None:
    with pytest.raises(InvalidInput, match="unpartitioned"):
        choice_of(dialect_named("databricks-14.3"), None, True, None, True)


def test_misspelt_levels_and_commands_are_answered_with_the_nearest() -> None:
    with pytest.raises(InvalidInput, match="did you mean 'Serializable'"):
        table_level_named("serialisable")
    with pytest.raises(InvalidInput, match="did you mean 'TRUNCATE'"):
        matrix("delta-oss-4.4", ("TRUNKATE",))


def test_of_two_creators_of_one_table_the_second_is_aborted() -> None:
    cells = cells_of(matrix("delta-oss-4.4", ("CREATE TABLE", "CREATE TABLE AS SELECT", "INSERT")))
    for names in (("CREATE TABLE", "CREATE TABLE"), ("CREATE TABLE", "CREATE TABLE AS SELECT")):
        assert cells[names].exceptions == ["ProtocolChangedException"]
    assert not cells["CREATE TABLE", "INSERT"].can_conflict


def test_purging_conflicts_only_where_there_is_something_to_purge() -> None:
    cells = cells_of(matrix("delta-oss-4.4", ("UPDATE", "REORG PURGE")))
    assert cells["REORG PURGE", "UPDATE"].only_when.startswith("only with deletion vectors")
