"""Dialects differ by declaration, and the transaction heeds what they declare."""

from __future__ import annotations

import pytest

from tests.races import OPTIMIZE, WRITE, Table, add, metadata, remove, rule_of, where
from whitecap.engine.dialects import (
    DATABRICKS_14_3,
    DELTA_OSS_3_3,
    DELTA_OSS_4_4,
    DIALECTS,
    Dialect,
    dialect_named,
)
from whitecap.engine.errors import InvalidInput
from whitecap.engine.log.actions import AnyAction, Protocol
from whitecap.engine.outcomes import Committed
from whitecap.engine.storage.memory import run

PLAIN = Protocol(min_reader_version=1, min_writer_version=2)
WITH_VECTORS = Protocol(
    min_reader_version=3,
    min_writer_version=7,
    reader_features=["deletionVectors"],
    writer_features=["appendOnly", "deletionVectors", "invariants"],
)


def test_the_seven_dialects_are_there_by_name() -> None:
    assert sorted(DIALECTS) == [
        "databricks-13.3",
        "databricks-14.2",
        "databricks-14.3",
        "delta-oss-3.3",
        "delta-oss-4.4",
        "delta-rs-1.6.3",
        "delta-rs-1.6.6",
    ]


def test_a_misspelt_dialect_is_answered_with_the_nearest() -> None:
    with pytest.raises(InvalidInput, match=r"did you mean 'delta-oss-4\.4'"):
        dialect_named("delta-os-4.4")


@pytest.mark.parametrize("dialect", DIALECTS.values(), ids=lambda dialect: dialect.name)
def test_every_difference_names_its_source(dialect: Dialect) -> None:
    assert all(difference.source for difference in dialect.differences)
    assert bool(dialect.differences) is (dialect is not DELTA_OSS_4_4)


@pytest.mark.parametrize(
    ("dialect", "level"),
    [(DELTA_OSS_4_4, "Serializable"), (DATABRICKS_14_3, "WriteSerializable")],
)
def test_a_table_without_the_property_has_the_default_level_of_its_dialect(
    dialect: Dialect, level: str
) -> None:
    table = Table(metadata(), PLAIN)
    transaction = table.start(dialect=dialect)
    outcome = run(transaction.commit([add("n")], WRITE), table.store)
    assert isinstance(outcome, Committed)
    assert outcome.commit_info.isolation_level == level
    assert outcome.commit_info.engine_info == dialect.engine_info


def test_databricks_default_lets_a_reader_pass_a_blind_append_where_delta_does_not() -> None:
    ends = {}
    for dialect in (DELTA_OSS_4_4, DATABRICKS_14_3):
        table = Table(metadata(), PLAIN, add("a"))
        transaction = table.start(dialect=dialect)
        transaction.filter_files(where("x = 1"))
        table.commit(add("w"), blind=True)
        ends[dialect.name] = rule_of(table.end(transaction, [remove("a")]))
    assert ends == {"delta-oss-4.4": "added_files", "databricks-14.3": "committed"}


def test_delta_3_3_refuses_a_winner_that_enables_deletion_vectors() -> None:
    ends = {}
    for dialect in (DELTA_OSS_4_4, DELTA_OSS_3_3):
        table = Table(metadata(), WITH_VECTORS)
        transaction = table.start(dialect=dialect)
        table.commit(metadata(enableDeletionVectors="true"))
        ends[dialect.name] = rule_of(table.end(transaction, [add("n")]))
    assert ends == {"delta-oss-4.4": "committed", "delta-oss-3.3": "metadata"}


def test_a_rewrite_that_changes_nothing_downgrades_under_every_default() -> None:
    for dialect in DIALECTS.values():
        if not dialect.describes_commits:
            continue
        table = Table(metadata(), PLAIN, add("a"))
        transaction = table.start(dialect=dialect)
        rewrite: list[AnyAction] = [remove("a", data_change=False), add("b", data_change=False)]
        outcome = table.end(transaction, rewrite, OPTIMIZE)
        assert isinstance(outcome, Committed)
        assert outcome.commit_info.isolation_level == "SnapshotIsolation"
