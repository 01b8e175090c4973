"""DELETE and UPDATE whose conditions ask queries: Databricks takes them, Delta refuses them."""

from __future__ import annotations

import pytest

from tests.dialects.races_on_rows import FOUR_ROWS, SERIALIZABLE, World, ending
from whitecap.engine.commands import SharedTable, Table, run_statement
from whitecap.engine.dialects import DATABRICKS_14_3, DELTA_OSS_4_4, Dialect
from whitecap.engine.errors import DeltaError, UnsupportedFeature
from whitecap.engine.outcomes import Committed
from whitecap.engine.sql.parsing.parse import parse_statement
from whitecap.engine.storage.memory import MemoryStore, run

ROWS = "(1, 'a'), (2, 'b'), (3, 'c'), (4, NULL)"


def left_by(condition: str, dialect: Dialect = DATABRICKS_14_3) -> list[int]:
    """The ids that a DELETE leaves; the table `gone` has the ids 1 and 3, and their names."""
    store, shared = MemoryStore(), {"t": SharedTable(), "gone": SharedTable()}
    tables = {name: Table(name, each, dialect=dialect, root=f"{name}/")
              for name, each in shared.items()}  # fmt: skip
    for sql in (
        "CREATE TABLE t (id BIGINT, name STRING)",
        f"INSERT INTO t VALUES {ROWS}",
        "CREATE TABLE gone (id BIGINT, name STRING)",
        "INSERT INTO gone VALUES (1, 'a'), (3, 'z')",
        f"DELETE FROM t WHERE {condition}",
    ):
        outcome = run(run_statement(parse_statement(sql), tables), store)
    assert isinstance(outcome, Committed)
    client = tables["t"]
    snapshot = run(client.at_root(client.latest()), store)
    files = run(
        client.at_root(client.data_files.read(snapshot.all_files(), snapshot.schema)), store
    )
    return sorted(row[0] for file in files for row in file.live_rows())


@pytest.mark.parametrize(
    ("condition", "left"),
    [
        ("id IN (SELECT id FROM gone)", [2, 4]),
        ("id NOT IN (SELECT id FROM gone)", [1, 3]),
        ("name NOT IN (SELECT name FROM gone)", [1, 4]),  # NULL is neither in nor not in
        ("id >= 2 AND id IN (SELECT id FROM gone)", [1, 2, 4]),
        ("EXISTS (SELECT 1 FROM gone g WHERE g.id = t.id AND g.name = t.name)", [2, 3, 4]),
        ("NOT EXISTS (SELECT 1 FROM gone WHERE gone.id = t.id)", [1, 3]),
        ("id > (SELECT max(id) FROM gone)", [1, 2, 3]),
        ("id IN (SELECT id + 1 FROM t WHERE name = 'a')", [1, 3, 4]),
    ],
)
def test_databricks_deletes_the_rows_that_a_query_names(condition: str, left: list[int]) -> None:
    assert left_by(condition) == left


def test_delta_refuses_a_condition_that_asks_a_query() -> None:
    with pytest.raises(DeltaError, match="Subqueries are not supported in the DELETE"):
        left_by("id IN (SELECT id FROM gone)", DELTA_OSS_4_4)


def test_the_forms_that_the_documentation_leaves_out_are_refused() -> None:
    nested = "id IN (SELECT id FROM gone WHERE id > (SELECT 1))"
    with pytest.raises(UnsupportedFeature, match="a subquery inside of another"):
        left_by(nested)
    with pytest.raises(UnsupportedFeature, match=r"NOT IN \(query\) inside of OR"):
        left_by("id = 2 OR id NOT IN (SELECT id FROM gone)")
    assert left_by("id = 2 OR id IN (SELECT id FROM gone)") == [4]


ASKING = [
    "DELETE FROM t WHERE id = 1 AND g IN (SELECT 0)",
    "UPDATE t SET v = 7 WHERE id = 1 AND g IN (SELECT 0)",
    "UPDATE t SET v = 7 WHERE id = 1 AND EXISTS (SELECT 1 WHERE t.g = 0)",
]


@pytest.mark.parametrize("current", ASKING)
@pytest.mark.parametrize("properties", [SERIALIZABLE, {}])
def test_a_query_in_the_condition_leaves_it_to_files(
    current: str, properties: dict[str, str]
) -> None:
    plain = current.partition(" AND ")[0]
    world = World.of(FOUR_ROWS, properties=properties)
    assert ending(world.race(plain, "DELETE FROM t WHERE id = 2")) == "committed"
    world = World.of(FOUR_ROWS, properties=properties)
    end = ending(world.race(current, "DELETE FROM t WHERE id = 2"))
    assert end == "ConcurrentAppend PREDICATES_NEED_REWRITE"


@pytest.mark.parametrize("current", ASKING)
def test_it_changes_the_rows_that_match(current: str) -> None:
    world = World.of(FOUR_ROWS)
    world.run(current)
    (changed,) = set(FOUR_ROWS) - set(world.rows())
    assert changed == (1, 0, 0)


def test_partitions_that_the_rest_of_the_condition_names_still_keep_writers_apart() -> None:
    files = (((1, 0, 0), (2, 0, 0)), ((3, 1, 0), (4, 1, 0)))
    asking = "DELETE FROM t WHERE g = 1 AND id IN (SELECT 3)"
    apart = World.of(*files, partitioned_by="g")
    assert ending(apart.race(asking, "DELETE FROM t WHERE g = 0 AND id = 1")) == "committed"
    same = World.of(*files, partitioned_by="g")
    end = ending(same.race(asking, "DELETE FROM t WHERE g = 1 AND id = 4"))
    assert end == "ConcurrentAppend WITH_PARTITION_HINT"


def test_a_query_about_the_written_table_is_a_read_of_it() -> None:
    asking = "DELETE FROM t WHERE g = 1 AND id IN (SELECT id + 2 FROM t WHERE g = 0)"
    files = (((1, 0, 0), (2, 0, 0)), ((3, 1, 0), (4, 1, 0)))
    world = World.of(*files, partitioned_by="g")
    end = ending(world.race(asking, "DELETE FROM t WHERE g = 0 AND id = 1"))
    assert end == "ConcurrentAppend WITH_PARTITION_HINT"
