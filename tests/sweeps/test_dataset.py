"""The recordings of a sweep as one dataset: what goes in comes out, wherever it lies."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import whitecap
from tests.sweeps.sweep_scenario import kept_in, rows_of, write_scenario
from whitecap.engine.errors import InvalidInput
from whitecap.engine.recorded import RunName
from whitecap.sim.machine.code_version import code_version
from whitecap.sim.recording.dataset import rows as dataset_rows
from whitecap.sim.recording.dataset.hadoop import HadoopPlace
from whitecap.sim.recording.dataset.layout import FILE, OWN, batch_folder, batch_number
from whitecap.sim.recording.dataset.local import LocalPlace
from whitecap.sim.recording.dataset.place import (
    finished_runs,
    is_uri,
    local_path,
    recorded_run,
    whole_batches,
)
from whitecap.sim.recording.dataset.rows import by_run, in_order, rows_sha256
from whitecap.sim.sweeps.batches import BATCH_S, GROWTH, TASKS_PER_SLOT, dealt, next_batch
from whitecap.sim.sweeps.experiment import load_experiment
from whitecap.sim.sweeps.planned import PlannedRun, make_runs
from whitecap.sim.sweeps.sweep_job import run_sweep
from whitecap.sweep_engine import spark_session, sweep_engine


def test_no_column_has_two_types_since_all_tables_share_their_files() -> None:
    kinds: dict[str, set[pa.DataType]] = {}
    for schema in OWN.values():
        for column in schema:
            kinds.setdefault(column.name, set()).add(column.type)
    assert not {name for name, types in kinds.items() if len(types) > 1}


VALUES = st.fixed_dictionaries(
    {
        "number": st.lists(st.none() | st.integers(0, 3), min_size=6, max_size=6),
        "text": st.lists(st.none() | st.sampled_from(["", "a", "ab", "b"]), min_size=6, max_size=6),
        "flag": st.lists(st.none() | st.booleans(), min_size=6, max_size=6),
    }
)
TYPES = pa.schema([("number", pa.int64()), ("text", pa.string()), ("flag", pa.bool_())])


RUN_NAMES = st.tuples(
    st.sampled_from(["date__Serializable", "none__Serializable"]), st.integers(0, 99)
)


@given(st.dictionaries(RUN_NAMES, st.integers(1, 3)))
@example({("date__Serializable", number): 1 for number in range(60)})
def test_every_run_gets_its_own_rows_however_many_there_are(counts: dict[RunName, int]) -> None:
    names = [name for name, count in counts.items() for _ in range(count)]
    cells, replications = [cell for cell, _ in names], [number for _, number in names]
    texts = [f"{cell}{number}" for cell, number in names]
    row = list(range(len(names)))
    rows = pa.table({"cell": cells, "replication": replications, "row": row, "of": texts})
    read = {name: own["of"].to_pylist() for name, own in by_run(in_order(rows)).items()}
    assert read == {(cell, n): [f"{cell}{n}"] * count for (cell, n), count in counts.items()}


@given(VALUES, VALUES)
def test_the_hash_of_rows_is_that_of_their_values(
    values: dict[str, list[object]], others: dict[str, list[object]]
) -> None:
    table, other = pa.table(values, TYPES), pa.table(others, TYPES)
    in_chunks = pa.concat_tables([table.slice(0, 2), table.slice(2)])
    longer = pa.concat_tables([other, table]).combine_chunks()
    assert rows_sha256(in_chunks) == rows_sha256(table) == rows_sha256(longer.slice(6))
    assert (rows_sha256(table) == rows_sha256(other)) == (values == others)


@pytest.mark.parametrize(
    ("where", "elsewhere"),
    [
        ("out/events", False), ("s3a://bucket/sweep", True), ("hdfs://host:9000/sweep", True),
        ("abfss://container@account/sweep", True), ("file:///tmp/sweep", False), ("a:b", False),
    ],
)  # fmt: skip
def test_a_place_is_a_path_unless_it_is_a_uri_of_another_file_system(
    where: str, elsewhere: bool
) -> None:
    assert is_uri(where) == elsewhere


def test_a_file_uri_is_a_path() -> None:
    assert local_path("file:///some/sweep%201") == Path("/some/sweep 1")


def test_what_only_spark_reaches_is_refused_by_processes() -> None:
    with pytest.raises(InvalidInput, match=r"s3a://bucket/sweep: is reached through Spark only"):
        sweep_engine("processes")().place("s3a://bucket/sweep")


def test_folders_of_batches_are_known_by_their_names() -> None:
    assert batch_number(batch_folder(7, "ab12")) == 7
    assert batch_number("batch=7") is None
    assert batch_number("_temporary") is None


def planned(cells: dict[str, int]) -> list[PlannedRun]:
    """So many runs of these cells."""
    names = [(cell, number) for cell, count in cells.items() for number in range(count)]
    return [PlannedRun(cell, {}, number, 1, "", "", "") for cell, number in names]


def test_a_batch_takes_about_half_a_minute_once_it_is_known_how_long_runs_take() -> None:
    pending, slots = planned({"a": 1000}), 2
    first = next_batch(pending, {}, slots, None)
    assert len(first) == TASKS_PER_SLOT * slots
    assert len(next_batch(pending, {"a": [0.01]}, slots, 8)) == GROWTH * 8
    assert len(next_batch(pending, {"a": [0.5]}, slots, 500)) == BATCH_S * slots / 0.5
    assert len(next_batch(pending, {"a": [90.0]}, slots, 8)) == TASKS_PER_SLOT * slots
    assert len(next_batch(pending[:150], {"a": [0.5]}, slots, 500)) == 150, "no small rest"


def test_long_runs_are_dealt_first_and_no_run_is_left_out() -> None:
    runs = planned({"short": 10, "long": 3, "unknown": 1})
    tasks = dealt(runs, {"short": [1.0, 3.0], "long": [9.0]}, slots=1)
    assert len(tasks) == TASKS_PER_SLOT
    assert sorted(run.name for task in tasks for run in task) == sorted(run.name for run in runs)
    assert [task[0].cell for task in tasks] == ["unknown", "long", "long", "long"]
    assert max(map(len, tasks)) - min(map(len, tasks)) <= 1


def tables_written(place: LocalPlace, runs: list[PlannedRun]) -> dict[str, pq.ParquetFile]:
    """The file of each table that one part with these runs has."""
    place.add("batch", 0, make_runs(runs))
    return {
        file.parent.name: pq.ParquetFile(file) for file in place.path.rglob("part-00000.parquet")
    }


def test_short_runs_share_a_row_group_and_lose_no_row_by_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = list(load_experiment(write_scenario(tmp_path)).runs(code_version()))
    together = tables_written(LocalPlace(tmp_path / "together"), runs)
    monkeypatch.setattr(dataset_rows, "ROWS_OF_A_GROUP", 1)
    apart = tables_written(LocalPlace(tmp_path / "apart"), runs)
    assert {file.num_row_groups for file in together.values()} == {1}
    assert {file.num_row_groups for file in apart.values()} == {len(runs)}
    for table, file in together.items():
        compared = [name for name in FILE.names if name != "seconds"]
        assert file.read(compared) == apart[table].read(compared)


@pytest.fixture(scope="module")
def by_hadoop(tmp_path_factory: pytest.TempPathFactory) -> HadoopPlace:
    """A place of this machine, reached as any other that Hadoop knows; a sweep lies there."""
    folder = tmp_path_factory.mktemp("hadoop")
    experiment = load_experiment(write_scenario(folder), only={"isolation": []})
    session = spark_session("local[2]")
    place = HadoopPlace(session, LocalPlace(folder / "a [1] sweep 100% {ü}").uri)
    assert not place.exists()
    run_sweep(experiment, place, sweep_engine("spark", "local[2]"))
    return place


def by_path(place: HadoopPlace) -> LocalPlace:
    """The same place without Java."""
    return LocalPlace(Path(place.uri.removeprefix("file://")))


@pytest.mark.spark
def test_what_spark_wrote_to_a_uri_is_what_processes_write(
    by_hadoop: HadoopPlace, tmp_path: Path
) -> None:
    experiment = load_experiment(write_scenario(tmp_path), only={"isolation": []})
    run_sweep(experiment, LocalPlace(tmp_path / "out"), sweep_engine("processes"))
    here = by_path(by_hadoop).path
    assert rows_of(here) == rows_of(tmp_path / "out")
    for name in kept_in(here):
        read = recorded_run(by_hadoop, name)
        assert read.tables == recorded_run(LocalPlace(here), name).tables
        assert read.scenario
    by_spark = whitecap.load_sweep(here, master="local[2]").hashes
    assert by_spark.equals(whitecap.load_sweep(tmp_path / "out", engine="processes").hashes)
    assert finished_runs(by_hadoop).keys() == kept_in(here).keys()
    assert by_hadoop.read("sweep.json") == LocalPlace(here).read("sweep.json")


@pytest.mark.spark
def test_a_batch_behind_a_uri_counts_when_it_is_whole_and_can_be_removed(
    by_hadoop: HadoopPlace,
) -> None:
    here = by_path(by_hadoop)
    under_way = here.path / "recordings" / "batch=00099-abcd" / "table=runs"
    under_way.mkdir(parents=True)
    assert by_hadoop.batches() == here.batches()
    assert whole_batches(by_hadoop) == whole_batches(here) == list(islice(here.batches(), 1))
    by_hadoop.remove("batch=00099-abcd")
    assert not under_way.exists()
    assert by_hadoop.read("no such file") is None
    by_hadoop.write("folder/note", "grün\n")
    assert by_hadoop.read("folder/note") == "grün\n" == here.read("folder/note")


@pytest.mark.spark
def test_a_file_system_that_hadoop_lacks_is_named_with_what_it_said() -> None:
    with pytest.raises(InvalidInput, match=r"nowhere://x/sweep: cannot be used: .*nowhere"):
        whitecap.load_sweep("nowhere://x/sweep", master="local[2]")
