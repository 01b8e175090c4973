"""A large initial table is described: nothing of it is made before somebody asks, and nothing of a
run shows whether it was."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.collected_statistics import collect_statistics
from tests.sim.sim_worlds import INSERT, TABLE, UPDATE, scenario
from whitecap.engine.dialects import DELTA_OSS_4_4
from whitecap.engine.log.actions import AddFile
from whitecap.engine.log.commit_file import decode_commit, log_key
from whitecap.engine.log.indexed_columns import Indexed
from whitecap.engine.log.statistics import statistics_text
from whitecap.engine.storage.memory import counting_ids
from whitecap.engine.storage.paths import data_key
from whitecap.engine.storage.requests import WriteRows
from whitecap.sim import tables_at_start
from whitecap.sim.history.walk import rows_in
from whitecap.sim.loading import scenario_of
from whitecap.sim.quantities.start import DEFAULT_START_MS
from whitecap.sim.run import FinishedRun, run_scenario
from whitecap.sim.scenario.model import Scenario
from whitecap.sim.scenario.table import TableSection
from whitecap.sim.store.contents.objects import FakeStore
from whitecap.sim.table.described_files import InitialFiles
from whitecap.sim.table.extremes import extremes
from whitecap.sim.table.initial_files import partitions
from whitecap.sim.table.initial_statistics import InitialStatistics, numbering_of
from whitecap.sim.table.initial_table import InitialTable, NewTable, create_table, describe_table
from whitecap.sim.table.key_places import KeyPlaces
from whitecap.sim.table.rows import ScenarioRows
from whitecap.sim.time.identifiers import DrawnIds, id_text
from whitecap.sim.time.random_streams import RandomSource, RandomStreams
from whitecap.sim.world import SimulatedWorld

DDL = (
    "event_id BIGINT, day INT, country STRING, price DECIMAL(9, 2), at TIMESTAMP, seen BOOLEAN, "
    "note STRING, weight FLOAT, born DATE, tiny TINYINT, local TIMESTAMP_NTZ, begun TIMESTAMP, "
    "begun_on DATE GENERATED ALWAYS AS (CAST(begun AS DATE)), "
    "twice BIGINT GENERATED ALWAYS AS (event_id * 2), "
    "few BIGINT GENERATED ALWAYS AS (CASE WHEN event_id % 3 = 0 THEN event_id END), "
    "bucket BIGINT GENERATED ALWAYS AS (event_id % 4), "
    "hour TIMESTAMP GENERATED ALWAYS AS (DATE_TRUNC('HOUR', seen_at)), seen_at TIMESTAMP, "
    "month INT GENERATED ALWAYS AS (MONTH(seen_at)), "
    "first STRING GENERATED ALWAYS AS (SUBSTRING(country, 2, 1))"
)
LAYOUTS: list[list[str]] = [
    [],
    ["day"],
    ["country"],
    ["day", "country"],
    ["country", "begun_on"],
    ["bucket"],
    ["month", "day"],
    ["few", "country"],
    ["hour"],
    ["first"],
]

tables = st.builds(
    lambda rows, size, layout, days, nations: TableSection.model_validate(
        {
            "schema": DDL,
            "key": "event_id",
            "partition_by": layout,
            "values": {
                "day": list(range(days)),
                "country": nations,
                "begun_on": {"days": days},
                "seen_at": {"days": days},
            },
            "initial": {"rows": rows, "rows_per_file": size},
        }
    ),
    st.integers(1, 90),
    st.integers(1, 12),
    st.sampled_from(LAYOUTS),
    st.integers(1, 4),
    st.lists(st.sampled_from(["DE", "FR", "GB", "Ä", "a"]), min_size=1, max_size=4, unique=True),
)


@given(tables, st.sampled_from([Indexed(), Indexed(count=3), Indexed(prefix_length=1)]))
def test_statistics_of_described_files_are_those_of_their_rows(
    table: TableSection, indexed: Indexed
) -> None:
    rows = ScenarioRows.of(table, DEFAULT_START_MS)
    columns = tuple(table.partition_by)
    described = InitialStatistics(rows, columns, indexed)
    for partition in partitions(rows, columns, table.initial.rows_per_file):
        texts = list(described.of(partition))
        files = [list(file) for file in partition.files(rows)]
        collected = [collect_statistics(file, rows.schema, columns, indexed) for file in files]
        assert texts == [statistics_text(statistics) for statistics in collected]


@given(tables)
def test_every_key_is_found_in_the_one_file_that_holds_it(table: TableSection) -> None:
    rows = ScenarioRows.of(table, DEFAULT_START_MS)
    parts = partitions(rows, table.partition_by, table.initial.rows_per_file)
    files = [file.keys() for partition in parts for file in partition.files(rows)]
    paths = [f"file-{number}" for number in range(len(files))]
    places = KeyPlaces(rows, table.partition_by, InitialTable(1, parts, paths.__getitem__))
    for path, keys in zip(paths, files, strict=True):
        for key in keys:
            assert list(places.paths_with([int(key)])) == [path]
    assert list(places.paths_with([-1, table.initial.rows, "text", None])) == []
    assert places.tells("event_id")
    assert not places.tells("country")


@given(tables)
def test_the_columns_of_a_file_are_those_of_its_rows(table: TableSection) -> None:
    rows = ScenarioRows.of(table, DEFAULT_START_MS)
    for partition in partitions(rows, table.partition_by, table.initial.rows_per_file):
        for file in partition.files(rows):
            by_row = [list(column) for column in zip(*file, strict=True)]
            assert [list(column) for column in file.columns()] == by_row
            assert [list(file.column(at)) for at in range(len(rows.schema))] == by_row
            assert [list(map(type, column)) for column in file.columns()] == [
                list(map(type, column)) for column in by_row
            ]


@settings(max_examples=50)
@given(tables, st.sampled_from([3, 5, 13, 40]))
def test_extremes_by_rule_are_those_that_a_look_at_every_key_gives(
    table: TableSection, size: int
) -> None:
    rows = ScenarioRows.of(table, DEFAULT_START_MS)
    for partition in partitions(rows, table.partition_by, size):
        for column in rows.schema:
            numbering = numbering_of(column, rows)
            if numbering is not None and column.type != "timestamp":
                by_rule = extremes(numbering, partition.keys, size, many=0)
                by_looking = extremes(numbering, partition.keys, size)
                assert [each.tolist() for each in by_rule] == [each.tolist() for each in by_looking]


MERGE: dict[str, Any] = {
    "statement": (
        "MERGE INTO events AS t "
        "USING (SELECT * FROM VALUES :rows AS v(event_id, date, country, amount)) AS s "
        "ON t.event_id = s.event_id AND t.date = :date "
        "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
    ),
    "parameters": {"date": "uniform", "rows": {"rows": {"count": 4, "existing": 0.5}}},
    "arrival": {"closed": {"think": "10 s"}},
    "compute": {"lognormal": {"median": "5 s", "sigma": 0.5}},
}
DELETE: dict[str, Any] = {
    "statement": "DELETE FROM events WHERE event_id IN (:keys) AND amount > 100.0",
    "parameters": {"keys": {"keys": {"count": 3}}},
    "arrival": {"closed": {"think": "15 s"}},
}
OPTIMIZE: dict[str, Any] = {
    "statement": "OPTIMIZE events",
    "arrival": {"schedule": {"every": "2 min"}},
    "compute": "5 s",
}


def left_by(run: FinishedRun) -> tuple[Any, ...]:
    """The recording and the log of a run."""
    tables = {name: table.to_pylist() for name, table in run.recording.tables.items()}
    store = run.world.store
    return tables, [store.objects[log_key(n)].body for n in range(len(store.landings))]


@pytest.mark.parametrize("layout", [[], ["date"], ["country"], ["date", "country"]])
@pytest.mark.parametrize("vectors", ["false", "true"])
def test_a_described_table_and_one_that_was_read_make_the_same_recording(
    layout: list[str], vectors: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = {
        **TABLE,
        "partition_by": layout,
        "properties": {"delta.enableDeletionVectors": vectors},
    }
    writers = {
        "loader": INSERT, "corrector": UPDATE, "merger": MERGE, "eraser": DELETE,
        "compactor": OPTIMIZE,
    }  # fmt: skip
    described = scenario(table=table, writers=writers)
    read = left_by(run_scenario(described))
    monkeypatch.setattr(tables_at_start, "READ_AT_THE_START", 0)
    assert left_by(run_scenario(described)) == read


@given(tables)
def test_the_commits_that_are_kept_are_those_that_the_log_holds(table: TableSection) -> None:
    store = FakeStore(DEFAULT_START_MS, table.bytes_per_row)
    rows = ScenarioRows.of(table, DEFAULT_START_MS)
    new = NewTable(table, rows, store, counting_ids().__next__, DELTA_OSS_4_4)
    initial = create_table(new)
    for commit in initial.commits:
        stored = store.objects[log_key(commit.version)]
        assert decode_commit(stored.body, commit.version, stored.modified_at_ms) == commit


def made(
    table: TableSection, new_id: Callable[[], str], described: bool
) -> tuple[FakeStore, InitialTable]:
    """The store with a table's beginning in it."""
    store = FakeStore(DEFAULT_START_MS, table.bytes_per_row)
    rows = ScenarioRows.of(table, DEFAULT_START_MS)
    new = NewTable(table, rows, store, new_id, DELTA_OSS_4_4)
    return store, describe_table(new) if described else create_table(new)


