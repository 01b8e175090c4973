"""The tables that Databricks publishes come out of the races, cell by cell."""

from __future__ import annotations

import re

import pytest
from click.testing import CliRunner

from tests.matrix.matrices import CHANGES, cell_of, cells_of, matrix, published_matrix
from whitecap.cli import main
from whitecap.engine.dialects import DIALECTS, dialect_named
from whitecap.engine.errors import UnsupportedFeature
from whitecap.engine.isolation import IsolationLevel
from whitecap.engine.races.matrix import contenders
from whitecap.engine.races.matrix.catalogue import commands_named, commands_of
from whitecap.engine.races.matrix.choice import choice_of, variants
from whitecap.engine.races.matrix.observing import observe
from whitecap.engine.settings import Settings

WITH_ROWS = "databricks-with-row-level-concurrency"
WITHOUT_ROWS = "databricks-without-row-level-concurrency"

# https://learn.microsoft.com/en-za/azure/databricks/optimizations/isolation/row-level-concurrency
DOCUMENTED_WITH_ROWS = [
    ("INSERT", "INSERT", "Cannot conflict"),
    (
        CHANGES,
        "INSERT",
        "Cannot conflict in WriteSerializable."
        " Can conflict in Serializable when modifying the same row.",
    ),
    (CHANGES, CHANGES, "Can conflict when modifying the same row."),
    ("OPTIMIZE", "INSERT", "Cannot conflict"),
    (
        "OPTIMIZE",
        CHANGES,
        "Can conflict when ZORDER BY is used. Cannot conflict otherwise.",
    ),
    (
        "OPTIMIZE",
        "OPTIMIZE",
        "Can conflict when ZORDER BY is used. Cannot conflict otherwise.",
    ),
]
DOCUMENTED_WITHOUT_ROWS = [
    ("INSERT", "INSERT", "Cannot conflict"),
    (
        CHANGES,
        "INSERT",
        "Cannot conflict in WriteSerializable. Can conflict in Serializable.",
    ),
    (CHANGES, CHANGES, "Can conflict in Serializable and WriteSerializable."),
    ("OPTIMIZE", "INSERT", "Cannot conflict"),
    (
        "OPTIMIZE",
        CHANGES,
        "Cannot conflict in tables with deletion vectors enabled, unless ZORDER BY is used."
        " Can conflict otherwise.",
    ),
    (
        "OPTIMIZE",
        "OPTIMIZE",
        "Cannot conflict in tables with deletion vectors enabled, unless ZORDER BY is used."
        " Can conflict otherwise.",
    ),
]


@pytest.mark.parametrize("dialect", ["databricks-14.2", "databricks-14.3"])
@pytest.mark.parametrize(("row", "column", "text"), DOCUMENTED_WITH_ROWS)
def test_with_row_level_concurrency_the_races_give_the_documented_cell(
    dialect: str, row: str, column: str, text: str
) -> None:
    cell = cell_of(dialect, WITH_ROWS, row, column)
    assert cell.cell.sentence == text
    assert cell.agrees


NOT_WITH_ZORDER = "Can conflict when ZORDER BY is used. Cannot conflict otherwise."


@pytest.mark.parametrize(("row", "column", "text"), DOCUMENTED_WITH_ROWS)
def test_on_13_3_clustered_tables_give_the_documented_cell_but_for_zorder_which_they_refuse(
    row: str, column: str, text: str
) -> None:
    cell = cell_of("databricks-13.3", WITH_ROWS, row, column)
    assert cell.published.text == text
    assert cell.cell.sentence == ("Cannot conflict" if text == NOT_WITH_ZORDER else text)
    assert cell.agrees
    assert ("refuse ZORDER BY" in cell.published.reading) == (text == NOT_WITH_ZORDER)


@pytest.mark.parametrize(
    ("dialect", "layouts"),
    [
        ("databricks-13.3", {"clustered"}),
        ("databricks-14.2", {"clustered", "unpartitioned"}),
        ("databricks-14.3", {"clustered", "unpartitioned"}),
    ],
)
def test_row_level_concurrency_is_on_the_tables_that_the_runtime_documents(
    dialect: str, layouts: set[str]
) -> None:
    with_rows = {table for table in published_matrix(dialect).variants if table.rows_reconciled}
    assert {table.layout.adjective for table in with_rows} == layouts
    assert all(table.deletion_vectors for table in with_rows)


def test_clustered_tables_without_row_level_concurrency_conflict_by_files() -> None:
    names = ("UPDATE", "DELETE")
    off = cells_of(matrix("databricks-14.3", names, rows_reconciled=False, clustered=True))
    assert off[names].only_when == ""
    on = cells_of(matrix("databricks-14.3", names, rows_reconciled=True, clustered=True), True)
    assert on[names].only_when == "only at the same row"


@pytest.mark.parametrize("dialect", ["databricks-13.3", "databricks-14.2", "databricks-14.3"])
@pytest.mark.parametrize(("row", "column", "text"), DOCUMENTED_WITHOUT_ROWS)
def test_without_row_level_concurrency_the_races_give_the_documented_cell(
    dialect: str, row: str, column: str, text: str
) -> None:
    cell = cell_of(dialect, WITHOUT_ROWS, row, column)
    assert cell.cell.sentence == text
    assert cell.agrees


