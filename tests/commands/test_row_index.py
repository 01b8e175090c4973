"""The row index finds what a search of every file finds, reads less, and forgets the dead."""

from __future__ import annotations

from unittest.mock import patch

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.commands.sql_database import Database, adds, removes
from tests.dialects.races_on_rows import VECTORS, Rows, Running, World, ending
from whitecap.engine.commands import SharedTable
from whitecap.engine.dialects import DELTA_RS_1_6_6
from whitecap.engine.log.snapshot import Snapshot
from whitecap.engine.outcomes import Committed
from whitecap.engine.row_store import stored_rows
from whitecap.engine.row_store.columns import Integers
from whitecap.engine.session import row_index
from whitecap.engine.settings import Settings
from whitecap.engine.storage.memory import run
from whitecap.engine.storage.requests import ReadRows
from whitecap.engine.transaction.file_scan import FileScan

Races = list[tuple[str, int]]
"""Statements in the order in which they begin, each with how many more begin before it commits."""

keys = st.integers(0, 12)
some_keys = st.lists(keys, min_size=1, max_size=3)
MERGE = (
    "MERGE INTO t USING (VALUES :rows) AS s(x, k, v) ON t.k = s.k"
    " WHEN MATCHED AND s.v > 5 THEN UPDATE SET v = s.v WHEN MATCHED THEN DELETE"
    " WHEN NOT MATCHED THEN INSERT *"
)
rows = st.lists(st.tuples(st.integers(1, 2), keys, keys), min_size=1, max_size=3)
statements = st.one_of(
    st.tuples(st.just("INSERT INTO t VALUES :rows"), st.fixed_dictionaries({"rows": rows})),
    st.tuples(
        st.just("DELETE FROM t WHERE x = 1 AND k IN (:keys)"),
        st.fixed_dictionaries({"keys": some_keys}),
    ),
    st.tuples(st.just("DELETE FROM t WHERE k = :key"), st.fixed_dictionaries({"key": keys})),
    st.tuples(
        st.just("UPDATE t SET v = v + 1, x = 3 - x WHERE k IN (:keys) AND v < 9"),
        st.fixed_dictionaries({"keys": some_keys}),
    ),
    st.tuples(
        st.just(MERGE),
        st.fixed_dictionaries(
            {
                "rows": st.lists(
                    st.tuples(st.integers(1, 2), keys, keys),
                    min_size=1,
                    max_size=3,
                    unique_by=lambda row: row[1],
                )
            }
        ),
    ),
    st.tuples(st.just("OPTIMIZE t"), st.just({})),
)


priced = st.lists(st.tuples(keys, st.sampled_from([0.5, 1.0])), min_size=1, max_size=4)
of_keys = st.fixed_dictionaries({"keys": some_keys})
on_fractions = st.one_of(
    st.tuples(st.just("INSERT INTO t VALUES :rows"), st.fixed_dictionaries({"rows": priced})),
    st.tuples(st.just("UPDATE t SET a = a + 1.5 WHERE k IN (:keys)"), of_keys),
    st.tuples(st.just("UPDATE t SET a = a + 1.5 WHERE k IN (:keys)"), of_keys),
    st.tuples(st.just("DELETE FROM t WHERE k IN (:keys)"), of_keys),
    st.tuples(st.just("OPTIMIZE t"), st.just({})),
    st.tuples(st.just("RESTORE TABLE t TO VERSION AS OF 1"), st.just({})),
)


@pytest.mark.parametrize("vectors", ["false", "true"])
@given(st.lists(statements, min_size=1, max_size=8))
def test_with_and_without_an_index_statements_do_the_same(vectors: str, run: list[tuple]) -> None:  # type: ignore[type-arg]
    _check_the_same(run, "x INT, k BIGINT, v BIGINT", "x", vectors)


@pytest.mark.parametrize("vectors", ["false", "true"])
@given(st.lists(on_fractions, min_size=1, max_size=10))
def test_rows_are_found_after_fractions_were_assigned_to_them(
    vectors: str,
    run: list[tuple],  # type: ignore[type-arg]
) -> None:
    insert = ("INSERT INTO t VALUES :rows", {"rows": [(1, 1.0), (2, 1.0), (3, 1.0)]})
    _check_the_same([insert, *run], "k BIGINT, a DOUBLE", "", vectors)