ODD_VALUES: dict[str, list[Any]] = {
    "note": ["x" * 40, "\U0010ffff" * 40, 'a "quoted" text', "a tab\tand a \\", "ä", ""],
    "weight": [0.0, -0.0, 1.5, -1e30, 1e30],
    "tiny": [-100, -1, 0, 9, 10, 100],
    "seen": [True, False],
}
odd_values = {
    name: st.lists(st.sampled_from(values), min_size=1, max_size=3, unique_by=repr)
    for name, values in ODD_VALUES.items()
}
odd_tables = st.builds(
    lambda rows, size, layout, values: TableSection.model_validate(
        {
            "schema": DDL,
            "key": "event_id",
            "partition_by": layout,
            "values": {"day": [1, 2], **values},
            "initial": {"rows": rows, "rows_per_file": size},
        }
    ),
    st.integers(1, 90),
    st.integers(1, 12),
    st.sampled_from([[], ["day"]]),
    st.fixed_dictionaries({}, optional=odd_values),
)


@given(st.one_of(tables, odd_tables), st.booleans())
def test_a_described_commit_is_the_one_that_is_written(table: TableSection, counted: bool) -> None:
    def new_id() -> Callable[[], str]:
        return counting_ids().__next__ if counted else DrawnIds(RandomSource(7))

    store, initial = made(table, new_id(), described=False)
    described_store, described = made(table, new_id(), described=True)
    entries = {key: kept.entry for key, kept in store.objects.items()}
    assert {key: kept.entry for key, kept in described_store.objects.items()} == entries
    assert described_store.landings == store.landings
    for commit, written in zip(described.commits, initial.commits, strict=True):
        as_written = replace(commit, actions=tuple(commit.actions), adds=tuple(commit.adds))
        assert as_written == written
        assert list(commit.actions[1:]) == list(written.actions[1:])
        key = log_key(commit.version)
        assert described_store.objects[key].body == store.objects[key].body


