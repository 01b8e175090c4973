"""Which metadata a winner may set under the feet of others: property by property."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from tests.races import Table, add, metadata, remove, rule_of
from whitecap.engine.log.actions import Metadata, Protocol
from whitecap.engine.log.schema import Field, Schema, schema_string
from whitecap.engine.outcomes import Aborted, Committed
from whitecap.engine.settings import Settings

PLAIN = Protocol(min_reader_version=1, min_writer_version=2)

RT, DV, V2 = "enableRowTracking", "enableDeletionVectors", "checkpointPolicy"
ROW_ID = "rowTracking.materializedRowIdColumnName"
ICT, ICT_VERSION = "enableInCommitTimestamps", "inCommitTimestampEnablementVersion"
CM, MAX_ID = "columnMapping.mode", "columnMapping.maxColumnId"


def supporting(*features: str) -> Protocol:
    names = ["appendOnly", "invariants", *features]
    return Protocol(
        min_reader_version=3, min_writer_version=7, reader_features=names, writer_features=names
    )


def after(before: Metadata, winner: Metadata, protocol: Protocol = PLAIN, **session: Any) -> str:
    """How a blind append ends that such a winner overtook."""
    table = Table(before, protocol, settings=Settings(**session))
    transaction = table.start()
    table.commit(winner, blind=True)
    return rule_of(table.end(transaction, [add("n", stats='{"numRecords":1}')]))


@pytest.mark.parametrize(
    ("feature", "old", "new", "accepted"),
    [
        ("rowTracking", {}, {RT: "true"}, True),
        ("rowTracking", {}, {RT: "true", ROW_ID: "_r"}, True),
        ("rowTracking", {RT: "false"}, {RT: "true"}, True),
        ("rowTracking", {}, {RT: "false"}, False),
        ("rowTracking", {RT: "true"}, {RT: "false"}, False),
        ("rowTracking", {}, {ROW_ID: "_r"}, False),
        ("rowTracking", {RT: "false"}, {RT: "false", ROW_ID: "_r"}, False),
        ("deletionVectors", {}, {DV: "true"}, True),
        ("deletionVectors", {}, {DV: "TRUE"}, True),
        ("deletionVectors", {}, {DV: "false"}, False),
        ("deletionVectors", {DV: "true"}, {DV: "false"}, False),
        ("deletionVectors", {DV: "true"}, {}, False),
        ("v2Checkpoint", {}, {V2: "v2"}, True),
        ("v2Checkpoint", {V2: "classic"}, {V2: "v2"}, True),
        ("v2Checkpoint", {}, {V2: "classic"}, False),
        ("inCommitTimestamp", {}, {ICT: "true", ICT_VERSION: "1"}, True),
        ("inCommitTimestamp", {ICT_VERSION: "1"}, {ICT_VERSION: "2"}, False),
        ("columnMapping", {}, {MAX_ID: "7"}, True),
        ("columnMapping", {MAX_ID: "7"}, {MAX_ID: "8"}, True),
        ("columnMapping", {}, {CM: "name"}, True),
        ("columnMapping", {}, {CM: "id"}, False),
        ("columnMapping", {}, {CM: "none"}, False),
        ("deletionVectors", {}, {DV: "true", "appendOnly": "true"}, False),
        ("deletionVectors", {"mine": "1"}, {DV: "true"}, False),
    ],
)
def test_a_property_is_adopted_or_conflicts(
    feature: str, old: dict[str, str], new: dict[str, str], accepted: bool
) -> None:
    needs = ("domainMetadata",) if feature == "rowTracking" else ()
    end = after(
        metadata(partitioned=True, **old),
        metadata(partitioned=True, **new),
        supporting(feature, *needs),
    )
    assert end == ("committed" if accepted else "metadata")


@pytest.mark.parametrize("properties", [{RT: "true"}, {DV: "true"}, {V2: "v2"}, {CM: "name"}])
def test_nothing_is_adopted_whose_feature_the_table_lacks(properties: dict[str, str]) -> None:
    assert after(metadata(), metadata(partitioned=True, **properties)) == "metadata"


@pytest.mark.parametrize("key", ["appendOnly", "checkpointInterval", "logRetentionDuration"])
def test_other_properties_abort_even_blind_appends(key: str) -> None:
    assert after(metadata(), metadata(partitioned=True, **{key: "true"})) == "metadata"


@pytest.mark.parametrize(
    "change", [{"name": "t"}, {"description": "d"}, {"created_time": 5}, {"id": "other"}]
)
def test_any_other_field_aborts(change: dict[str, Any]) -> None:
    assert after(metadata(), replace(metadata(), **change)) == "metadata"


def test_the_same_metadata_again_harms_nobody() -> None:
    assert after(metadata(mine="1"), metadata(mine="1")) == "committed"


def test_two_commits_of_metadata_conflict_even_if_they_are_equal() -> None:
    table = Table(metadata(), PLAIN)
    transaction = table.start()
    table.commit(metadata())
    assert rule_of(table.end(transaction, [metadata()])) == "metadata"


def _with_columns(*columns: Field, **properties: str) -> Metadata:
    return replace(
        metadata(partitioned=True, **properties), schema_string=schema_string(Schema(columns))
    )


def _mapped(name: str, type_name: str, number: int, **more: Any) -> Field:
    keys = {"delta.columnMapping.id": number, "delta.columnMapping.physicalName": name}
    return Field(name, type_name, metadata={**keys, **more})


X, V = _mapped("x", "int", 1), _mapped("v", "bigint", 2)


@pytest.mark.parametrize(
    ("columns", "mode", "accepted"),
    [
        ((X, V), "name", True),
        ((X, V), "id", False),
        ((X, V, _mapped("w", "int", 3)), "name", False),
        ((X, _mapped("v", "int", 2)), "name", False),
        ((X, _mapped("w", "bigint", 2)), "name", False),
        ((X, _mapped("v", "bigint", 2, comment="c")), "name", False),
        ((V, X), "name", False),
    ],
)
def test_columns_may_change_only_by_what_column_mapping_adds(
    columns: tuple[Field, ...], mode: str, accepted: bool
) -> None:
    winner = _with_columns(*columns, **{CM: mode})
    end = after(metadata(), winner, supporting("columnMapping"))
    assert end == ("committed" if accepted else "metadata")


def test_without_the_resolution_nothing_is_adopted() -> None:
    end = after(
        metadata(),
        metadata(enableDeletionVectors="true"),
        supporting("deletionVectors"),
        resolve_feature_enablement=False,
    )
    assert end == "metadata"


def test_enabling_row_tracking_marks_the_rows_of_the_overtaken_commit_as_not_preserved() -> None:
    table = Table(metadata(), supporting("rowTracking", "domainMetadata"))
    transaction = table.start()
    table.commit(metadata(enableRowTracking="true"), blind=True)
    outcome = table.end(transaction, [add("n", stats='{"numRecords":1}')])
    assert isinstance(outcome, Committed)
    assert outcome.commit_info.tags == {"delta.rowTracking.preserved": "false"}


def test_adopted_metadata_is_what_the_next_winner_is_held_against() -> None:
    table = Table(metadata(), supporting("deletionVectors"))
    transaction = table.start()
    table.commit(metadata(enableDeletionVectors="true"))
    table.commit(metadata(), blind=True)  # switches it off again
    outcome = table.end(transaction, [add("n")])
    assert isinstance(outcome, Aborted)
    assert (outcome.verdict.rule, outcome.verdict.winning_version) == ("metadata", 2)
    assert outcome.verdict.evidence == "unset: delta.enableDeletionVectors"


def test_a_delete_survives_the_enabling_of_deletion_vectors() -> None:
    table = Table(metadata(), supporting("deletionVectors"), add("a"))
    transaction = table.start()
    transaction.filter_all_files()
    table.commit(metadata(enableDeletionVectors="true"))
    assert rule_of(table.end(transaction, [remove("a")])) == "committed"