def _check_the_same(run: list[tuple], ddl: str, partition: str, vectors: str) -> None:  # type: ignore[type-arg]
    plain, indexed = Database(), Database(index_rows=True)
    for database in (plain, indexed):
        database.create("t", ddl, *partition, enableDeletionVectors=vectors)
    for text, parameters in run:
        of_plain, of_indexed = (d.sql(text, **parameters) for d in (plain, indexed))
        assert type(of_plain) is type(of_indexed)
        if isinstance(of_plain, Committed) and isinstance(of_indexed, Committed):
            assert len(adds(of_plain)) == len(adds(of_indexed))
            assert len(removes(of_plain)) == len(removes(of_indexed))
        assert plain.rows("t") == indexed.rows("t")


def database_of(files: int) -> Database:
    database = Database(index_rows=True)
    database.create("t", "k BIGINT, v BIGINT")
    for k in range(files):
        database.sql(f"INSERT INTO t VALUES ({k}, 0)")
    return database


def test_a_pinned_statement_reads_only_files_that_hold_the_values() -> None:
    database = database_of(5)
    outcome = database.commit("UPDATE t SET v = 1 WHERE k IN (2, 3)")
    assert len(removes(outcome)) == 2
    (job,) = [r for r in database.store.requests if getattr(r, "job", "") == "UPDATE"]
    assert job.rows_read == 2  # type: ignore[union-attr]


def test_for_the_bounds_of_a_rewritten_file_only_the_rows_that_changed_are_looked_at() -> None:
    database = Database(index_rows=True)
    database.create("t", "k BIGINT")
    database.commit("INSERT INTO t VALUES :rows", rows=[(k,) for k in range(9)])
    with patch.object(stored_rows, "MANY", 1):
        database.commit("DELETE FROM t WHERE k = 8")
        with patch.object(Integers, "extent", autospec=True, side_effect=Integers.extent) as extent:
            outcome = database.commit("DELETE FROM t WHERE k = 4 OR k = 6")
    assert '"maxValues":{"k":7}' in str(adds(outcome)[0].stats)
    assert sorted(len(call.args[1].values) for call in extent.call_args_list) == [0, 2]


def test_files_that_no_client_reads_any_more_are_forgotten() -> None:
    database = database_of(3)
    for _ in range(70):
        database.commit("UPDATE t SET v = v + 1 WHERE k = 1")
    index = database.shared["t"].row_index
    assert index is not None
    assert len(index) < 20
    database.store.requests.clear()
    database.commit("RESTORE TABLE t TO VERSION AS OF 3")
    database.commit("UPDATE t SET v = 9 WHERE k = 1")
    assert any(isinstance(request, ReadRows) for request in database.store.requests)
    assert database.rows("t") == [(0, 0), (1, 9), (2, 0)]


def test_an_index_that_missed_commits_starts_again_from_the_newest_files() -> None:
    database = database_of(3)
    late = database_of(0)
    late.store, late.shared = database.store, {"t": type(database.shared["t"])(index_rows=True)}
    late.shared["t"].commits._commits.put = lambda *_: None  # type: ignore[method-assign]
    late.commit("UPDATE t SET v = 4 WHERE k = 2")
    assert late.rows("t") == [(0, 0), (1, 0), (2, 4)]


@pytest.mark.parametrize("index_rows", [False, True])
def test_nan_matches_nan_in_a_merge(index_rows: bool) -> None:
    database = Database(index_rows=index_rows)
    database.create("t", "x DOUBLE, v BIGINT")
    for v in range(3):
        database.sql(f"INSERT INTO t VALUES (double('NaN'), {v}), (1.0D, {v})")
    database.commit(
        "MERGE INTO t USING (VALUES (double('NaN'))) AS s(x) ON t.x = s.x WHEN MATCHED THEN DELETE"
    )
    assert database.rows("t") == [(1.0, 0), (1.0, 1), (1.0, 2)]


def test_files_with_nan_are_forgotten_like_any_other() -> None:
    """NaN is in no index, so none is made of a column that may hold it."""
    database = Database(index_rows=True)
    database.create("t", "x DOUBLE, v BIGINT")
    database.sql(f"INSERT INTO t VALUES (double('NaN'), 0), {', '.join(['(2.0D, 0)'] * 9)}")
    for _ in range(70):
        database.commit(
            "MERGE INTO t USING (VALUES (2.0D)) AS s(x) ON t.x = s.x AND t.v >= 0"
            " WHEN MATCHED THEN UPDATE SET v = t.v + 1"
        )
    assert sorted(v for _, v in database.rows("t")) == [0] + [70] * 9


def _changed_after_two_compactions(index_rows: bool, before: str) -> Rows:
    world = World(DELTA_RS_1_6_6, shared=SharedTable(index_rows))
    world.run("CREATE TABLE t (k BIGINT, a DOUBLE)")
    for k in range(4):
        world.run(f"INSERT INTO t VALUES ({k}, 0D)")
    world.run(before)
    assert isinstance(world.race("OPTIMIZE t", "OPTIMIZE t"), Committed)
    world.run("UPDATE t SET a = a + 2D WHERE k IN (1, 2)")
    world.run("DELETE FROM t WHERE k = 2")
    for _ in range(70):  # until files that nobody reads any more are forgotten
        world.run("UPDATE t SET a = a + 1D WHERE k = 3")
    return world.rows()


