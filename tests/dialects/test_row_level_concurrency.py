"""Row-level concurrency, rule by rule as Databricks' page states them."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from tests.dialects.races_on_rows import FOUR_ROWS, SERIALIZABLE, Rows, World, ending
from whitecap.engine.conflicts.operation import MANUAL_UPDATE, Operation
from whitecap.engine.dialects import DATABRICKS_13_3, DATABRICKS_14_2, DELTA_OSS_4_4, Dialect
from whitecap.engine.log.actions import AnyAction, DomainMetadata, Protocol
from whitecap.engine.log.commit_file import encode_commit, log_key
from whitecap.engine.log.schema import Schema, schema_string
from whitecap.engine.outcomes import Aborted, Outcome
from whitecap.engine.settings import AppendRule
from whitecap.engine.storage.memory import run
from whitecap.engine.storage.requests import Steps

DELETE_1 = "DELETE FROM t WHERE id = 1"
DELETE_2 = "DELETE FROM t WHERE id = 2"
UPDATE_1 = "UPDATE t SET v = v + 1 WHERE id = 1"
UPDATE_2 = "UPDATE t SET v = v + 2 WHERE id = 2"
MERGE = (
    "MERGE INTO t USING (VALUES ({key}, 9, 9)) AS s(id, g, v) ON t.id = s.id{more}"
    " WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
)
MERGE_1, MERGE_2 = MERGE.format(key=1, more=""), MERGE.format(key=2, more="")
MERGE_5 = MERGE.format(key=5, more="")


def race(current: str, *winners: str, files: tuple[Rows, ...] = (), **options: Any) -> str:
    return ending(World.of(*(files or (FOUR_ROWS,)), **options).race(current, *winners))


# The matrix with row-level concurrency ---------------------------------------------------------


@pytest.mark.parametrize("current", [DELETE_1, UPDATE_1, MERGE_1])
@pytest.mark.parametrize("winner", [DELETE_2, UPDATE_2, MERGE_2])
@pytest.mark.parametrize("level", ["Serializable", "WriteSerializable"])
def test_changes_of_different_rows_of_one_file_do_not_conflict(
    current: str, winner: str, level: str
) -> None:
    assert race(current, winner, properties={"delta.isolationLevel": level}) == "committed"


@pytest.mark.parametrize("current", [DELETE_1, UPDATE_1, MERGE_1])
@pytest.mark.parametrize("winner", [DELETE_1, UPDATE_1, MERGE_1])
def test_changes_of_the_same_row_conflict_and_say_so(current: str, winner: str) -> None:
    assert race(current, winner).endswith(" ROW_LEVEL_CHANGES")


def test_a_row_that_the_winner_deleted_was_read_and_one_that_it_changed_was_added() -> None:
    assert race(UPDATE_1, DELETE_1) == "ConcurrentDeleteRead ROW_LEVEL_CHANGES"
    assert race(DELETE_1, UPDATE_1) == "ConcurrentAppend ROW_LEVEL_CHANGES"


def test_rows_that_both_rewrite_without_reading_them_are_deleted_by_both() -> None:
    copying = race(
        "DELETE FROM t WHERE id = 1", DELETE_2, delete_with_deletion_vectors=False
    )  # the winner copies, too: every row of the file goes and comes again
    assert copying == "ConcurrentAppend ROW_LEVEL_CHANGES"
    world = World.of(FOUR_ROWS, delete_with_deletion_vectors=False)
    current = world.begin(DELETE_1)
    world.settings = type(world.settings)()
    world.run(DELETE_2)
    assert ending(current.finish()) == "ConcurrentDeleteDelete ROW_LEVEL_CHANGES"


@pytest.mark.parametrize("statement", [DELETE_1, UPDATE_1, MERGE_1])
def test_an_insert_as_loser_never_conflicts(statement: str) -> None:
    insert = "INSERT INTO t VALUES (1, 1, 1)"
    assert race(insert, statement) == "committed"
    assert race(insert, statement, properties=SERIALIZABLE) == "committed"


@pytest.mark.parametrize("statement", [DELETE_1, UPDATE_1, MERGE_1])
def test_an_insert_as_winner_conflicts_only_if_serializable_and_a_row_matches(
    statement: str,
) -> None:
    matching, other = "INSERT INTO t VALUES (1, 1, 1)", "INSERT INTO t VALUES (9, 1, 1)"
    assert race(statement, matching) == "committed"
    assert race(statement, other, properties=SERIALIZABLE) == "committed"
    end = race(statement, matching, properties=SERIALIZABLE)
    assert end == "ConcurrentAppend ROW_LEVEL_CHANGES"


def test_the_option_makes_any_append_conflict_under_serializable() -> None:
    options: dict[str, Any] = {"properties": SERIALIZABLE, "row_level_appends": AppendRule.ANY_ROW}
    insert = "INSERT INTO t VALUES (9, 1, 1)"
    assert race(DELETE_1, insert, **options) == "ConcurrentAppend WITHOUT_HINT"
    assert race(DELETE_1, DELETE_2, **options) == "committed"


def test_an_insert_that_reads_its_own_table_has_the_concurrency_of_merge() -> None:
    insert = "INSERT INTO t SELECT id + 10, g, v FROM t WHERE id = 1"
    assert race(insert, DELETE_2) == "committed"
    assert race(insert, DELETE_1) == "ConcurrentDeleteRead ROW_LEVEL_CHANGES"
    assert race(insert, "UPDATE t SET id = 1 WHERE id = 3") == "ConcurrentAppend ROW_LEVEL_CHANGES"
    whole = "INSERT INTO t SELECT id + 10, g, v FROM t"
    assert race(whole, DELETE_2) == "ConcurrentAppend WHOLE_TABLE_READ"
    limited = "INSERT INTO t SELECT id + 10, g, v FROM t WHERE id = 1 LIMIT 1"
    assert race(limited, DELETE_2) == "ConcurrentAppend PREDICATES_NEED_REWRITE"


def test_a_row_that_is_changed_into_the_condition_conflicts() -> None:
    moved = "UPDATE t SET g = 1 WHERE id = 1"
    assert race("DELETE FROM t WHERE g = 1", moved) == "ConcurrentAppend ROW_LEVEL_CHANGES"
    assert race("DELETE FROM t WHERE g = 2", moved) == "committed"


def test_a_merge_cares_for_rows_that_its_source_matches() -> None:
    assert race(MERGE_5, MERGE_5) == "ConcurrentAppend ROW_LEVEL_CHANGES"
    assert race(MERGE_5, MERGE_1) == "committed"
    update_only = (
        "MERGE INTO t USING (VALUES (1, 5)) AS s(id, v) ON t.id = s.id"
        " WHEN MATCHED AND t.v > 3 THEN UPDATE SET v = s.v"
    )
    assert race(update_only, "UPDATE t SET v = 2 WHERE id = 1") == "committed"
    end = race(update_only, "UPDATE t SET v = 5 WHERE id = 1")
    assert end == "ConcurrentAppend ROW_LEVEL_CHANGES"
    files = (((1, 0, 4), (2, 0, 4)),)
    assert race(update_only, "UPDATE t SET v = 7 WHERE id = 2", files=files) == "committed"


def test_values_appended_under_write_serializable_conflict_once_another_dml_touched_them() -> None:
    insert, touch = "INSERT INTO t VALUES (5, 1, 1)", "UPDATE t SET v = 9 WHERE id = 5"
    ours = "UPDATE t SET v = v + 1 WHERE g = 1"
    assert race(ours, insert) == "committed"
    assert race(ours, insert, touch) == "ConcurrentAppend ROW_LEVEL_CHANGES"


# Requirements -----------------------------------------------------------------------------------


def test_a_table_without_deletion_vectors_is_checked_by_files() -> None:
    plain = {"delta.enableDeletionVectors": "false"}
    assert race(DELETE_1, DELETE_2, properties=plain) == "ConcurrentAppend WITHOUT_HINT"


def test_a_partitioned_table_is_checked_by_files() -> None:
    files = (((1, 0, 0), (2, 0, 0)), ((3, 1, 0),))
    end = race(DELETE_1, DELETE_2, files=files, partitioned_by="g")
    assert end == "ConcurrentAppend WITH_PARTITION_HINT"
    apart = race("DELETE FROM t WHERE g = 1 AND id = 3", "DELETE FROM t WHERE g = 0 AND id = 1",
                 files=(*files, ((4, 1, 0),)), partitioned_by="g")  # fmt: skip
    assert apart == "committed"


def test_open_source_delta_has_none_of_it() -> None:
    assert race(DELETE_1, DELETE_2, dialect=DELTA_OSS_4_4) == "ConcurrentAppend WITHOUT_HINT"


def test_it_can_be_switched_off() -> None:
    assert race(DELETE_1, DELETE_2, row_level_concurrency=False) == "ConcurrentAppend WITHOUT_HINT"


def cluster(world: World) -> None:
    """Make the table liquid-clustered, as CLUSTER BY does: by a domain of its metadata."""
    domain = DomainMetadata("delta.clustering", '{"clusteringColumns":[["id"]]}', False)
    _commit(world, [*_protocol_with(world, "clustering", "domainMetadata"), domain])


def _protocol_with(world: World, *features: str) -> list[AnyAction]:
    old = run(world.client().log.update(), world.store).protocol
    assert old is not None
    assert old.writer_features is not None
    writer_features = sorted({*old.writer_features, *features})
    return [
        Protocol(
            min_reader_version=3,
            min_writer_version=7,
            reader_features=old.reader_features,
            writer_features=writer_features,
        )
    ]


def _commit(world: World, actions: list[AnyAction], operation: Operation = MANUAL_UPDATE) -> None:
    def steps() -> Steps[Outcome]:
        txn = yield from world.client().start()
        return (yield from txn.commit(actions, operation))

    run(steps(), world.store)


def test_13_3_has_it_on_clustered_tables_only() -> None:
    plain = World.of(FOUR_ROWS, dialect=DATABRICKS_13_3)
    assert ending(plain.race(DELETE_1, DELETE_2)) == "ConcurrentAppend WITHOUT_HINT"
    clustered = World.of(FOUR_ROWS, dialect=DATABRICKS_13_3)
    cluster(clustered)
    assert ending(clustered.race(DELETE_1, DELETE_2)) == "committed"


@pytest.mark.parametrize(
    ("dialect", "statement", "ends"),
    [
        (DATABRICKS_13_3, DELETE_1, "committed"),
        (DATABRICKS_13_3, UPDATE_1, "ConcurrentAppend WITHOUT_HINT"),
        (DATABRICKS_14_2, UPDATE_1, "committed"),
        (
            DATABRICKS_14_2,
            MERGE.format(key=1, more=" AND t.g = 0"),
            "ConcurrentAppend WITHOUT_HINT",
        ),
    ],
)
def test_without_photon_earlier_runtimes_cover_fewer_commands(
    dialect: Dialect, statement: str, ends: str
) -> None:
    world = World.of(FOUR_ROWS, dialect=dialect, photon=False)
    cluster(world)
    assert ending(world.race(statement, DELETE_2)) == ends


def test_14_2_wants_a_predicate_on_the_target_of_a_merge() -> None:
    with_predicate = MERGE.format(key=1, more=" AND t.g = 0")
    assert race(with_predicate, DELETE_2, dialect=DATABRICKS_14_2) == "committed"
    end = race(MERGE_1, DELETE_2, dialect=DATABRICKS_14_2)
    assert end == "ConcurrentAppend PREDICATES_NEED_REWRITE"
    assert race(MERGE_1, DELETE_2) == "committed"


# Limitations ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM t WHERE id = 1 AND rand() < 2",
        "UPDATE t SET v = 1 WHERE id = 1 AND rand() < 2",
    ],
)
def test_non_deterministic_conditions_fall_back_to_files(statement: str) -> None:
    assert race(statement, DELETE_2) == "ConcurrentAppend PREDICATES_NEED_REWRITE"


@pytest.mark.parametrize("kind", ["ARRAY<INT>", "MAP<STRING, INT>", "STRUCT<a: INT>"])
def test_conditions_on_nested_columns_fall_back_to_files(kind: str) -> None:
    world = World.of(columns=f"id BIGINT, nested {kind}")
    world.run("INSERT INTO t VALUES (1, NULL), (2, NULL), (3, NULL)")
    current = world.begin("DELETE FROM t WHERE id = 1 AND nested IS NULL")
    world.run(DELETE_2)
    assert ending(current.finish()) == "ConcurrentAppend PREDICATES_NEED_REWRITE"


@pytest.mark.parametrize(
    ("statement", "ends"),
    [
        ("DELETE FROM t", "ConcurrentAppend WHOLE_TABLE_READ"),
        ("UPDATE t SET v = 1", "ConcurrentAppend WHOLE_TABLE_READ"),
        (
            MERGE.format(key=1, more="") + " WHEN NOT MATCHED BY SOURCE AND t.id = 4 THEN DELETE",
            "ConcurrentAppend WHOLE_TABLE_READ",
        ),
    ],
)
def test_reads_of_the_whole_table_fall_back_to_files(statement: str, ends: str) -> None:
    assert race(statement, DELETE_2) == ends


def test_a_deletion_has_its_own_name_for_a_missing_filter() -> None:
    files = (((1, 0, 0),), ((2, 0, 0),))  # the winner empties a file and adds none
    end = race("UPDATE t SET v = 1", DELETE_1, files=files)
    assert end == "ConcurrentDeleteRead EMPTY_READ_PREDICATES"


def test_a_winner_that_replaces_everything_is_named() -> None:
    end = race(DELETE_1, "INSERT OVERWRITE t VALUES (7, 7, 7)")
    assert end == "ConcurrentAppend WHOLE_TABLE_REPLACE"


def test_a_change_type_column_with_change_data_feed_falls_back_to_files() -> None:
    columns = "id BIGINT, g INT, _change_type INT"
    first, second = (
        f"INSERT INTO t SELECT id + 10, g, _change_type FROM t WHERE id = {key}" for key in (1, 2)
    )
    world = World.of(FOUR_ROWS, columns=columns)
    _switch_feed_on(world)
    assert ending(world.race(first, second)) == "ConcurrentAppend CHANGE_TYPE_COLUMN"
    assert race(first, second, columns=columns) == "committed"


def _switch_feed_on(world: World) -> None:
    """As a writer does that does not know which columns the feed has for itself."""
    snapshot = run(world.client().log.update(), world.store)
    assert snapshot.metadata is not None
    configuration = {**snapshot.metadata.configuration, "delta.enableChangeDataFeed": "true"}
    metadata = replace(snapshot.metadata, configuration=configuration)
    world.store.put(log_key(snapshot.version + 1), encode_commit([metadata]))


def test_many_winners_exhaust_the_allotted_time() -> None:
    rows = tuple((key, 0, 0) for key in range(1, 9))
    winners = [f"DELETE FROM t WHERE id = {key}" for key in (2, 3, 4)]
    appends = [f"INSERT INTO t VALUES ({key}, 0, 0)" for key in range(20, 30)]
    enough = World.of(rows, row_level_max_winners=3)
    assert ending(enough.race(DELETE_1, *appends, *winners)) == "committed"
    short = World.of(rows, row_level_max_winners=2)
    assert ending(short.race(DELETE_1, *winners)) == "ConcurrentAppend ALLOTTED_TIME_EXCEEDED"


def test_a_winner_that_also_changes_metadata_leaves_it_to_files() -> None:
    world = World.of(FOUR_ROWS)
    noting = {"note": "of the owner"}
    assert ending(world.race(DELETE_1, _set(noting))).startswith("MetadataChanged")


def _set(properties: dict[str, str]) -> str:
    assignments = ", ".join(f"'{key}' = '{value}'" for key, value in properties.items())
    return f"ALTER TABLE t SET TBLPROPERTIES ({assignments})"


# Notes of the page ------------------------------------------------------------------------------


def make_identity(world: World) -> None:
    """Mark the key as an identity column, as CREATE TABLE does: by metadata of its field."""
    snapshot = run(world.client().log.update(), world.store)
    assert snapshot.metadata is not None
    key, *others = snapshot.schema
    marks = {"delta.identity.start": 1, "delta.identity.step": 1}
    schema = Schema((type(key)(key.name, key.type, key.nullable, metadata=marks), *others))
    metadata = replace(snapshot.metadata, schema_string=schema_string(schema))
    _commit(world, [metadata])


def test_tables_with_identity_columns_support_no_concurrent_transactions() -> None:
    ends = []
    for settings in list[dict[str, Any]]([{}, {"refuse_identity_concurrency": False}]):
        world = World.of(FOUR_ROWS, **settings)
        make_identity(world)
        ends.append(ending(world.race("DELETE FROM t WHERE id = 1", DELETE_2)))
    assert ends == ["MetadataChanged DELTA_METADATA_CHANGED", "committed"]


def test_a_reorg_that_applies_an_upgrade_conflicts_with_everything() -> None:
    ends = []
    for name in ("REORG TABLE UPGRADE UNIFORM", "SET TBLPROPERTIES"):
        world = World.of(FOUR_ROWS)
        current = world.begin("INSERT INTO t VALUES (9, 9, 9)")
        _commit(world, _protocol_with(world, "vacuumProtocolCheck"), Operation(name))
        ends.append(ending(current.finish()))
    assert ends == ["ProtocolChanged DELTA_PROTOCOL_CHANGED", "committed"]


def test_databricks_refuses_writers_when_a_feature_is_switched_on_and_delta_does_not() -> None:
    enable = _set({"delta.enableDeletionVectors": "true"})
    plain = {"delta.enableDeletionVectors": "false"}
    insert = "INSERT INTO t VALUES (9, 9, 9)"
    assert race(insert, enable, properties=plain).startswith("MetadataChanged")
    assert race(insert, enable, properties=plain, dialect=DELTA_OSS_4_4) == "committed"


def test_sql_may_set_either_level_on_databricks() -> None:
    world = World.of(FOUR_ROWS, properties=SERIALIZABLE)
    world.run(_set({"delta.isolationLevel": "WriteSerializable"}))
    assert race(DELETE_1, DELETE_2) == "committed"


# What is written --------------------------------------------------------------------------------


def test_three_winners_in_a_row_are_reconciled_into_one_vector() -> None:
    world = World.of(FOUR_ROWS)
    outcome = world.race(DELETE_1, DELETE_2, "DELETE FROM t WHERE id = 3", MERGE_5)
    assert ending(outcome) == "committed"
    assert world.rows() == ((4, 1, 0), (5, 9, 9))
    world.check_log()


def test_a_late_overlap_aborts_only_its_own_writer() -> None:
    world = World.of(FOUR_ROWS)
    first, second = world.begin(DELETE_1), world.begin("DELETE FROM t WHERE id = 1 OR id = 4")
    world.run(DELETE_2)
    assert ending(first.finish()) == "committed"
    assert ending(second.finish()).endswith("ROW_LEVEL_CHANGES")
    assert world.rows() == ((3, 1, 0), (4, 1, 0))


def test_a_file_whose_last_rows_both_deleted_is_removed() -> None:
    world = World.of(((1, 0, 0), (2, 0, 0)), ((3, 0, 0),))
    assert ending(world.race(DELETE_1, DELETE_2)) == "committed"
    assert world.num_files() == 1
    assert world.rows() == ((3, 0, 0),)
    world.check_log()


def test_the_verdict_names_the_winner_and_its_file() -> None:
    world = World.of(FOUR_ROWS)
    outcome: Outcome = world.race(DELETE_1, UPDATE_1)
    assert isinstance(outcome, Aborted)
    verdict = outcome.verdict
    assert verdict.winning_version == 2
    assert verdict.evidence.endswith(".parquet")
    assert verdict.error_class == "DELTA_CONCURRENT_APPEND.ROW_LEVEL_CHANGES"
    assert verdict.message.startswith("[DELTA_CONCURRENT_APPEND.ROW_LEVEL_CHANGES] ")
    assert "concurrent UPDATE" in verdict.message
