"""What Delta refuses before it looks at any winner, and what it adds to a commit by itself."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from tests.races import DELETE, OPTIMIZE, WRITE, Table, add, metadata, remove
from whitecap.engine.conflicts.operation import MANUAL_UPDATE, Operation
from whitecap.engine.errors import DeltaError
from whitecap.engine.log.actions import (
    AddCDCFile,
    AnyAction,
    CommitInfo,
    DeletionVector,
    DomainMetadata,
    Metadata,
    Protocol,
    SetTransaction,
)
from whitecap.engine.log.schema import Field, Schema, schema_of_metadata, schema_string
from whitecap.engine.outcomes import Committed, NothingToCommit, Outcome
from whitecap.engine.settings import CheckMode, ConsistencyMode, Settings
from whitecap.engine.storage.memory import run

PLAIN = Protocol(min_reader_version=1, min_writer_version=2)
VECTORS = Protocol(
    min_reader_version=3,
    min_writer_version=7,
    reader_features=["deletionVectors"],
    writer_features=["appendOnly", "deletionVectors", "invariants"],
)
DOMAINS = Protocol(
    min_reader_version=1,
    min_writer_version=7,
    writer_features=["appendOnly", "domainMetadata", "invariants"],
)
VECTOR = DeletionVector(storage_type="u", path_or_inline_dv="ab^-aqEH.-t@S}K{vb[*k^", offset=1)
WIDE = '{"numRecords":2,"tightBounds":false}'
VECTORED = add("n", deletion_vector=VECTOR, stats=WIDE)
DOMAIN = DomainMetadata(domain="d", configuration="", removed=False)
CHANGE_FILE = AddCDCFile(path="c", partition_values={"x": "1"}, size=1)


def ending(
    *actions: AnyAction,
    on: Table | None = None,
    operation: Operation = WRITE,
    **session: Any,
) -> Outcome:
    table = on or Table(metadata(), PLAIN, add("a"))
    table.settings = Settings(**session)
    return table.end(table.start(), actions, operation)


def refusal(*actions: AnyAction, **options: Any) -> str | None:
    with pytest.raises(DeltaError) as refused:
        ending(*actions, **options)
    return refused.value.error_class or refused.value.exception


def commit_info_of(*actions: AnyAction, **options: Any) -> CommitInfo:
    outcome = ending(*actions, **options)
    assert isinstance(outcome, Committed)
    return outcome.commit_info


def kinds(outcome: Outcome) -> list[str]:
    assert isinstance(outcome, Committed)
    return [type(line).__name__ for line in outcome.actions]


@pytest.mark.parametrize(
    ("actions", "refused_as"),
    [
        ((metadata(), metadata()), "AssertionError"),
        ((DOMAINS, DOMAINS), "AssertionError"),
        ((PLAIN, metadata(enableDeletionVectors="true")), "AssertionError"),
        ((add("n", partition_values={"y": "1"}),), "DELTA_INVALID_PARTITIONING_SCHEMA"),
        ((add("n", partition_values={}),), "DELTA_INVALID_PARTITIONING_SCHEMA"),
        ((add("n"), add("n")), "DELTA_DUPLICATE_ACTIONS_FOUND"),
        ((remove("a"), remove("a")), "DELTA_DUPLICATE_ACTIONS_FOUND"),
        ((remove("a"), add("a")), "DELTA_DUPLICATE_ACTIONS_FOUND"),
        ((DOMAIN,), "DELTA_DOMAIN_METADATA_NOT_SUPPORTED"),
        ((VECTORED,), "DELTA_ADDING_DELETION_VECTORS_DISALLOWED"),
        ((metadata(isolationLevel="Foo"),), "DELTA_INVALID_ISOLATION_LEVEL"),
        (
            (SetTransaction(app_id="q", version=1), SetTransaction(app_id="q", version=2)),
            "IllegalArgumentException",
        ),
    ],
)
def test_a_commit_that_makes_no_sense_is_refused(
    actions: tuple[AnyAction, ...], refused_as: str
) -> None:
    assert refusal(*actions) == refused_as


def test_a_removed_file_may_come_back_with_another_deletion_vector() -> None:
    table = Table(metadata(enableDeletionVectors="true"), VECTORS, add("a"))
    outcome = ending(remove("a"), add("a", deletion_vector=VECTOR, stats=WIDE), on=table)
    assert isinstance(outcome, Committed)


@pytest.mark.parametrize(
    ("stats", "operation", "refused_as"),
    [
        (None, DELETE, "DELTA_DELETION_VECTOR_MISSING_NUM_RECORDS"),
        ('{"numRecords":2}', DELETE, "DELTA_ADDING_DELETION_VECTORS_WITH_TIGHT_BOUNDS_DISALLOWED"),
        ('{"numRecords":2}', MANUAL_UPDATE, None),
        ('{"numRecords":2}', Operation("RESTORE"), None),
        (WIDE, DELETE, None),
    ],
)
def test_files_with_deletion_vectors_need_counts_and_wide_bounds(
    stats: str | None, operation: Operation, refused_as: str | None
) -> None:
    table = Table(metadata(enableDeletionVectors="true"), VECTORS)
    vectored = add("n", deletion_vector=VECTOR, stats=stats)
    if refused_as is None:
        assert isinstance(ending(vectored, on=table, operation=operation), Committed)
    else:
        assert refusal(vectored, on=table, operation=operation) == refused_as


def test_an_append_only_table_refuses_changes_but_not_rearrangements() -> None:
    table = Table(metadata(appendOnly="true"), PLAIN, add("a"))
    assert refusal(remove("a"), on=table) == "DELTA_CANNOT_MODIFY_APPEND_ONLY"
    rearranged: list[AnyAction] = [remove("a", data_change=False), add("b", data_change=False)]
    assert isinstance(ending(*rearranged, on=table), Committed)


def test_a_protocol_cannot_be_lowered_except_by_dropping_the_feature_by_name() -> None:
    table = Table(metadata(), DOMAINS)
    lowered = Protocol(
        min_reader_version=1, min_writer_version=7, writer_features=["appendOnly", "invariants"]
    )
    assert refusal(lowered, on=table) == "DELTA_INVALID_PROTOCOL_DOWNGRADE"
    drop = Operation("DROP FEATURE", {"featureName": "domainMetadata"})
    assert isinstance(ending(lowered, on=table, operation=drop), Committed)


@pytest.mark.parametrize(
    ("mode", "operation", "refused"),
    [
        (CheckMode.TRUE, Operation("UPDATE"), True),
        (CheckMode.LOG_ONLY, Operation("UPDATE"), False),
        (CheckMode.FALSE, Operation("UPDATE"), False),
        (CheckMode.TRUE, MANUAL_UPDATE, False),
        (CheckMode.TRUE, Operation("WRITE", {"mode": "Overwrite"}), True),
        (
            CheckMode.TRUE,
            Operation("WRITE", {"mode": "Overwrite", "canOverwriteSchema": True}),
            False,
        ),
    ],
)
def test_who_may_change_the_partition_columns(
    mode: CheckMode, operation: Operation, refused: bool
) -> None:
    options: Any = {"operation": operation, "partition_column_change_check": mode}
    if refused:
        change = refusal(metadata(partitioned=False), **options)
        assert change == "DELTA_UNSUPPORTED_PARTITION_COLUMN_CHANGE"
    else:
        assert isinstance(ending(metadata(partitioned=False), **options), Committed)


def test_mixed_data_change_is_refused_only_where_the_session_says_fatal() -> None:
    mixed = [add("n"), add("m", data_change=False)]
    assert isinstance(ending(*mixed), Committed)
    fatal = refusal(*mixed, consistent_data_change=ConsistencyMode.FATAL)
    assert fatal == "IllegalStateException"
    with_change_file = ending(add("n"), CHANGE_FILE, consistent_data_change=ConsistencyMode.FATAL)
    assert isinstance(with_change_file, Committed), "change files do not count"


@pytest.mark.parametrize(
    ("actions", "blind"),
    [
        ((), True),
        ((add("n"),), True),
        ((metadata(),), True),
        ((SetTransaction(app_id="q", version=1),), True),
        ((add("n"), CHANGE_FILE), False),
        ((remove("a"),), False),
    ],
)
def test_a_commit_is_blind_if_it_only_adds_and_read_nothing(
    actions: tuple[AnyAction, ...], blind: bool
) -> None:
    assert commit_info_of(*actions).is_blind_append is blind


@pytest.mark.parametrize(
    ("level", "operation", "actions", "used"),
    [
        ("Serializable", WRITE, (add("n"),), "Serializable"),
        ("Serializable", WRITE, (), "SnapshotIsolation"),
        ("Serializable", WRITE, (add("n", data_change=False),), "SnapshotIsolation"),
        ("WriteSerializable", WRITE, (add("n", data_change=False),), "WriteSerializable"),
        ("WriteSerializable", DELETE, (), "WriteSerializable"),
        ("WriteSerializable", OPTIMIZE, (add("n", data_change=False),), "SnapshotIsolation"),
        ("writeserializable", WRITE, (add("n"),), "WriteSerializable"),
        ("SnapshotIsolation", WRITE, (add("n"),), "SnapshotIsolation"),
        ("Serializable", OPTIMIZE, (SetTransaction(app_id="q", version=1),), "Serializable"),
        ("Serializable", OPTIMIZE, (CHANGE_FILE,), "SnapshotIsolation"),
    ],
)
def test_the_level_that_is_used_and_recorded(
    level: str, operation: Operation, actions: tuple[AnyAction, ...], used: str
) -> None:
    table = Table.of_files(add("a"), level=level)
    assert commit_info_of(*actions, on=table, operation=operation).isolation_level == used


@pytest.mark.parametrize(
    ("level", "session", "skipped"),
    [
        ("Serializable", {}, True),
        ("SnapshotIsolation", {}, True),
        ("WriteSerializable", {}, False),
        ("Serializable", {"skip_recording_empty_commits": False}, False),
    ],
)
def test_an_empty_commit_if_needed_is_skipped_unless_it_would_be_write_serializable(
    level: str, session: dict[str, Any], skipped: bool
) -> None:
    table = Table.of_files(level=level)
    table.settings = Settings(**session)
    outcome = run(table.start().commit_if_needed([], DELETE), table.store)
    assert outcome == NothingToCommit(0) if skipped else isinstance(outcome, Committed)
    assert table.version == (0 if skipped else 1)


def test_a_new_table_gets_the_default_protocol_first_unless_its_metadata_needs_more() -> None:
    assert kinds(ending(metadata(), on=Table())) == ["CommitInfo", "Protocol", "Metadata"]
    needy = ending(metadata(enableDeletionVectors="true"), on=Table())
    assert kinds(needy) == ["CommitInfo", "Metadata", "Protocol"]


def test_a_first_commit_without_metadata_is_refused() -> None:
    assert refusal(add("n", partition_values={}), on=Table()) == "DELTA_METADATA_ABSENT"


def test_metadata_that_needs_a_feature_brings_the_protocol_along() -> None:
    outcome = ending(metadata(enableDeletionVectors="true"))
    assert kinds(outcome) == ["CommitInfo", "Metadata", "Protocol"]


def test_session_defaults_reach_new_tables_only() -> None:
    settings = Settings(property_defaults={"delta.appendOnly": "true"})
    for table, expected in ((Table(), "true"), (Table(metadata(), PLAIN), None)):
        table.settings = settings
        transaction = table.start()
        transaction.update_metadata(metadata())
        assert transaction.metadata.configuration.get("delta.appendOnly") == expected


def test_a_table_that_tracks_rows_names_its_row_id_columns_once() -> None:
    table = Table()
    transaction = table.start()
    transaction.update_metadata(metadata(enableRowTracking="true"))
    run(transaction.commit([], MANUAL_UPDATE), table.store)
    first = _row_id_column(transaction.metadata)
    assert first is not None
    again = table.start()
    again.update_metadata(metadata(enableRowTracking="true", appendOnly="true"))
    assert _row_id_column(again.metadata) == first


def test_moving_identity_marks_names_the_row_id_columns_too() -> None:
    """Of a table whose protocol knows row tracking, whether or not it is on."""
    tracked = replace(DOMAINS, writer_features=["domainMetadata", "rowTracking"])
    for protocol, is_named in ((tracked, True), (DOMAINS, False)):
        transaction = Table(metadata(), protocol).start()
        transaction.move_identity_marks({"x": 1})
        assert (_row_id_column(transaction.metadata) is not None) == is_named


def _row_id_column(of: Metadata) -> str | None:
    return of.configuration.get("delta.rowTracking.materializedRowIdColumnName")


def test_a_rebased_commit_keeps_the_version_that_it_read_and_its_clock() -> None:
    table = Table.of_files()
    transaction = table.start()
    table.commit(add("w"), blind=True)
    outcome = table.end(transaction, [add("n")])
    assert isinstance(outcome, Committed)
    assert (outcome.version, outcome.commit_info.read_version) == (2, 0)


def test_operation_parameters_are_recorded_as_delta_does() -> None:
    operation = Operation("WRITE", {"mode": "Append", "partitionBy": ["x"], "auto": False})
    recorded = commit_info_of(add("n"), operation=operation).operation_parameters
    assert recorded == {"mode": "Append", "partitionBy": '["x"]', "auto": False}


def _columns(*fields: Field, **properties: str) -> Metadata:
    return replace(
        metadata(partitioned=False, **properties), schema_string=schema_string(Schema(fields))
    )


MAPPED = {"columnMapping.mode": "name"}


@pytest.mark.parametrize(
    ("wanted", "refused_as"),
    [
        (_columns(Field("a", "int"), Field("A", "int")), "DELTA_DUPLICATE_COLUMNS_FOUND"),
        (_columns(Field("a b", "int")), "DELTA_INVALID_CHARACTERS_IN_COLUMN_NAMES"),
        (_columns(Field("a", "timestamp_ntz")), "DELTA_FEATURES_REQUIRE_MANUAL_ENABLEMENT"),
        (_columns(Field("a", "int"), **MAPPED), "ColumnMappingException"),
        (_columns(Field("a", "int"), **{"columnMapping.mode": "odd"}), "ColumnMappingUnsupported"),
        (
            replace(metadata(), partition_columns=["X"]),
            "FIELD_NOT_FOUND",
        ),
    ],
)
def test_metadata_that_no_table_can_have_is_refused(wanted: Metadata, refused_as: str) -> None:
    assert (refusal(wanted) or "").startswith(refused_as)


def test_column_mapping_names_new_columns_uniquely_and_leaves_old_ones_as_they_are() -> None:
    table = Table(metadata(partitioned=False), PLAIN)
    transaction = table.start()
    wanted = _columns(Field("x", "int"), Field("v", "bigint"), Field("new one", "int"), **MAPPED)
    transaction.update_metadata(wanted)
    x, v, new = schema_of_metadata(transaction.metadata)
    assert (x.physical_name, v.physical_name) == ("x", "v")
    assert new.physical_name.startswith("col-")
    assert transaction.metadata.configuration["delta.columnMapping.maxColumnId"] == "3"
    assert isinstance(run(transaction.commit([], MANUAL_UPDATE), table.store), Committed)