def test_the_unclear_cell_says_how_it_was_read() -> None:
    cell = cell_of("databricks-14.3", WITH_ROWS, CHANGES, "INSERT")
    assert "appends a row that the other command's condition matches" in cell.published.reading


def test_on_14_2_only_a_merge_with_a_target_predicate_has_row_level_concurrency() -> None:
    changes = cells_of(published_matrix("databricks-14.2"), rows_reconciled=True)
    assert changes["UPDATE", "DELETE"].only_when == "only at the same row"
    assert changes["MERGE", "UPDATE"].only_when == (
        "only at the same row, if the conditions name the partition"
    )
    newer = cells_of(published_matrix("databricks-14.3"), rows_reconciled=True)
    assert newer["MERGE", "UPDATE"].only_when == "only at the same row"


def test_where_every_condition_names_the_day_no_cell_makes_that_a_circumstance() -> None:
    (table, _) = published_matrix("databricks-14.2").tables
    assert table.published.needs_target_predicate
    assert not any("conditions name" in cell.cell.only_when for cell in table.cells)


def test_a_part_of_the_family_can_be_chosen() -> None:
    level = IsolationLevel.WRITE_SERIALIZABLE
    part = matrix("databricks-14.3", ("UPDATE", "INSERT"), level, True, True, False)
    assert [variant.text for variant in part.variants] == [
        "unpartitioned, deletion vectors, row-level concurrency, WriteSerializable",
        "clustered by day, deletion vectors, row-level concurrency, WriteSerializable",
    ]
    assert not cells_of(part, rows_reconciled=True)["UPDATE", "INSERT"].can_conflict


# https://learn.microsoft.com/en-us/azure/databricks/delta/drop-feature: all DROP FEATURE operations
# conflict with all concurrent writes.
@pytest.mark.parametrize("writer", ["INSERT", "UPDATE", "DELETE", "MERGE", "streaming append"])
def test_dropping_a_feature_aborts_every_writer(writer: str) -> None:
    cells = cells_of(matrix("databricks-14.3", (writer, "DROP FEATURE"), rows_reconciled=False))
    cell = cells[writer, "DROP FEATURE"]
    assert cell.exceptions == ["ProtocolChangedException"]
    assert cell.only_when == ""
    assert cell.witness is not None
    assert "'delta.feature.checkConstraints' = 'supported'" in cell.witness.before[0]


@pytest.mark.parametrize(
    ("command", "lacking", "came_with"),
    [
        ("DROP FEATURE", ["13.3"], "14.1"),
        ("REPLACE USING", ["13.3", "14.2"], "16.3"),
        ("REORG UPGRADE UNIFORM", ["13.3", "14.2"], "14.3"),
    ],
)
def test_what_came_with_a_later_runtime_is_in_no_matrix_of_an_older_one(
    command: str, lacking: list[str], came_with: str
) -> None:
    for version in ("13.3", "14.2", "14.3"):
        resolved = dialect_named(f"databricks-{version}")
        names = {each.name for each in commands_of(resolved)}
        assert (command in names) is (version not in lacking)
        if version in lacking:
            with pytest.raises(UnsupportedFeature, match=f"it came with {re.escape(came_with)}"):
                commands_named((command,), resolved)


BEHIND_A_BARRIER = "DROP FEATURE deletionVectors"
PART = ["--dialect", "delta-oss-4.4", "--deletion-vectors", "on", "--partitioned", "yes"]


@pytest.mark.parametrize("dialect", list(DIALECTS))
def test_every_command_of_a_dialects_family_can_be_raced(dialect: str) -> None:
    resolved = dialect_named(dialect)
    first, *_ = commands = commands_of(resolved)
    tables = variants(resolved, choice_of(resolved))
    for table in (tables[0], tables[-1]):
        observed = observe(table, resolved, [(first, command) for command in commands], Settings())
        winners = {observation.winner for observation in observed.observations}
        assert winners == {command.name for command in commands}


def test_runtime_13_3_has_no_row_tracking_to_enable() -> None:
    oldest = dialect_named("databricks-13.3")
    assert "enabling row tracking" not in {command.name for command in commands_of(oldest)}
    with pytest.raises(UnsupportedFeature, match=r"it came with 14\.1"):
        commands_named(("enabling row tracking",), oldest)


def test_dropping_a_feature_behind_a_barrier_is_raced_on_request() -> None:
    arguments = ["matrix", *PART, "--pair", "UPDATE", BEHIND_A_BARRIER]
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 0
    assert f"UPDATE aborted by {BEHIND_A_BARRIER}" in result.output
    assert "DROP FEATURE deletionVectors aborted by UPDATE" in result.output
    assert "commits version 12" in " ".join(result.output.split())


def test_two_commands_of_many_commits_have_too_many_interleavings(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(contenders, "MOST_SCHEDULES", 200)
    arguments = ["matrix", *PART, "--pair", BEHIND_A_BARRIER, BEHIND_A_BARRIER]
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 2
    assert "have more than 200 interleavings" in result.output