@pytest.mark.parametrize(
    "before", ["DELETE FROM t WHERE k > 9", "UPDATE t SET a = 1D WHERE k IN (1, 3)"]
)
def test_rows_that_two_compactions_doubled_are_found_in_both_files(before: str) -> None:
    """The newer delta-rs lets both commit: each row is then in a file of either."""
    rows = _changed_after_two_compactions(True, before)
    assert rows == _changed_after_two_compactions(False, before)
    assert [k for k, _ in rows] == [0, 0, 1, 1, 3, 3]


of_doubled = st.builds(
    str.format,
    st.sampled_from(
        [
            "INSERT INTO t VALUES ({0}, 0D), (4, 0D)",
            "UPDATE t SET a = a + 1D WHERE k = {0}",
            "DELETE FROM t WHERE k = {0}",
            "DELETE FROM t WHERE k = {0} AND a > 0.5D",
            "DELETE FROM t WHERE k = {0} AND a < 0.5D",
        ]
    ),
    st.integers(0, 3),
)
"""The last two of these may delete one copy of a row and leave another alone."""

race_on_doubled = st.tuples(st.one_of(st.just("OPTIMIZE t"), of_doubled), st.integers(0, 2))
races_on_doubled = st.lists(race_on_doubled, max_size=10)
NEWER_COPY_GONE = [
    ("OPTIMIZE t", 3),
    ("OPTIMIZE t", 0),
    ("UPDATE t SET a = a + 1D WHERE k = 1", 0),
    ("INSERT INTO t VALUES (4, 0D)", 0),
    ("DELETE FROM t WHERE k = 1 AND a < 0.5D", 0),
    *[("INSERT INTO t VALUES (4, 0D)", 0), ("DELETE FROM t WHERE k = 9", 0)] * 4,
]


@settings(max_examples=200)
@given(races_on_doubled, races_on_doubled)
@example(NEWER_COPY_GONE, [])
def test_copies_of_rows_are_found_in_whatever_snapshot_is_read(before: Races, after: Races) -> None:
    """The newer delta-rs lets compactions overlap: each row may then be in several files."""
    world = World(DELTA_RS_1_6_6, shared=SharedTable(index_rows=True))
    world.run("CREATE TABLE t (k BIGINT, a DOUBLE)")
    for k in range(4):
        world.run(f"INSERT INTO t VALUES ({k}, 0D)")
    with patch.object(row_index, "_COMMITS_BETWEEN_CLEANINGS", 2):
        _played(world, [("DELETE FROM t WHERE k = 9", 0), *before])
        reader = world.client()
        snapshot = run(reader.log.update(), world.store)
        reader.reading = snapshot.version
        assert _files_found(world, snapshot) >= _files_with_keys(world, snapshot)
        _played(world, [*after, *AFTERWARDS])
        newest = run(world.client().log.update(), world.store)
        for each in (snapshot, newest):
            assert _files_found(world, each) >= _files_with_keys(world, each)


def _files_found(world: World, snapshot: Snapshot) -> set[tuple[int, str]]:
    index = world.shared.row_index
    assert index is not None
    return {
        (k, file.path)
        for k in range(5)
        for file in run(index.files_with(snapshot, {"k": (k,)}), world.store) or ()
    }


def _files_with_keys(world: World, snapshot: Snapshot) -> set[tuple[int, str]]:
    read = world.shared.data_files.read(snapshot.all_files(), snapshot.schema)
    return {(row[0], each.file.path) for each in run(read, world.store) for _, row in each}


of_a_key = st.sampled_from(
    [
        "INSERT INTO t VALUES ({0}, {0} % 2, 0D)",
        "UPDATE t SET a = a + 1.5 WHERE k = {0}",
        "DELETE FROM t WHERE k = {0}",
    ]
)
in_a_race = st.one_of(
    st.builds(str.format, of_a_key, st.integers(0, 2)),
    st.sampled_from(["UPDATE t SET a = a + 1.5 WHERE g = 0", "OPTIMIZE t"]),
)
AFTERWARDS = [(f"DELETE FROM t WHERE k = {k}", 0) for k in (9, 9, 0, 2)]
"""By then all are done; now where each row is found matters."""