@given(tables)
def test_described_files_are_found_by_path_and_by_partition(table: TableSection) -> None:
    store, initial = made(table, DrawnIds(RandomSource(7)), described=True)
    files = initial.commits[1].adds
    assert isinstance(files, InitialFiles)
    by_partition: dict[tuple[str | None, ...], list[AddFile]] = {}
    for number, file in enumerate(files):
        assert files[number] == files.at(file.path) == file
        assert initial.path_of(number) == file.path
        assert len(store.data_files[data_key(file.path)].written.rows) == rows_in(file)
        values = file.partition_values or {}
        by_partition.setdefault(tuple(values[name] for name in table.partition_by), []).append(file)
    assert files.counts() == {key: len(within) for key, within in by_partition.items()}
    assert all(list(files.within(key)) == within for key, within in by_partition.items())
    assert files.size_bytes == sum(file.size for file in files)
    assert files.row_count == table.initial.rows
    for path in ("", "a", f"x/{files[0].path}", files[0].path[:-1], files[-1].path.upper()):
        assert files.at(path) is None
        assert path not in store.data_files


def test_data_files_of_a_described_table_are_written_deleted_and_written_again() -> None:
    table = TableSection.model_validate(
        {"schema": DDL, "key": "event_id", "initial": {"rows": 9, "rows_per_file": 2}}
    )
    store, _ = made(table, DrawnIds(RandomSource(7)), described=True)
    keys = list(store.data_files)
    assert len(keys) == len(store.data_files) == 5
    file = store.data_files[keys[1]]
    store.write_rows(WriteRows("new", [(1,)], ("event_id",), ("bigint",), ()))
    store.delete([keys[1], "new", "never there"])
    assert list(store.data_files) == [keys[0], *keys[2:]]
    assert keys[1] not in store.data_files
    store.write_rows(file.written, 5.0)
    assert list(store.data_files) == [keys[0], *keys[2:], keys[1]]
    assert len(store.data_files) == 5
    assert [entry.key for entry in store.list_tree("part-").entries] == sorted(keys)


def test_many_ids_at_once_are_those_that_come_one_by_one() -> None:
    one_by_one, at_once = DrawnIds(RandomSource(7), 3), DrawnIds(RandomSource(7), 3)
    assert at_once() == one_by_one()
    numbers = at_once.numbers(100).tolist()
    texts = [id_text(upper << 64 | lower) for upper, lower in numbers]
    assert texts == [one_by_one() for _ in range(100)]
    assert at_once() == one_by_one()


def large(rows: int) -> Scenario:
    table = {**TABLE, "initial": {"rows": rows, "rows_per_file": 1000}}
    writers = {"loader": INSERT, "merger": MERGE}
    return scenario_of(
        {"name": "large", "duration": "5 min", "store": "s3", "table": table, "writers": writers}
    )


def test_of_ten_million_rows_only_the_files_that_a_writer_touches_are_made() -> None:
    world = SimulatedWorld.of(large(10_000_000), RandomStreams(1, 0))
    files = world.tables[0].shared.data_files
    assert len(world.store.data_files) == 10_002
    assert len(files) == 0
    world.start()
    world.kernel.run_until(300_000.0)
    assert world.recorder.attempted > 20
    assert 0 < len(files) < 500