@settings(max_examples=400)
@given(st.lists(st.tuples(in_a_race, st.integers(0, 2)), min_size=3, max_size=6))
def test_with_and_without_an_index_races_that_are_resolved_row_by_row_end_alike(
    races: Races,
) -> None:
    assert _raced_by_rows(True, races) == _raced_by_rows(False, races)


@pytest.mark.parametrize("statement", ["DELETE FROM t", "UPDATE t SET a = 9D"])
def test_a_row_that_a_compaction_hides_is_found_where_its_winner_put_it(statement: str) -> None:
    """The UPDATE rewrites what it read, the compaction that and one file more."""
    races = [
        ("UPDATE t SET a = a + 1.5 WHERE g = 0", 2),
        ("INSERT INTO t VALUES (2, 0, 0D)", 0),
        ("OPTIMIZE t", 1),
        ("DELETE FROM t WHERE k = 1", 1),
        (f"{statement} WHERE k = 0", 0),
    ]
    assert _raced_by_rows(True, races) == _raced_by_rows(False, races)


def _raced_by_rows(index_rows: bool, races: Races) -> list[object]:
    """How each statement ends, and the rows then."""
    world = World(shared=SharedTable(index_rows))
    world.run(
        "CREATE TABLE t (k BIGINT, g INT, a DOUBLE) PARTITIONED BY (g)"
        f" TBLPROPERTIES ('{VECTORS}' = 'true')"
    )
    world.run("INSERT INTO t VALUES (0, 0, 0D), (1, 1, 0D)")
    return _played(world, [*races, *AFTERWARDS])


def _played(world: World, races: Races) -> list[object]:
    running: list[tuple[int, Running]] = []
    seen: list[object] = []
    for at, (text, more) in enumerate(races):
        running.append((at + more, world.begin(text)))
        for due in [each for each in running if each[0] <= at]:
            running.remove(due)
            seen += [ending(due[1].finish()), world.rows()]
    return seen


@pytest.mark.parametrize("partitioned", [(), ("at",)])
@pytest.mark.parametrize("is_indexed", [False, True])
@pytest.mark.parametrize("given", ["2026-01-01 09:00:00", ["2026-01-01 09:00:00", "2026-01-02"]])
def test_texts_in_a_list_are_instants_of_the_sessions_time_zone(
    given: object, is_indexed: bool, partitioned: tuple[str, ...]
) -> None:
    """As they are in a comparison: files are not left out by what the text is in UTC."""
    database = Database(index_rows=is_indexed)
    database.settings = Settings(session_time_zone="Asia/Tokyo")
    database.create("t", "k BIGINT, at TIMESTAMP", *partitioned)
    database.sql("INSERT INTO t VALUES (1, TIMESTAMP '2026-01-01 00:00:00Z')")
    outcome = database.sql("DELETE FROM t WHERE at IN (:given)", given=given)
    assert isinstance(outcome, Committed)


few_values = st.lists(
    st.tuples(st.integers(0, 2), st.sampled_from(["a", "b"])), min_size=1, max_size=3
).map(lambda rows: [(k, t, 0.5) for k, t in rows] * 8)
by_few_values = st.one_of(
    st.tuples(st.just("INSERT INTO t VALUES :rows"), st.fixed_dictionaries({"rows": few_values})),
    *(
        st.tuples(
            st.just(text),
            st.fixed_dictionaries({"k": st.integers(0, 2), "t": st.sampled_from(["a", "b"])}),
        )
        for text in (
            "UPDATE t SET a = a + 1.5 WHERE k = :k AND t = :t",
            "DELETE FROM t WHERE t = :t AND k = :k AND a > 1",
        )
    ),
    st.tuples(st.just("OPTIMIZE t"), st.just({})),
)


@pytest.mark.parametrize("vectors", ["false", "true"])
@given(st.lists(by_few_values, min_size=1, max_size=8))
def test_rows_are_found_by_several_columns_with_few_values(
    vectors: str,
    run: list[tuple],  # type: ignore[type-arg]
) -> None:
    _check_the_same(run, "k BIGINT, t STRING, a DOUBLE", "", vectors)


def test_files_are_those_with_the_values_of_all_columns_where_many_rows_have_each() -> None:
    database = Database(index_rows=True)
    database.create("t", "k BIGINT, t STRING, a DOUBLE")
    for k, t in ((1, "a"), (1, "b"), (2, "a")):
        database.commit("INSERT INTO t VALUES :rows", rows=[(k, t, 0.5)] * 8)
    database.commit("UPDATE t SET a = 1.5 WHERE k = 1 AND t = 'a'")
    with patch.object(FileScan, "__contains__", autospec=True, return_value=True) as asked:
        database.commit("UPDATE t SET a = 2.5 WHERE k = 1 AND t = 'b'")
    assert len(asked.call_args_list) == 1
